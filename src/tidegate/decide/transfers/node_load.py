"""How many transfers a node may move at once, and which node is the best to carry one more."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tidegate.model.transfers.load import LoadConcurrency
from tidegate.model.transfers.node import Node


@dataclass(frozen=True)
class NodePlace:
    """A node as the gates see it."""

    name: str
    ready: bool
    limit: int
    """The settings' number for it, and never more than the machine itself can bear."""
    apart: bool = False
    """Whether backups and restores have that many each. If not, they share them."""

    @classmethod
    def of(cls, node: Node, load: LoadConcurrency) -> "NodePlace":
        """What matters of a stored node."""
        limit = load.limit_for(node.metadata.labels, slots=node.spec.slots)
        return cls(node.name, node.status.ready, limit.number, limit.apart)

    @property
    def total(self) -> int:
        """The most that ever move here at once."""
        return self.limit * 2 if self.apart else self.limit

    @property
    def pools(self) -> tuple[tuple[bool, ...], ...]:
        """Which kinds share a limit: (True,) are the restores, (False,) the backups, (True, False) both."""
        return ((True,), (False,)) if self.apart else ((True, False),)

    def pool(self, *, restore: bool) -> tuple[bool, ...]:
        """Those that share the limit with this kind."""
        return next(pool for pool in self.pools if restore in pool)


def most_room(
    nodes: Iterable[NodePlace], carried: Callable[[NodePlace], int], *, fits: Callable[[str], bool]
) -> NodePlace | None:
    """Of the ready nodes that fit, the one with the most room; of equals, the first by name.

    `carried` counts whatever is on its way on a node, prepared or moving, so a burst spreads. A node without room may
    be named too: what is prepared there waits for it.
    """
    fitting = (node for node in nodes if node.ready and fits(node.name))
    return min(fitting, key=lambda node: (carried(node) - node.limit, node.name), default=None)

"""What is not a transfer but matters to the gates: limits, nodes, targets that are down."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tidegate.decide.stores.target_away import Away, all_away
from tidegate.decide.transfers.node_load import NodePlace
from tidegate.decide.transfers.restore_limit import RestoreLimit
from tidegate.model.setting import Settings
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.node import Node


@dataclass(frozen=True)
class GateSurroundings:
    """One look, taken before a plan is made."""

    restore_limit: RestoreLimit
    prepare_queue_length: int | None
    restore_share: int
    nodes: Mapping[str, NodePlace] = field(default_factory=dict)
    unavailable_targets: Mapping[str, Away] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings, nodes: Iterable[Node], targets: Iterable[BackupTarget] = ()) -> "GateSurroundings":
        """As they are stored. A target that nobody looked at yet is not held against anybody."""
        load = settings.load_concurrency
        return cls(
            restore_limit=RestoreLimit(settings.concurrent_restores, settings.concurrent_restores_per_node),
            prepare_queue_length=load.prepare_queue_length,
            restore_share=load.restore_share,
            nodes={node.name: NodePlace.of(node, load) for node in nodes},
            unavailable_targets=all_away(targets),
        )

    def missing_node(self, name: str | None) -> str:
        """Why nothing can go to this node (None: to any); empty if something can."""
        if name is None:
            return "" if any(node.ready for node in self.nodes.values()) else "no node is ready"
        node = self.nodes.get(name)
        if node is None:
            return f"there is no node {name}" if name else "it names no node"
        return "" if node.ready else f"node {name} is not ready"

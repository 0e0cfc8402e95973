"""How full each gate is while a plan is made: begins with what is stored, goes on with what the plan gives away."""

from collections import Counter
from dataclasses import dataclass

from tidegate.decide.transfers.entry import Load, NewLane, TransferEntry
from tidegate.decide.transfers.gate_surroundings import GateSurroundings
from tidegate.decide.transfers.node_load import NodePlace, most_room
from tidegate.decide.transfers.prepare_queue import PrepareQueue
from tidegate.decide.transfers.view import GateView
from tidegate.model.reasons import Reason
from tidegate.model.resource import Ref
from tidegate.model.transfers.transfer import UPLOADS

_UPLOADS = frozenset(str(kind.model_fields["kind"].default) for kind in UPLOADS)


@dataclass(frozen=True)
class Obstacle:
    """Why one cannot go on."""

    reason: Reason
    message: str


@dataclass
class GateTally:
    """Numbers of one plan. A gate's answer is the first obstacle in its way, or None."""

    around: GateSurroundings
    table: GateView
    backups_preparing: int
    restores_preparing: int
    restoring: int
    restoring_on: Counter[str]
    moving: Counter[Load]
    carried: Counter[Load]
    ahead: int
    """Transfers that are made ready, or will be, ahead of their node's turn."""
    spare: int
    in_line: Counter[str]
    """Restores for which only a place in the prepare queue is missing, on each node."""
    first_in_line: dict[str, int]
    """When the first of them asked."""
    uploading: dict[tuple[str, str], Ref]
    """Volumes that the plan itself lets move, and by which upload."""

    @classmethod
    def of(cls, table: GateView, around: GateSurroundings) -> "GateTally":
        """As it is stored."""
        preparing = table.preparing()
        backups = sum(number for kind, number in preparing.items() if kind in _UPLOADS)
        ready = [node for node in around.nodes.values() if node.ready]
        tally = cls(
            around=around,
            table=table,
            backups_preparing=backups,
            restores_preparing=sum(preparing.values()) - backups,
            restoring=table.restoring,
            restoring_on=Counter(table.restoring_on),
            moving=Counter(table.moving),
            carried=Counter(table.carried),
            ahead=0,
            spare=int(sum(len(node.pools) for node in ready) > 1),
            in_line=Counter(),
            first_in_line={},
            uploading={},
        )
        tally.ahead = tally._count_ahead()
        tally._count_in_line()
        return tally

    @property
    def prepare_queue(self) -> PrepareQueue:
        """How full it is now."""
        return PrepareQueue(
            length=self.around.prepare_queue_length,
            share=self.around.restore_share,
            backups=self.backups_preparing,
            restores=self.restores_preparing,
            ahead=self.ahead,
            spare=self.spare,
        )

    def standing_obstacle(self, lane: NewLane) -> Obstacle | None:
        """What no transfer's end can clear away: a target that is down, a node that is missing, a pause."""
        if gone := self.around.unavailable_targets.get(lane.target):
            return Obstacle(*gone)
        if missing := self.around.missing_node(lane.node):
            return Obstacle(Reason.DEPENDENCY, missing)
        if lane.restore and not lane.has_slot and self.around.restore_limit.paused:
            return Obstacle(*self.around.restore_limit.why(restoring=self.restoring, position=0))
        return None

    def way_for(self, lane: NewLane, *, position: int = 0) -> tuple[str | None, Obstacle | None]:
        """The node that the next one of this lane may be prepared on, or why there is none."""
        standing = self.standing_obstacle(lane)
        if standing is not None:
            return None, standing
        limit = self.around.restore_limit
        if lane.restore and not lane.has_slot and not limit.free(restoring=self.restoring):
            return None, Obstacle(*limit.why(restoring=self.restoring, position=position))
        node = self._node_for(lane)
        if node is None:
            name = lane.node or "every node"
            restoring = self.restoring_on[lane.node] if lane.node else limit.per_node
            return None, Obstacle(*limit.why_on_node(name, restoring=restoring, position=position))
        obstacle = self._queue_obstacle(node, restore=lane.restore)
        return (node.name, None) if obstacle is None else (None, obstacle)

    def node_obstacle(self, load: Load, *, keep: bool = True) -> Obstacle | None:
        """Why nothing more of this kind may move on this node. With `keep`, backups leave restores their share."""
        name, restore = load
        if missing := self.around.missing_node(name):
            return Obstacle(Reason.DEPENDENCY, missing)
        node = self.around.nodes[name]
        moving = self._number(self.moving, node, restore=restore)
        if moving >= node.limit:
            return Obstacle(Reason.NODE_LOAD, f"{name} {moving}/{node.limit}")
        if restore or not keep or moving + self._kept_on(node) < node.limit:
            return None
        return Obstacle(Reason.NODE_LOAD, f"{name} {moving}/{node.limit}, a restore goes first")

    def restore_goes_first(self, name: str) -> bool:
        """Whether the next restore that may move on this node does so before older backups."""
        return self.moving[name, True] < self.around.restore_share

    def restore_is_prepared_first(self, name: str) -> bool:
        """The same for being prepared: restores on their way to a node count."""
        return self.carried[name, True] < self.around.restore_share

    def moves_once_prepared(self, name: str) -> bool:
        """Whether the next restore for this node moves as soon as it is ready, for backups leave it a free slot."""
        if not self.restore_is_prepared_first(name):
            return False
        node = self.around.nodes[name]
        before = self.carried[name, True] - self.moving[name, True]
        return self._number(self.moving, node, restore=True) + before < node.limit

    @property
    def only_places_are_missing(self) -> bool:
        """Whether the prepare queue is full of transfers that are ready, so that nothing new comes without a start."""
        return self.prepare_queue.full and not any(self.table.coming.values())

    def volume_obstacle(self, entry: TransferEntry) -> Obstacle | None:
        """A last guard, whatever let two backups of one volume run: both would write the same volume backups."""
        if entry.restore:
            return None
        other = self.uploading.get(entry.volume) or self.table.uploading(entry.volume)
        if other is None:
            return None
        return Obstacle(Reason.DEPENDENCY, f"{other} is moving the same volume, {'/'.join(entry.volume)}")

    def accept(self, lane: NewLane, name: str) -> None:
        """One of this lane is going to be prepared on this node."""
        node = self.around.nodes[name]
        self.ahead += self._number(self.carried, node, restore=lane.restore) >= node.limit
        self.carried[name, lane.restore] += 1
        if not lane.restore:
            self.backups_preparing += 1
            return
        self.restores_preparing += 1
        self.restoring += not lane.has_slot
        self.restoring_on[name] += 1

    def start(self, entry: TransferEntry) -> None:
        """This one is going to move."""
        self.moving[entry.load] += 1
        if not entry.restore:
            self.uploading[entry.volume] = entry.ref

    def owes_its_slot(self, name: str) -> bool:
        """Whether something has ended on this node since a restore asked that lacks nothing but a place."""
        return name in self.first_in_line and self.table.last_end.get(name, 0) >= self.first_in_line[name]

    def _queue_obstacle(self, node: NodePlace, *, restore: bool) -> Obstacle | None:
        queue = self.prepare_queue
        room = self._number(self.carried, node, restore=restore) < node.limit
        if queue.has_place(restore=restore, node_has_room=room):
            return None
        if queue.full:
            return Obstacle(Reason.PREPARE_QUEUE_FULL, queue.why_full())
        moving = self._number(self.moving, node, restore=restore)
        message = f"{node.name} {moving}/{node.limit}, {queue.why_not_ahead(restore=restore)}"
        return Obstacle(Reason.NODE_LOAD, message)

    def _kept_on(self, node: NodePlace) -> int:
        """Slots of the node that its backups leave to restores that come in a moment."""
        if node.apart:
            return 0
        coming = self.table.coming[node.name, True] + self.in_line[node.name]
        return max(0, min(self.around.restore_share - self.moving[node.name, True], coming))

    def _number(self, counts: Counter[Load], node: NodePlace, *, restore: bool) -> int:
        return sum(counts[node.name, kind] for kind in node.pool(restore=restore))

    def _count_ahead(self) -> int:
        ahead = 0
        for name in {name for name, _ in self.carried}:
            node = self.around.nodes.get(name) or NodePlace(name, ready=False, limit=0)
            limit = node.limit if node.ready else 0  # what waits for a node that is gone keeps its place for long
            for pool in node.pools:
                carried = sum(self.carried[name, kind] for kind in pool)
                moving = sum(self.moving[name, kind] for kind in pool)
                ahead += min(carried - moving, max(0, carried - limit))
        return ahead

    def _count_in_line(self) -> None:
        # Counted apart, because the way of each lane depends on neither.
        for key, lane in self.table.new.items():
            if key.restore and key.node is not None:
                obstacle = self.way_for(key)[1]
                if obstacle is None or obstacle.reason is Reason.PREPARE_QUEUE_FULL:
                    self.in_line[key.node] += len(lane)
                    first = self.first_in_line.get(key.node, lane[0].asked)
                    self.first_in_line[key.node] = min(first, lane[0].asked)

    def _node_for(self, lane: NewLane) -> NodePlace | None:
        def fits(node: str) -> bool:
            return not lane.restore or self.around.restore_limit.free_on_node(restoring=self.restoring_on[node])

        if lane.node is not None:
            return self.around.nodes[lane.node] if fits(lane.node) else None
        return most_room(
            self.around.nodes.values(),
            lambda node: self._number(self.carried, node, restore=lane.restore),
            fits=fits,
        )

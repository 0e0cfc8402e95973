"""How full each gate is while a plan is made: begins with what is stored, goes on with what the plan gives away."""

from collections import Counter
from dataclasses import dataclass

from tidegate.decide.gate_surroundings import GateSurroundings
from tidegate.decide.node_load import most_room
from tidegate.decide.prepare_queue import PrepareQueue
from tidegate.decide.transfer_lane import NewLane
from tidegate.decide.transfer_table import TransferEntry, TransferTable
from tidegate.model.reasons import Reason
from tidegate.model.resource import Ref
from tidegate.model.transfer import UPLOADS

_UPLOADS = frozenset(str(kind.model_fields["kind"].default) for kind in UPLOADS)


@dataclass(frozen=True)
class Obstacle:
    """Why one cannot go on."""

    reason: Reason
    message: str
    may_lift: bool = False
    """Within the same plan, when the last restore in line gets its place."""


@dataclass
class GateTally:
    """Numbers of one plan. A gate's answer is the first obstacle in its way, or None."""

    around: GateSurroundings
    backups_preparing: int
    restores_preparing: int
    restores_in_line: int
    restoring: int
    restoring_on: Counter[str]
    moving: Counter[str]
    carried: Counter[str]
    uploading: dict[tuple[str, str], Ref]
    """Volumes that the plan itself lets move, and by which upload."""
    table: TransferTable

    @classmethod
    def of(cls, table: TransferTable, around: GateSurroundings) -> "GateTally":
        """As it is stored."""
        preparing = table.preparing()
        backups = sum(number for kind, number in preparing.items() if kind in _UPLOADS)
        tally = cls(
            around=around,
            backups_preparing=backups,
            restores_preparing=sum(preparing.values()) - backups,
            restores_in_line=0,
            restoring=table.restoring,
            restoring_on=Counter(table.restoring_on),
            moving=Counter(table.moving),
            carried=Counter(table.carried),
            uploading={},
            table=table,
        )
        in_line = (lane for key, lane in table.new.items() if key.restore and tally.standing_obstacle(key) is None)
        tally.restores_in_line = sum(map(len, in_line))
        return tally

    @property
    def prepare_queue(self) -> PrepareQueue:
        """How full it is now."""
        return PrepareQueue(
            length=self.around.prepare_queue_length,
            share=self.around.restore_share,
            backups=self.backups_preparing,
            restores=self.restores_preparing,
            restores_in_line=self.restores_in_line,
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
        queue = self.prepare_queue
        if not queue.has_place(restore=lane.restore):
            message = queue.why_not(restore=lane.restore)
            return None, Obstacle(Reason.PREPARE_QUEUE_FULL, message, may_lift=not lane.restore and queue.kept > 0)
        return node, None

    def node_obstacle(self, node: str) -> Obstacle | None:
        """Why nothing more may move on this node."""
        if missing := self.around.missing_node(node):
            return Obstacle(Reason.DEPENDENCY, missing)
        limit = self.around.nodes[node].limit
        if self.moving[node] < limit:
            return None
        return Obstacle(Reason.NODE_LOAD, f"{node} {self.moving[node]}/{limit}")

    def volume_obstacle(self, entry: TransferEntry) -> Obstacle | None:
        """A last guard, whatever let two backups of one volume run: both would write the same volume backups."""
        if entry.restore:
            return None
        other = self.uploading.get(entry.volume) or self.table.uploading(entry.volume)
        if other is None:
            return None
        return Obstacle(Reason.DEPENDENCY, f"{other} is moving the same volume, {'/'.join(entry.volume)}")

    def accept(self, lane: NewLane, node: str) -> None:
        """One of this lane is going to be prepared on this node."""
        self.carried[node] += 1
        if not lane.restore:
            self.backups_preparing += 1
            return
        self.restores_preparing += 1
        self.restores_in_line -= 1
        self.restoring += not lane.has_slot
        self.restoring_on[node] += 1

    def start(self, entry: TransferEntry) -> None:
        """This one is going to move."""
        self.moving[entry.node or ""] += 1
        if not entry.restore:
            self.uploading[entry.volume] = entry.ref

    def _node_for(self, lane: NewLane) -> str | None:
        def fits(node: str) -> bool:
            return not lane.restore or self.around.restore_limit.free_on_node(restoring=self.restoring_on[node])

        if lane.node is not None:
            return lane.node if fits(lane.node) else None
        best = most_room(self.around.nodes.values(), lambda node: self.carried[node], fits=fits)
        return None if best is None else best.name

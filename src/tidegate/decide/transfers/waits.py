"""Why each transfer waits, in words, and whose words are out of date."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidegate.decide.transfers.entry import Place, TransferEntry
from tidegate.decide.transfers.gate_surroundings import GateSurroundings
from tidegate.decide.transfers.gate_tally import GateTally, Obstacle
from tidegate.decide.transfers.view import GateView, LaneView
from tidegate.model.reasons import Reason
from tidegate.model.transfers.transfer import TransferPhase

_BEFORE_A_GATE = frozenset({TransferPhase.NEW, TransferPhase.PREPARED})


@dataclass(frozen=True)
class Held:
    """A transfer that a gate stops, and why."""

    entry: TransferEntry
    reason: Reason
    message: str

    @property
    def is_told(self) -> bool:
        """Whether exactly this is written down."""
        return self.entry.why == (self.reason, self.message)


class TransferWaits:
    """Answers for one state of the table. Each costs the same however many wait."""

    def __init__(self, table: GateView, around: GateSurroundings) -> None:
        self._table = table
        self._tally = GateTally.of(table, around)

    def why(self, entry: TransferEntry) -> Held | None:
        """What stops it; None if it waits for no gate, or nothing stops it and the next plan lets it go on.

        An entry that is older than what the table knows is stopped by nothing either: it went on meanwhile, and would
        be told to wait for itself.
        """
        known = self._table.entry(entry.ref)
        if entry.leaving or entry.phase not in _BEFORE_A_GATE or (known and known.phase is not entry.phase):
            return None
        if entry.asleep:
            return Held(entry, Reason.WAITING_FOR_LOCK, entry.why[1])
        if entry.phase is TransferPhase.NEW:
            obstacle = self._tally.way_for(entry.lane, position=self._position(entry))[1]
        else:
            obstacle = self._tally.volume_obstacle(entry) or self._tally.node_obstacle(entry.load)
        return None if obstacle is None else Held(entry, obstacle.reason, obstacle.message)

    def untold(self) -> Iterator[Held]:
        """Those that wait and were never told why."""
        return (held for _, lane in self._lanes() for held in self._held(lane.told("")))

    def told_wrong(self) -> Iterator[Held]:
        """Those that were told another reason than the one that holds now."""
        for obstacle, lane in self._lanes():
            reason = obstacle.reason if obstacle else ""
            for held in self._held(lane.told_otherwise(reason)):
                if held.reason != held.entry.why[0]:
                    yield held

    def not_told_exactly(self) -> Iterator[Held]:
        """Those whose reason or message is not the one that is written down. Looks at each one that waits."""
        return (held for _, lane in self._lanes() for held in self._held(lane) if not held.is_told)

    def reasons(self) -> Counter[Reason]:
        """How many wait for what, now. One whose volume is being moved counts with its node's lane."""
        found: Counter[Reason] = Counter({Reason.WAITING_FOR_LOCK: self._table.asleep})
        for obstacle, lane in self._lanes():
            found[obstacle.reason if obstacle else Reason.PENDING_EVALUATION] += len(lane)
        return found

    def _lanes(self) -> Iterator[tuple[Obstacle | None, LaneView]]:
        for key, lane in self._table.new.items():
            yield self._tally.way_for(key)[1], lane
        for load, lane in self._table.prepared.items():
            yield self._tally.node_obstacle(load), lane

    def _held(self, places: Iterable[Place]) -> Iterator[Held]:
        for place in places:
            entry = self._table.entry(place.ref)
            held = None if entry is None else self.why(entry)
            if held is not None:
                yield held

    def _position(self, entry: TransferEntry) -> int:
        """Its place among the restores that wait for a slot, from 1; who waits for something else does not count."""
        if not entry.restore or entry.has_slot:
            return 0
        lanes = (
            lane
            for key, lane in self._table.new.items()
            if key.restore and not key.has_slot and self._tally.standing_obstacle(key) is None
        )
        return 1 + sum(lane.ahead_of(entry.place) for lane in lanes)

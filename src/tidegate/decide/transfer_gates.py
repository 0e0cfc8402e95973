"""Which transfers may go through their gates now: restore limit, prepare queue, node load, one upload per volume.

A plan is for all transfers, oldest request first, so check and take are one step and a burst can never exceed a limit
(longhorn#4558). Planned lane by lane: what it costs depends on how many go on, not on how many wait.
"""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from tidegate.decide.gate_surroundings import GateSurroundings
from tidegate.decide.gate_tally import GateTally
from tidegate.decide.transfer_lane import Lane, NewLane, Place
from tidegate.decide.transfer_table import TransferEntry, TransferTable


@dataclass(frozen=True)
class Accepted:
    """A transfer that may be prepared, and where."""

    entry: TransferEntry
    node: str


def plan_starts(table: TransferTable, around: GateSurroundings) -> list[TransferEntry]:
    """Who goes from Prepared to InProgress now."""
    tally = GateTally.of(table, around)
    return [entry for node, lane in sorted(table.prepared.items()) for entry in _starting(table, tally, node, lane)]


def plan_accepts(table: TransferTable, around: GateSurroundings) -> list[Accepted]:
    """Who goes from New to Accepted now, and where.

    Planned after the starts are written, not with them: a start that fails leaves no place behind.
    """
    return _accepting(table, GateTally.of(table, around))


def _starting(table: TransferTable, tally: GateTally, node: str, lane: Lane) -> list[TransferEntry]:
    """From the head, until the node is full. One whose volume is being moved is passed over, the next may go."""
    found = []
    for place in lane:
        if tally.node_obstacle(node) is not None:
            break
        entry = _known(table, place)
        if tally.volume_obstacle(entry) is None:
            tally.start(entry)
            found.append(entry)
    return found


def _accepting(table: TransferTable, tally: GateTally) -> list[Accepted]:
    """The oldest of all lanes that are open, again and again.

    A lane that was closed stays so, but for one thing: when the last restore in line has got its place, none is kept
    for restores any more, and backups may have another look.
    """
    found: list[Accepted] = []
    heads = [(lane[0], 0, key) for key, lane in table.new.items()]
    heapify(heads)
    set_aside: list[tuple[Place, int, NewLane]] = []
    while heads:
        place, index, key = heappop(heads)
        node, obstacle = tally.way_for(key)
        if node is None:
            if obstacle is not None and obstacle.may_lift:
                set_aside.append((place, index, key))
            continue
        found.append(Accepted(_known(table, place), node))
        tally.accept(key, node)
        lane = table.new[key]
        if index + 1 < len(lane):
            heappush(heads, (lane[index + 1], index + 1, key))
        if set_aside and not tally.restores_in_line:
            heads += set_aside
            heapify(heads)
            set_aside = []
    return found


def _known(table: TransferTable, place: Place) -> TransferEntry:
    entry = table.entry(place.ref)
    assert entry is not None  # noqa: S101  # lanes hold nothing else
    return entry

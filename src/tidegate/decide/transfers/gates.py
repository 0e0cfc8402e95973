"""Which transfers may go through their gates now: restore limit, prepare queue, node load, one upload per volume.

A plan is for all transfers, so check and take are one step and a burst can never exceed a limit (longhorn#4558). The
oldest request goes first, and on each node `restoreShare` restores before that. Planned lane by lane: what it costs
depends on how many go on, not on how many wait.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from tidegate.decide.transfers.entry import NewLane, Place, TransferEntry
from tidegate.decide.transfers.gate_surroundings import GateSurroundings
from tidegate.decide.transfers.gate_tally import GateTally
from tidegate.decide.transfers.view import GateView


@dataclass(frozen=True)
class Accepted:
    """A transfer that may be prepared, and where."""

    entry: TransferEntry
    node: str


def plan_starts(table: GateView, around: GateSurroundings) -> list[TransferEntry]:
    """Who goes from Prepared to InProgress now."""
    tally = GateTally.of(table, around)
    nodes = sorted({node for node, _ in table.prepared})
    found = [entry for node in nodes for entry in _starting(table, tally, node)]
    if not found and tally.only_places_are_missing:
        # Slots are kept for restores without a place, and no place comes before a backup moves: one goes, where
        # nothing has ended since the restore asked. There is such a node, because one place is left by all who wait
        # for full nodes.
        found = [entry for node in nodes for entry in _starting(table, tally, node, keep=False)]
        found = sorted(found, key=lambda entry: (tally.owes_its_slot(entry.node or ""), entry.place))[:1]
    return found


def plan_accepts(table: GateView, around: GateSurroundings) -> list[Accepted]:
    """Who goes from New to Accepted now, and where.

    Planned after the starts are written, not with them: a start that fails leaves no place behind. When a plan has been
    written, both are planned again, until neither finds anything.
    """
    tally, taken = GateTally.of(table, around), Counter[NewLane]()
    restores = [key for key in table.new if key.restore]
    first = _accepting(table, tally, restores, taken, among=tally.moves_once_prepared)
    first += _accepting(table, tally, restores, taken, among=tally.restore_is_prepared_first)
    return first + _accepting(table, tally, table.new, taken)


def _starting(table: GateView, tally: GateTally, node: str, *, keep: bool = True) -> list[TransferEntry]:
    """Until the node is full. One whose volume is being moved is passed over, the next may go."""
    found: list[TransferEntry] = []
    restores, backups = (iter(table.prepared.get((node, restore), ())) for restore in (True, False))
    restore, backup = next(restores, None), next(backups, None)
    while restore or backup:
        if restore and (backup is None or restore < backup or tally.restore_goes_first(node)):
            place, restore = restore, next(restores, None)
        else:
            assert backup is not None  # noqa: S101  # one of them is there
            place, backup = backup, next(backups, None)
        entry = _known(table, place)
        if tally.node_obstacle(entry.load, keep=keep) is not None:
            restore, backup = (None, backup) if entry.restore else (restore, None)
        elif tally.volume_obstacle(entry) is None:
            tally.start(entry)
            found.append(entry)
    return found


def _accepting(
    table: GateView,
    tally: GateTally,
    lanes: Iterable[NewLane],
    taken: Counter[NewLane],
    *,
    among: Callable[[str], bool] = lambda _node: True,
) -> list[Accepted]:
    """The oldest of these lanes that are open to a node `among` those allowed, again and again."""
    found: list[Accepted] = []
    heads = [(table.new[key][taken[key]], key) for key in lanes if taken[key] < len(table.new[key])]
    heapify(heads)
    while heads:
        place, key = heappop(heads)
        node, _obstacle = tally.way_for(key)
        if node is None or not among(node):
            continue
        found.append(Accepted(_known(table, place), node))
        tally.accept(key, node)
        taken[key] += 1
        if taken[key] < len(table.new[key]):
            heappush(heads, (table.new[key][taken[key]], key))
    return found


def _known(table: GateView, place: Place) -> TransferEntry:
    entry = table.entry(place.ref)
    assert entry is not None  # noqa: S101  # lanes hold nothing else
    return entry

"""The transfers that are not over, kept up to date change by change: what the gates are planned from.

It holds nothing that the stored resources do not say, and is the same whether it was told of every change or of the
last state only. Nothing that a plan asks for costs more when more transfers wait.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from tidegate.decide.transfers.entry import Load, NewLane, TransferEntry
from tidegate.decide.transfers.prepare_count import KINDS, PREPARING
from tidegate.decide.transfers.restore_limit import asked_label, is_asked
from tidegate.model.resource import Ref
from tidegate.model.transfers.transfer import Transfer, TransferPhase
from tidegate.state.lane import Lane
from tidegate.state.prepare_count import PrepareCount


class TransferTable:
    """One entry for each transfer that is not over, or is over and still labelled."""

    def __init__(self) -> None:
        self._entries: dict[Ref, TransferEntry] = {}
        self.new: dict[NewLane, Lane] = defaultdict(Lane)
        """Those that wait for a place in the prepare queue, or for a slot before that."""
        self.prepared: dict[Load, Lane] = defaultdict(Lane)
        """Those that wait for their node."""
        self.moving: Counter[Load] = Counter()
        """Transfers that take one of their node's slots. Those that were resumed count like any other."""
        self.carried: Counter[Load] = Counter()
        """Transfers that are being prepared, are prepared or move."""
        self.coming: Counter[Load] = Counter()
        """Transfers that are being prepared and shall move."""
        self.asleep = 0
        """Transfers that wait for a lock in their store."""
        self.restoring = 0
        """Restores that hold a slot; one that is over does until its label is gone."""
        self.restoring_on: Counter[str] = Counter()
        self.last_end: dict[str, int] = {}
        """When a transfer last ended on a node, as places in line are counted."""
        self.prepare_count = PrepareCount()
        self._under_way: dict[str, dict[Ref, TransferEntry]] = {kind: {} for kind in KINDS}
        self._uploading: dict[tuple[str, str], dict[Ref, None]] = {}
        self._labelled_ends: dict[Ref, TransferEntry] = {}
        self._unlabelled: dict[Ref, TransferEntry] = {}

    def note(self, transfer: Transfer) -> bool:
        """The transfer is now like this. Whether that makes any difference."""
        entry = TransferEntry.of(transfer)
        if entry.phase.final:
            self._note_end(transfer)
        if entry.phase.final and not entry.label:
            return self.forget(transfer.ref)
        before = self._entries.get(entry.ref)
        if before == entry:
            return False
        if before is not None:
            self._remove(before)
        self._add(entry)
        self.prepare_count.note(entry.place.kind, before.phase if before else None, entry.phase)
        return True

    def forget(self, ref: Ref) -> bool:
        """The transfer is over or gone. Whether it was known."""
        entry = self._entries.get(ref)
        if entry is None:
            return False
        self._remove(entry)
        self.prepare_count.note(ref.kind, entry.phase, None)
        return True

    def replace_all(self, kind: str, transfers: Iterable[Transfer]) -> None:
        """These are all that exist of a kind."""
        gone = {ref for ref in self._entries if ref.kind == kind}
        for transfer in transfers:
            gone.discard(transfer.ref)
            self.note(transfer)
        for ref in gone:
            self.forget(ref)

    def entry(self, ref: Ref) -> TransferEntry | None:
        """One that is not over."""
        return self._entries.get(ref)

    def entries(self) -> Iterable[TransferEntry]:
        """All that are known: those that are not over, and those whose label is still to be taken."""
        return self._entries.values()

    def preparing(self) -> Mapping[str, int]:
        """How many are Accepted or Prepared, by kind."""
        return self.prepare_count.by_kind(
            lambda kind: sum(entry.phase in PREPARING for entry in self._under_way[kind].values())
        )

    def uploading(self, volume: tuple[str, str]) -> Ref | None:
        """The upload that moves this volume now."""
        return next(iter(self._uploading.get(volume, ())), None)

    def uploads(self) -> list[Ref]:
        """Those that move bytes into a store now: as many as nodes have slots for."""
        return [ref for refs in self._uploading.values() for ref in refs]

    def labelled_ends(self) -> list[TransferEntry]:
        """Downloads that are over and still labelled."""
        return list(self._labelled_ends.values())

    def unlabelled(self) -> Iterable[TransferEntry]:
        """Downloads that wait and whose label does not say since when."""
        return self._unlabelled.values()

    def waiting_count(self) -> int:
        """How many wait for a gate."""
        return sum(map(len, self.new.values())) + sum(map(len, self.prepared.values()))

    def _note_end(self, transfer: Transfer) -> None:
        node, ended = transfer.status.node, transfer.status.completion_timestamp
        if node and ended:
            self.last_end[node] = max(self.last_end.get(node, 0), int(asked_label(ended, 0)))

    def _add(self, entry: TransferEntry) -> None:
        self._entries[entry.ref] = entry
        self._count(entry, 1)
        if entry.phase.final:
            self._labelled_ends[entry.ref] = entry
            return
        if entry.under_way:
            self._under_way[entry.place.kind][entry.ref] = entry
        if _is_uploading(entry):
            self._uploading.setdefault(entry.volume, {})[entry.ref] = None
        if entry.leaving or entry.asleep:
            return
        if entry.phase is TransferPhase.NEW:
            self.new[entry.lane].add(entry.place, entry.why[0])
            if entry.restore and not entry.has_slot and not is_asked(entry.label):
                self._unlabelled[entry.ref] = entry
        elif entry.phase is TransferPhase.PREPARED:
            self.prepared[entry.load].add(entry.place, entry.why[0])

    def _remove(self, entry: TransferEntry) -> None:
        del self._entries[entry.ref]
        self._count(entry, -1)
        if self._labelled_ends.pop(entry.ref, None) is not None:
            return
        self._under_way[entry.place.kind].pop(entry.ref, None)
        self._unlabelled.pop(entry.ref, None)
        if _is_uploading(entry):
            del self._uploading[entry.volume][entry.ref]
            if not self._uploading[entry.volume]:
                del self._uploading[entry.volume]
        if entry.leaving or entry.asleep:
            return
        if entry.phase is TransferPhase.NEW:
            _leave(self.new, entry.lane, entry)
        elif entry.phase is TransferPhase.PREPARED:
            _leave(self.prepared, entry.load, entry)

    def _count(self, entry: TransferEntry, by: int) -> None:
        if entry.phase.moving:
            self.moving[entry.load] += by
        if entry.under_way:
            self.carried[entry.load] += by
        if entry.phase is TransferPhase.ACCEPTED and not entry.leaving:
            self.coming[entry.load] += by
        self.asleep += by * (entry.asleep and not entry.leaving)
        if entry.has_slot:
            self.restoring += by
            if entry.under_way:
                self.restoring_on[entry.node or ""] += by


def _is_uploading(entry: TransferEntry) -> bool:
    return entry.phase.moving and not entry.restore


def _leave(lanes: dict, key: object, entry: TransferEntry) -> None:  # type: ignore[type-arg]  # either table of lanes
    lane = lanes[key]
    lane.remove(entry.place, entry.why[0])
    if not lane:
        del lanes[key]

"""The backups that run or wait, kept up to date change by change: what the queue is planned from.

It holds nothing that the stored resources do not say, and is the same whether it was told of every change or of the
last state only. A queue of a hundred thousand is planned without reading them all again.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime

from tidegate.decide.queue.entry import Key, QueueEntry, Wanted
from tidegate.decide.queue.order import next_ticket, place_in_queue
from tidegate.decide.queue.overlap import Scope, is_glob, resolve_scope, selects, universe_of
from tidegate.decide.queue.plan import Contender, QueueSnapshot
from tidegate.decide.queue.row import Row
from tidegate.decide.queue.surroundings import Surroundings
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.state.queue_index import ScopeIndex

_BEFORE_ITS_SLOT = frozenset({BackupPhase.NEW, BackupPhase.QUEUED})


class QueueTable:
    """One entry for each backup that holds a slot, and for each that is New or Queued and not being deleted."""

    def __init__(self) -> None:
        self._entries: dict[str, QueueEntry] = {}
        self._order: list[Key] = []
        self._wishes = ScopeIndex()
        self.reasons: Counter[str] = Counter()
        """How many wait for what, as far as anyone was told."""
        self.moves = 0
        """How often somebody's place may have changed."""
        self._running: dict[str, QueueEntry] = {}
        self._new: dict[str, QueueEntry] = {}
        self._cancelled: dict[str, QueueEntry] = {}
        self._moved: dict[str, QueueEntry] = {}
        self._wanted: Counter[Wanted] = Counter()
        self._highest_ticket = 0
        self._head_start_seconds = 0
        self._scopes = _Scopes()

    def __len__(self) -> int:
        """Backups that are New, wait or run."""
        return len(self._entries)

    def copy(self) -> "QueueTable":
        """Another one like it, to try something out on."""
        twin = QueueTable()
        vars(twin).update({name: copy(value) for name, value in vars(self).items()})
        twin._scopes, twin._wishes = self._scopes.copy(), self._wishes.copy()
        return twin

    def note(self, backup: Backup) -> None:
        """The backup is now like this."""
        self._highest_ticket = max(self._highest_ticket, backup.ticket or 0)
        waits = backup.status.phase in _BEFORE_ITS_SLOT and not backup.deleting
        entry = QueueEntry.of(backup) if waits or backup.holds_slot else None
        if self._entries.get(backup.name) != entry:
            self.forget(backup.name)
            if entry is not None:
                self._add(entry)

    def queue(self, entry: QueueEntry, ticket: int) -> None:
        """As if this one had joined the queue with this ticket."""
        self.forget(entry.name)
        self._add(replace(entry, phase=BackupPhase.QUEUED, ticket=ticket))

    def forget(self, name: str) -> None:
        """The backup is over or gone."""
        entry = self._entries.pop(name, None)
        if entry is None:
            return
        self._running.pop(name, None)
        self._new.pop(name, None)
        self._moved.pop(name, None)
        if self._cancelled.pop(name, None) is None and entry.phase is BackupPhase.QUEUED:
            place = self._key(entry)
            del self._order[bisect_left(self._order, place)]
            self.moves += 1
            self._wishes.remove(entry.wanted, place)
            self.reasons[entry.why[0]] -= 1
        self._wanted[entry.wanted] -= 1
        if not self._wanted[entry.wanted]:
            del self._wanted[entry.wanted]
            self._scopes.forget(entry.wanted)

    def replace_all(self, backups: Iterable[Backup]) -> None:
        """These are all that exist."""
        gone = set(self._entries)
        for backup in backups:
            gone.discard(backup.name)
            self.note(backup)
        for name in gone:
            self.forget(name)

    def new(self) -> list[QueueEntry]:
        """Those that have no ticket yet, in the order in which they were asked for."""
        return sorted(self._new.values(), key=lambda entry: (entry.created is None, entry.created, entry.name))

    def running(self) -> list[str]:
        """Names of those that have a slot."""
        return sorted(self._running)

    def cancelled(self) -> list[QueueEntry]:
        """Those that were called off before they had a slot."""
        return sorted((e for e in self._cancelled.values()), key=lambda entry: entry.name)

    def moved(self) -> list[QueueEntry]:
        """Those that wait at a place that a move gave them, and of which the status does not say so yet."""
        return sorted(self._moved.values(), key=lambda entry: entry.name)

    def tickets(self, now: datetime) -> dict[str, int]:
        """A ticket for each new backup, behind all that were ever given."""
        highest, given = self._highest_ticket, {}
        for entry in self.new():
            highest = given[entry.name] = next_ticket(now, highest=highest)
        return given

    def entry(self, name: str) -> QueueEntry | None:
        """One that is New, waits or runs."""
        return self._entries.get(name)

    def entries(self, names: Iterable[str]) -> list[QueueEntry]:
        """These, as they are now."""
        return [self._entries[name] for name in names]

    def queued(self) -> Sequence[QueueEntry]:
        """In the order of the queue."""
        return Row(self._order, self._entries.__getitem__)

    def position(self, name: str) -> int | None:
        """1..n without holes for who waits, None for who does not."""
        place = self.place(name)
        return None if place is None else self.ahead(place) + 1

    def place(self, name: str) -> Key | None:
        """What the queue orders it by; None for who does not wait."""
        entry = self._entries.get(name)
        waits = entry is not None and entry.phase is BackupPhase.QUEUED and not entry.cancel
        return self._key(entry) if entry is not None and waits else None

    def places(self) -> Sequence[Key]:
        """Of all that wait, in their order."""
        return self._order

    def places_of_new(self, now: datetime) -> dict[str, Key]:
        """Where those that have no ticket yet will stand."""
        tickets = self.tickets(now)
        return {name: self._key(replace(self._new[name], ticket=ticket)) for name, ticket in tickets.items()}

    def ahead(self, place: Key) -> int:
        """How many wait before this place, whether or not somebody stands there."""
        return bisect_left(self._order, place)

    def first_in_the_way_of(self, scope: Scope, before: Key) -> Key | None:
        """Who waits ahead of this place and shares something with the scope. Good until the next change."""
        return self._wishes.first_in_the_way_of(scope, before, self._scopes.of)

    def scope(self, entry: QueueEntry) -> Scope:
        """What it touches, in the surroundings of the last snapshot."""
        return self._scopes.of(entry.wanted)

    def contender(self, name: str) -> Contender:
        """The same, as a plan wants it."""
        entry = self._entries[name]
        return Contender(name, self._scopes.of(entry.wanted), entry.target, entry.deleting, entry.wanted.included)

    def snapshot(self, around: "Surroundings") -> QueueSnapshot:
        """What a plan is made from. Good until the next change."""
        if around.head_start_seconds != self._head_start_seconds:
            self._head_start_seconds = around.head_start_seconds
            self._order = sorted(self._key(self._entries[name]) for _, _, name in self._order)
            self.moves += 1
            self._wishes = ScopeIndex()
            for place in self._order:
                self._wishes.add(self._entries[place[2]].wanted, place)
        self._scopes.resolve_against(around)
        return QueueSnapshot(
            running=[self.contender(name) for name in sorted(self._running)],
            waiting=Row(self._order, self.contender),
            unavailable_targets=around.unavailable_targets,
            paused=around.paused,
            restores=around.restores,
        )

    def _add(self, entry: QueueEntry) -> None:
        self._entries[entry.name] = entry
        if entry.wanted not in self._wanted:
            self._scopes.note(entry.wanted)
        self._wanted[entry.wanted] += 1
        if entry.cancel and entry.phase in _BEFORE_ITS_SLOT:
            self._cancelled[entry.name] = entry  # it takes no place and claims nothing any more
        elif entry.phase is BackupPhase.QUEUED:
            insort(self._order, self._key(entry))
            self.moves += 1
            self._wishes.add(entry.wanted, self._key(entry))
            self.reasons[entry.why[0]] += 1
            if entry.moved:
                self._moved[entry.name] = entry
        elif entry.phase is BackupPhase.NEW:
            self._new[entry.name] = entry
        else:
            self._running[entry.name] = entry

    def _key(self, entry: QueueEntry) -> Key:
        place = place_in_queue(entry.ticket, entry.priority, head_start_seconds=self._head_start_seconds)
        return place, entry.ticket, entry.name


class _Scopes:
    """What each wish means now; resolved once for all backups that have it."""

    def __init__(self) -> None:
        self._around = Surroundings()
        self._known: dict[Wanted, Scope] = {}
        # What globs mean depends on every pattern that is spelt out, and changes only when one comes or goes.
        self._patterns: Counter[str] = Counter()
        self._stale = True
        self._universe: frozenset[str] = frozenset()

    def copy(self) -> "_Scopes":
        """Another one like it."""
        twin = _Scopes()
        vars(twin).update({name: copy(value) for name, value in vars(self).items()})
        return twin

    def note(self, wish: Wanted) -> None:
        """Some backup wants this now."""
        for pattern in wish.patterns:
            self._stale |= pattern not in self._patterns
            self._patterns[pattern] += 1

    def forget(self, wish: Wanted) -> None:
        """The last backup that wanted this is gone."""
        self._known.pop(wish, None)
        for pattern in wish.patterns:
            self._patterns[pattern] -= 1
            if not self._patterns[pattern]:
                del self._patterns[pattern]
                self._stale = True

    def resolve_against(self, around: Surroundings) -> None:
        """From here on wishes mean what they mean with this around."""
        before, self._around = self._around, around
        if (around.namespaces, around.volumes) == (before.namespaces, before.volumes) and not self._stale:
            return
        self._stale = False
        by_volume = around.volumes is not None or before.volumes is not None
        self._known = {wish: s for wish, s in self._known.items() if not (by_volume or wish.needs_universe)}
        if any(is_glob(pattern) and pattern != "*" for pattern in self._patterns):
            self._universe = universe_of(around.namespaces, self._patterns)

    def of(self, wish: Wanted) -> Scope:
        """What this wish means."""
        scope = self._known.get(wish)
        if scope is None:
            scope = self._known[wish] = self._resolved(wish)
        return scope

    def _resolved(self, wish: Wanted) -> Scope:
        if self._around.volumes is None:
            return resolve_scope(wish.included, wish.excluded, universe=self._universe)
        names = {
            f"{namespace}/{volume}"
            for (namespace, volume), labels in self._around.volumes.items()
            if selects(namespace, included=wish.included, excluded=wish.excluded)
            # Hooks act on whatever runs in a namespace, not on the volumes alone.
            and (wish.hooks or not wish.labels or any(choice <= labels.items() for choice in wish.labels))
        }
        return Scope(frozenset(names))

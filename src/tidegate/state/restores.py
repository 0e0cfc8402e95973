"""The restores that wait or run, kept up to date change by change."""

from collections.abc import Iterable

from tidegate.decide.queue.claims import RestoreClaim
from tidegate.decide.queue.overlap import Scope
from tidegate.decide.restores.queue import RestoreEntry
from tidegate.model.restores.restore import Restore


class RestoreTable:
    """The restores that wait or run, kept up to date change by change.

    Changes may be told twice, or an old one after a newer. As a life only goes forward, an old one is known by that: a
    restore that runs is never taken for one that waits, so what it writes to is never given to somebody else.
    """

    def __init__(self) -> None:
        self._entries: dict[str, RestoreEntry] = {}

    def note(self, restore: Restore) -> None:
        """The restore is, or was, like this."""
        entry = RestoreEntry.of(restore)
        if entry is not None:
            known = self._entries.get(entry.uid)
            if known is None or known.progress <= entry.progress:
                self._entries[entry.uid] = entry
        elif restore.status.phase.final:
            self.forget(restore)

    def with_one_more(self, restore: Restore) -> "RestoreTable":
        """Another table, with this restore as well: for who wants to know what would be. This one stays as it is."""
        other = RestoreTable()
        other._entries = dict(self._entries)  # of its own kind
        other.note(restore)
        return other

    def forget(self, restore: Restore) -> None:
        """It is over or gone. A namesake that came later stays."""
        self._entries.pop(restore.metadata.uid, None)

    def replace_all(self, restores: Iterable[Restore], /) -> None:
        """These are all that exist."""
        self._entries.clear()
        for restore in restores:
            self.note(restore)

    def waits(self, restore: Restore) -> bool:
        """Whether this very one has not begun, and is still wanted."""
        entry = self._entries.get(restore.metadata.uid)
        return entry is not None and entry.progress == 0

    @property
    def waiting(self) -> int:
        """How many have not begun, and are still wanted."""
        return sum(entry.progress == 0 for entry in self._entries.values())

    def anyone_waits(self) -> bool:
        """Whether there is anything to decide."""
        return any(entry.progress < 2 for entry in self._entries.values())  # noqa: PLR2004  # see RestoreEntry

    def claims(self, *, by_volume: bool, paused: bool = False) -> tuple[RestoreClaim, ...]:
        """Those that run and those that wait, in the order in which they were asked for.

        While restores are paused, those that wait keep nothing from backups: nobody knows for how long.
        """
        ordered = sorted(self._entries.values(), key=lambda one: (one.created is None, one.created, one.name))
        return tuple(
            RestoreClaim(
                entry.name, _scope(entry, by_volume=by_volume), running=entry.progress > 1, leaving=entry.deleting
            )
            for entry in ordered
            if entry.progress > 1 or (entry.progress == 0 and not paused)
        )

    def called_off(self) -> list[str]:
        """Names of those that need not begin any more."""
        return sorted(entry.name for entry in self._entries.values() if entry.progress == 1)


def _scope(entry: RestoreEntry, *, by_volume: bool) -> Scope:
    return Scope(frozenset(entry.volumes if by_volume else (volume.partition("/")[0] for volume in entry.volumes)))

"""Which waiting restores may start now, and why the others may not.

A restore keeps the namespaces that it writes to from backups and from other restores. It waits for backups that run,
never for those that wait: bringing something back is urgent, and a queue of backups may be paused or full. So a restore
that waits also comes before every queued backup of its namespaces, or a row of them could keep it waiting for ever.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tidegate.decide.queue.claims import Claim, Claims, RestoreClaim
from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.plan import AdmissionPlan, Contender, Obstacle, Waiting, overlap
from tidegate.decide.transfers.restore_limit import RESTORES_PAUSED
from tidegate.model.reasons import Reason
from tidegate.model.restores.restore import Restore, RestorePhase


def plan_restores(
    restores: Sequence[RestoreClaim], backups: Iterable[Contender], *, paused: bool = False
) -> AdmissionPlan:
    """Start, in their order, those that share nothing with what runs or with a restore ahead of them."""
    claims = Claims()
    order = 0
    for running in (one for one in restores if one.running):
        claims.add(running.claim(order=order))
        order += 1
    for backup in backups:
        claims.add(backup.claim(running=True, order=order))
        order += 1
    start: list[str] = []
    wait: list[Waiting] = []
    for restore in (one for one in restores if not one.running):
        in_the_way = claims.first_in_the_way_of(restore.scope)
        if paused:
            obstacle = Obstacle(Reason.RESTORES_DISABLED, restore.scope, detail=RESTORES_PAUSED)
            wait.append(Waiting(restore.name, len(wait) + 1, obstacle))
        elif in_the_way is not None:
            wait.append(Waiting(restore.name, len(wait) + 1, overlap(restore.scope, in_the_way)))
        else:
            start.append(restore.name)
        claims.add(Claim(restore.name, restore.scope, running=in_the_way is None, order=order, by_restore=True))
        order += 1
    return AdmissionPlan(tuple(start), tuple(wait))


@dataclass(frozen=True, slots=True)
class RestoreEntry:
    """A restore as the queue remembers it."""

    name: str
    uid: str
    progress: int
    """How far it is in its life, which only goes forward: 0 waits, 1 was called off before it began, 2 runs."""
    created: datetime | None
    volumes: tuple[str, ...]
    deleting: bool = False

    @classmethod
    def of(cls, restore: Restore) -> "RestoreEntry | None":
        """What matters of a stored restore; None for one that neither waits nor runs."""
        phase = restore.status.phase
        if phase.final or not restore.settled:
            return None
        called_off = restore.spec.cancel or restore.deleting
        progress = int(called_off) if phase is RestorePhase.NEW else 2
        created, volumes = restore.metadata.creation_timestamp, restore.status.target_volumes or ()
        return cls(restore.name, restore.metadata.uid, progress, created, volumes, restore.deleting)


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

"""Which waiting restores may start now, and why the others may not.

A restore keeps the namespaces that it writes to from backups and from other restores. It waits for backups that run,
never for those that wait: bringing something back is urgent, and a queue of backups may be paused or full. So a restore
that waits also comes before every queued backup of its namespaces, or a row of them could keep it waiting for ever.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tidegate.decide.queue.claims import Claim, Claims, RestoreClaim
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

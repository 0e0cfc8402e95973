"""Backups and restores that wait, with places and reasons as they are now: storing them would cost many writes."""

from collections.abc import Sequence

from tidegate.api.reads.queue_looks import surroundings_now
from tidegate.api.services import Services
from tidegate.decide.queue.standing import Standing, standings
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.restores.restore import Restore, RestorePhase


def is_queued(backup: Backup) -> bool:
    """Whether it has a place in the queue."""
    return backup.status.phase is BackupPhase.QUEUED and not backup.spec.cancel and not backup.deleting


def is_waiting_restore(restore: Restore) -> bool:
    """Whether it has a place among the restores that have not begun."""
    new = restore.status.phase is RestorePhase.NEW and restore.settled
    return new and not restore.spec.cancel and not restore.deleting


async def placed_backups(services: Services, backups: Sequence[Backup]) -> list[Backup]:
    """Each that waits with its place."""
    if not any(map(is_queued, backups)):
        return list(backups)
    around, settings = await surroundings_now(services)
    # No waiting from here on: rows and places are of one moment.
    table, limit, now = services.state.queue, settings.concurrent_backups, services.clock.now()
    names = [backup.name for backup in backups if is_queued(backup)]
    found = standings(table, table.snapshot(around), names, limit=limit, now=now)
    return [explained(one, found[one.name]) if one.name in found and is_queued(one) else one for one in backups]


def placed_restores(services: Services, restores: Sequence[Restore]) -> list[Restore]:
    """The same for restores. Why they wait is told by what is stored."""
    if not any(map(is_waiting_restore, restores)):
        return list(restores)
    waiting = [claim.name for claim in services.state.restores.claims(by_volume=False) if not claim.running]
    places = {name: place for place, name in enumerate(waiting, start=1)}
    return [
        row.with_status(queue_position=places.get(row.name)) if is_waiting_restore(row) else row for row in restores
    ]


def explained(backup: Backup, found: Standing) -> Backup:
    """The backup with its place, and why it waits as things are now."""
    # Who may start has a position too, until the queue has written that it does.
    status, obstacle = backup.status, found.obstacle
    said = status.condition("Waiting")
    if (
        obstacle
        and status.queued_at
        and (said is None or (said.reason, said.message) != (obstacle.reason, obstacle.message))
    ):
        status = status.waiting(obstacle.reason, obstacle.message, since=status.queued_at)
    return backup.replace(status=status.replace(queue_position=found.position))

"""Backups and restores that wait, with places and reasons as they are now: storing them would cost many writes."""

from collections.abc import Sequence

from tidegate.api.reads.one_look import Line, one_look
from tidegate.api.reads.queue_looks import surroundings_now
from tidegate.api.services import Services
from tidegate.decide.queue.standing import Standing, standings
from tidegate.decide.queue.table import QueueTable
from tidegate.decide.restores.queue import RestoreTable
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.restores.restore import Restore, RestorePhase


def is_queued(backup: Backup) -> bool:
    """Whether it has a place in the queue."""
    return backup.status.phase is BackupPhase.QUEUED and not backup.spec.cancel and not backup.deleting


def is_waiting_restore(restore: Restore) -> bool:
    """Whether it has a place among the restores that have not begun."""
    new = restore.status.phase is RestorePhase.NEW and restore.settled
    return new and not restore.spec.cancel and not restore.deleting


async def placed_backups(services: Services, backups: Sequence[Backup], *, whole: bool) -> list[Backup]:
    """Each that waits with its place; `whole` says that these are all that exist."""
    if not any(map(is_queued, backups)):
        return list(backups)
    around, settings = await surroundings_now(services)
    line = Line(Backup, QueueTable, services.queue, is_queued, lambda table, one: table.place(one.name) is not None)
    rows, table = await one_look(services.store, line, backups, whole=whole)
    # No waiting from here on: the table may be the server's own.
    names, limit, now = [row.name for row in rows if is_queued(row)], settings.concurrent_backups, services.clock.now()
    found = standings(table, table.snapshot(around), names, limit=limit, now=now)
    return [explained(row, found[row.name]) if row.name in found and is_queued(row) else row for row in rows]


async def placed_restores(services: Services, restores: Sequence[Restore], *, whole: bool) -> list[Restore]:
    """The same for restores. Why they wait is told by what is stored."""
    if not any(map(is_waiting_restore, restores)):
        return list(restores)
    line = Line(Restore, RestoreTable, services.restores, is_waiting_restore, lambda table, one: table.waits(one))
    rows, table = await one_look(services.store, line, restores, whole=whole)
    waiting = [claim.name for claim in table.claims(by_volume=False) if not claim.running]
    places = {name: place for place, name in enumerate(waiting, start=1)}
    return [row.with_status(queue_position=places.get(row.name)) if is_waiting_restore(row) else row for row in rows]


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

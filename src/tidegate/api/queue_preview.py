"""Where a backup stands, or would stand, in the queue: for the answer to a submission and for --dry-run."""

import asyncio

from tidegate.api.queue_looks import queue_now
from tidegate.api.services import Services
from tidegate.decide.backup_queue import Obstacle, obstacles, plan_admissions
from tidegate.decide.queue_table import QueueTable
from tidegate.model.backup import Backup, BackupPhase

_MOST_NAMED = 20
_TURNS = 50


async def preview(services: Services, backup: Backup, *, every_obstacle: bool = False) -> Backup:
    """The backup with the position and the reason that the next pass of the queue would give it.

    With `every_obstacle` the message names all that is in its way, not only the first.
    """
    table = await _table_with_all_before(services, backup)
    table.forget(backup.name)
    # New ones get their tickets before this one: they were there first.
    table.note(backup.with_status(phase=BackupPhase.NEW))
    for name, ticket in table.tickets(services.clock.now()).items():
        entry = table.entry(name)
        if entry is not None:
            table.queue(entry, ticket)
    snapshot, settings = await queue_now(services, table)
    limit = settings.concurrent_backups
    for waiting in plan_admissions(snapshot, limit=limit).wait:
        if waiting.name == backup.name:
            found = obstacles(snapshot, backup.name, limit=limit) if every_obstacle else [waiting.obstacle]
            status = backup.status.waiting(waiting.reason, _sentences(found), since=services.clock.now())
            return backup.replace(status=status.replace(queue_position=waiting.position))
    return backup


async def _table_with_all_before(services: Services, backup: Backup) -> QueueTable:
    """A table of our own that knows of everybody who was stored before this backup.

    News come in order: once the server has heard of this one, it has heard of all before it. That is a matter of a few
    turns of the event loop; where it takes longer, the store tells.
    """
    stored = bool(backup.metadata.resource_version)
    for _ in range(_TURNS if services.queue is not None else 0):
        if services.queue is not None and (not stored or services.queue.entry(backup.name)):
            return services.queue.copy()
        await asyncio.sleep(0)
    table = QueueTable()
    table.replace_all((await services.store.list(Backup)).items)
    return table


def _sentences(found: list[Obstacle]) -> str:
    named = "; ".join(obstacle.message for obstacle in found[:_MOST_NAMED])
    return f"{named}; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else named

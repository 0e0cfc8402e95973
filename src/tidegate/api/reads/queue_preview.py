"""Where a backup stands, or would stand, in the queue: for the answer to a submission and for --dry-run."""

import asyncio

from tidegate.api.reads.queue_looks import surroundings_now
from tidegate.api.services import Services
from tidegate.decide.queue.plan import Obstacle, obstacles
from tidegate.decide.queue.standing import standings
from tidegate.decide.queue.table import QueueTable
from tidegate.model.backups.backup import Backup, BackupPhase

_MOST_NAMED = 20
_TURNS = 50


async def preview(services: Services, backup: Backup, *, every_obstacle: bool = False) -> Backup:
    """The backup with the position and the reason that the next pass of the queue would give it.

    With `every_obstacle` the message names all that is in its way, not only the first.
    """
    table = await _table_with_all_before(services, backup)
    around, settings = await surroundings_now(services)
    limit, now = settings.concurrent_backups, services.clock.now()
    # No waiting from here on: the table may be the server's own.
    found = standings(table, table.snapshot(around), [backup.name], limit=limit, now=now).get(backup.name)
    if found is None or found.obstacle is None:
        return backup
    told = [found.obstacle]
    if every_obstacle:
        for name, ticket in table.tickets(now).items():
            table.queue(table.entries([name])[0], ticket)
        told = obstacles(table.snapshot(around), backup.name, limit=limit)
    status = backup.status.waiting(found.obstacle.reason, _sentences(told), since=now)
    return backup.replace(status=status.replace(queue_position=found.position))


async def _table_with_all_before(services: Services, backup: Backup) -> QueueTable:
    """A table that knows this backup and everybody who was stored before it; one of our own if it is not stored.

    News come in order: once the server has heard of this one, it has heard of all before it. That is a matter of a few
    turns of the event loop; where it takes longer, the store tells.
    """
    stored = bool(backup.metadata.resource_version)
    if services.queue is not None and not stored:
        return _with(services.queue.copy(), backup)
    for _ in range(_TURNS):
        if services.queue is not None and _has_heard_of(services, backup):
            return services.queue
        await asyncio.sleep(0)
    table = QueueTable()
    table.replace_all((await services.store.list(Backup)).items)
    return table if stored else _with(table, backup)


def _has_heard_of(services: Services, backup: Backup) -> bool:
    """Of whatever became of it: it may have begun, or be over, before its own answer is ready."""
    known = services.queue is not None and services.queue.entry(backup.name) is not None
    return known or (services.figures is not None and services.figures.of(backup.name) is not None)


def _with(table: QueueTable, backup: Backup) -> QueueTable:
    table.note(backup.with_status(phase=BackupPhase.NEW))
    return table


def _sentences(found: list[Obstacle]) -> str:
    named = "; ".join(obstacle.message for obstacle in found[:_MOST_NAMED])
    return f"{named}; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else named

"""Where a backup stands, or would stand, in the queue: for the answer to a submission and for --dry-run."""

from tidegate.api.reads.queue_looks import surroundings_now
from tidegate.api.services import Services
from tidegate.decide.queue.plan import Obstacle, obstacles
from tidegate.decide.queue.standing import standings
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.state.queue import QueueTable

_MOST_NAMED = 20


async def preview(services: Services, backup: Backup, *, every_obstacle: bool = False) -> Backup:
    """The backup with the position and the reason that the next pass of the queue would give it.

    With `every_obstacle` the message names all that is in its way, not only the first.
    """
    stored = bool(backup.metadata.resource_version)
    table = services.state.queue if stored else _with(services.state.queue.copy(), backup)
    around, settings = await surroundings_now(services)
    limit, now = settings.concurrent_backups, services.clock.now()
    # No waiting from here on: the table may be the server's own.
    found = standings(table, table.snapshot(around), [backup.name], limit=limit, now=now).get(backup.name)
    if found is None or found.obstacle is None:
        return backup
    told = [found.obstacle]
    if every_obstacle:
        table = table.copy()
        for name, ticket in table.tickets(now).items():
            table.queue(table.entries([name])[0], ticket)
        told = obstacles(table.snapshot(around), backup.name, limit=limit)
    status = backup.status.waiting(found.obstacle.reason, _sentences(told), since=now)
    return backup.replace(status=status.replace(queue_position=found.position))


def _with(table: QueueTable, backup: Backup) -> QueueTable:
    table.note(backup.with_status(phase=BackupPhase.NEW))
    return table


def _sentences(found: list[Obstacle]) -> str:
    named = "; ".join(obstacle.message for obstacle in found[:_MOST_NAMED])
    return f"{named}; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else named

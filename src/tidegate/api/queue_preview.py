"""Where a backup stands, or would stand, in the queue: for the answer to a submission and for --dry-run."""

from tidegate.api.queue_looks import queue_now
from tidegate.api.services import Services
from tidegate.decide.backup_queue import Obstacle, obstacles, plan_admissions
from tidegate.decide.queue_table import QueueTable
from tidegate.model.backup import Backup, BackupPhase

_MOST_NAMED = 20


async def preview(services: Services, backup: Backup, *, every_obstacle: bool = False) -> Backup:
    """The backup with the position and the reason that the next pass of the queue would give it.

    With `every_obstacle` the message names all that is in its way, not only the first.
    """
    table = QueueTable()
    table.replace_all(other for other in (await services.store.list(Backup)).items if other.name != backup.name)
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


def _sentences(found: list[Obstacle]) -> str:
    named = "; ".join(obstacle.message for obstacle in found[:_MOST_NAMED])
    return f"{named}; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else named

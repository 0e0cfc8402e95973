"""Where a backup stands, or would stand, in the queue: for the answer to a submission and for --dry-run."""

from tidegate.api.queue_looks import queue_now
from tidegate.api.services import Services
from tidegate.decide.backup_queue import plan_admissions
from tidegate.decide.queue_table import QueueTable
from tidegate.model.backup import Backup, BackupPhase


async def preview(services: Services, backup: Backup) -> Backup:
    """The backup with the position and the reason that the next pass of the queue would give it."""
    table = QueueTable()
    table.replace_all(other for other in (await services.store.list(Backup)).items if other.name != backup.name)
    # New ones get their tickets before this one: they were there first.
    table.note(backup.with_status(phase=BackupPhase.NEW))
    for name, ticket in table.tickets(services.clock.now()).items():
        entry = table.entry(name)
        if entry is not None:
            table.queue(entry, ticket)
    snapshot, settings = await queue_now(services, table)
    for waiting in plan_admissions(snapshot, limit=settings.concurrent_backups).wait:
        if waiting.name == backup.name:
            status = backup.status.waiting(waiting.reason, waiting.message, since=services.clock.now())
            return backup.replace(status=status.replace(queue_position=waiting.position))
    return backup

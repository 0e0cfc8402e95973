"""Where a backup stands, or would stand, in the queue: for the answer to a submission and for --dry-run."""

from tidegate.api.services import Services
from tidegate.decide.backup_queue import plan_admissions, queue_snapshot
from tidegate.model.backup import Backup, BackupPhase
from tidegate.model.setting import Setting, effective_settings
from tidegate.model.target import BackupTarget
from tidegate.model.volume import Namespace


async def preview(services: Services, backup: Backup) -> Backup:
    """The backup with the position and the reason that the next pass of the queue would give it."""
    store = services.store
    others = [other for other in (await store.list(Backup)).items if other.name != backup.name]
    tickets = [other.status.queue_ticket or 0 for other in others]
    queued = backup.with_status(phase=BackupPhase.QUEUED, queue_ticket=max(tickets, default=0) + 1)
    # New ones get their tickets before this one: they were there first.
    ahead = [o.with_status(phase=BackupPhase.QUEUED) if o.status.phase is BackupPhase.NEW else o for o in others]
    targets = (await store.list(BackupTarget)).items
    snapshot = queue_snapshot(
        [*ahead, queued],
        namespaces=[namespace.name for namespace in (await store.list(Namespace)).items],
        unavailable_targets=frozenset(t.name for t in targets if t.status.available is False),
    )
    settings = effective_settings(list((await store.list(Setting)).items))
    plan = plan_admissions(snapshot, limit=settings.concurrent_backups)
    for waiting in plan.wait:
        if waiting.name == backup.name:
            status = backup.status.waiting(waiting.reason, waiting.message, since=services.clock.now())
            return backup.replace(status=status.replace(queue_position=waiting.position))
    return backup

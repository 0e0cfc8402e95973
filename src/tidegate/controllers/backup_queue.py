"""Keeps the queue moving: New -> Queued -> ReadyToStart.

One key for all backups, because the decision is about the whole queue.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from tidegate.controllers.observation import all_of, settings_now, unavailable_targets
from tidegate.controllers.reconciler import Next, Watch, always
from tidegate.decide.backup_queue import AdmissionPlan, Waiting, next_tickets, plan_admissions, queue_snapshot
from tidegate.model.backup import Backup, BackupPhase
from tidegate.model.reasons import Reason
from tidegate.model.resource import Ref
from tidegate.model.setting import Setting
from tidegate.model.target import BackupTarget
from tidegate.model.volume import Namespace
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)

KEY = Ref("BackupQueue", "backup-queue")


@dataclass
class BackupQueue:
    """Owns every step of a backup up to ReadyToStart."""

    store: ResourceStore
    clock: Clock
    name: str = "backup-queue"
    workers: int = 1  # one pass at a time: the plan is about the whole queue
    watches: tuple[Watch, ...] = tuple(Watch(kind, always(KEY)) for kind in (Backup, BackupTarget, Namespace, Setting))

    async def reconcile(self, _key: Ref) -> Next:
        """Give tickets to the new, then start what may start and say why the others wait."""
        settings = await settings_now(self.store)
        recheck = Next.after(timedelta(seconds=settings.queue_recheck_seconds))
        backups = await all_of(self.store, Backup)
        if await self._enqueue_new(backups):
            return Next.after(timedelta())  # Queued is a step of its own; the plan follows at once
        snapshot = queue_snapshot(
            backups,
            namespaces=[namespace.name for namespace in await all_of(self.store, Namespace)],
            unavailable_targets=await unavailable_targets(self.store),
        )
        plan = plan_admissions(snapshot, limit=settings.concurrent_backups)
        for changed in status_changes(backups, plan, now=self.clock.now()):
            await self.store.update_status(changed)  # a stale version raises: the runtime looks again
            self._tell(changed)
        return recheck

    async def _enqueue_new(self, backups: list[Backup]) -> bool:
        tickets = next_tickets(backups)
        now = self.clock.now()
        for backup in sorted((b for b in backups if b.name in tickets), key=lambda b: tickets[b.name]):
            queued = backup.with_status(phase=BackupPhase.QUEUED, queue_ticket=tickets[backup.name], queued_at=now)
            status = queued.status.waiting(Reason.PENDING_EVALUATION, "not looked at yet", since=now)
            await self.store.update_status(queued.replace(status=status))
            log.info("backup queued", backup=backup.name, ticket=tickets[backup.name])
        return bool(tickets)

    def _tell(self, backup: Backup) -> None:
        if backup.status.phase is BackupPhase.READY_TO_START:
            created = backup.metadata.creation_timestamp
            waited = (self.clock.now() - created).total_seconds() if created else 0.0
            log.info("backup leaves the queue", backup=backup.name, waited_seconds=round(waited, 3))
        elif waiting := backup.status.condition("Waiting"):
            log.info("backup is passed over", backup=backup.name, reason=waiting.reason, why=waiting.message)


def status_changes(backups: list[Backup], plan: AdmissionPlan, *, now: datetime) -> list[Backup]:
    """The backups whose stored status differs from the plan, changed; the ones that start come first."""
    by_name = {backup.name: backup for backup in backups}
    started = [
        by_name[name].replace(status=by_name[name].status.no_longer_waiting().replace(phase=BackupPhase.READY_TO_START))
        for name in plan.start
    ]
    waiting = [_explained(by_name[waiting.name], waiting, now=now) for waiting in plan.wait]
    return [*started, *(backup for backup in waiting if backup.status != by_name[backup.name].status)]


def _explained(backup: Backup, waiting: Waiting, *, now: datetime) -> Backup:
    return backup.replace(status=backup.status.waiting(waiting.reason, waiting.message, since=now))

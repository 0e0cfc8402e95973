"""Keeps the queue moving: New -> Queued -> ReadyToStart.

One key for all backups, because the decision is about the whole queue.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from tidegate.controllers.observation import all_of, settings_now
from tidegate.controllers.queue_mirror import QueueMirror
from tidegate.controllers.reconciler import Next, Watch, always
from tidegate.decide.backup_queue import QueueSnapshot, Waiting, plan_admissions, plan_starts
from tidegate.decide.queue_surroundings import surroundings_of
from tidegate.decide.queue_table import QueueEntry, Surroundings
from tidegate.errors import NotFound
from tidegate.model.backup import Backup, BackupPhase
from tidegate.model.reasons import Reason
from tidegate.model.resource import Ref, Resource
from tidegate.model.setting import Setting, Settings
from tidegate.model.target import BackupTarget
from tidegate.model.volume import Namespace, Volume
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)

KEY = Ref("BackupQueue", "backup-queue")
# In a queue up to this long every new reason is written down at once. In a longer one that would be a write for each
# backup that waits whenever one starts; there the words follow with the regular look, and the API tells fresh ones.
_SHORT = 100
_MOST_WORDS_AT_ONCE = 500


@dataclass
class BackupQueue:
    """Owns every step of a backup up to ReadyToStart."""

    store: ResourceStore
    clock: Clock
    mirror: QueueMirror
    name: str = "backup-queue"
    workers: int = 1  # one pass at a time: the plan is about the whole queue
    watches: tuple[Watch, ...] = ()
    _around: tuple[Settings, Surroundings] | None = None
    """What was found beside the queue; None when something there has changed."""
    _words_told_at: float = field(default=float("-inf"))

    def __post_init__(self) -> None:
        self.watches = (
            Watch(Backup, always(KEY)),
            *(Watch(kind, self._look_around_again) for kind in (BackupTarget, Namespace, Setting, Volume)),
        )

    async def reconcile(self, _key: Ref) -> Next:
        """Give tickets to the new, then start what may start and say why the others wait."""
        async with self.mirror.planning:
            settings, around = await self._look_around()
            recheck = Next.after(timedelta(seconds=settings.queue_recheck_seconds))
            if not self.mirror.up_to_date:
                return recheck  # the news that we wait for wakes us
            await self._drop_cancelled()
            if await self._enqueue_new():
                return recheck  # Queued is a step of its own; its news wakes us for the next one
            snapshot = self.mirror.table.snapshot(around)
            starts = plan_starts(snapshot, limit=settings.concurrent_backups)
            for name in starts:
                await self._start(name)
            if not starts:
                await self._say_why(snapshot, settings)
            return recheck

    def _look_around_again(self, _changed: Resource) -> Iterable[Ref]:
        self._around = None
        return (KEY,)

    async def _look_around(self) -> tuple[Settings, Surroundings]:
        if self._around is None:
            settings = await settings_now(self.store)
            volumes = await all_of(self.store, Volume) if settings.overlap_detection == "volume" else []
            targets = await all_of(self.store, BackupTarget)
            around = surroundings_of(settings, await all_of(self.store, Namespace), targets, volumes)
            self._around = settings, around
        return self._around

    async def _enqueue_new(self) -> bool:
        now = self.clock.now()
        tickets = self.mirror.table.tickets(now)
        for name, ticket in tickets.items():
            if backup := await self._still(name, BackupPhase.NEW):
                queued = backup.with_status(phase=BackupPhase.QUEUED, queue_ticket=ticket, queued_at=now)
                status = queued.status.waiting(Reason.PENDING_EVALUATION, "not looked at yet", since=now)
                await self._write(backup, queued.replace(status=status))
                log.info("backup queued", backup=name, ticket=ticket)
        return bool(tickets)

    async def _start(self, name: str) -> None:
        if backup := await self._still(name, BackupPhase.QUEUED):
            status = backup.status.no_longer_waiting().replace(phase=BackupPhase.READY_TO_START)
            await self._write(backup, backup.replace(status=status))
            created = backup.metadata.creation_timestamp
            waited = (self.clock.now() - created).total_seconds() if created else 0.0
            log.info("backup leaves the queue", backup=name, waited_seconds=round(waited, 3))

    async def _drop_cancelled(self) -> None:
        for entry in self.mirror.table.cancelled():
            if backup := await self._still(entry.name, entry.phase):
                status = backup.status.no_longer_waiting().replace(
                    phase=BackupPhase.CANCELED, completion_timestamp=self.clock.now()
                )
                await self._write(backup, backup.replace(status=status))
                log.info("backup cancelled before it started", backup=entry.name)

    async def _say_why(self, snapshot: QueueSnapshot, settings: Settings) -> None:
        now = self.clock.monotonic()
        due = now - self._words_told_at >= settings.queue_recheck_seconds
        short = len(snapshot.waiting) <= _SHORT
        if not short and not due:
            return
        self._words_told_at = now
        plan = plan_admissions(snapshot, limit=settings.concurrent_backups)
        told = 0
        for waiting in plan.wait:
            entry = self.mirror.table.entry(waiting.name)
            if entry is not None and told < _MOST_WORDS_AT_ONCE and _is_news(entry, waiting, short=short):
                told += await self._explain(waiting)

    async def _explain(self, waiting: Waiting) -> bool:
        backup = await self._still(waiting.name, BackupPhase.QUEUED)
        if backup is None:
            return False
        status = backup.status.waiting(waiting.reason, waiting.message, since=self.clock.now())
        await self._write(backup, backup.replace(status=status))
        log.info("backup is passed over", backup=waiting.name, reason=waiting.reason, why=waiting.message)
        return True

    async def _still(self, name: str, phase: BackupPhase) -> Backup | None:
        """The backup, if it is still as the table has it; if not, the news of that are under way."""
        try:
            backup = await self.store.get(Backup, name)
        except NotFound:
            return None
        return backup if backup.status.phase is phase and not backup.deleting else None

    async def _write(self, before: Backup, after: Backup) -> None:
        # A stale version raises: the runtime looks again.
        self.mirror.wrote(before, await self.store.update_status(after))


def _is_news(entry: QueueEntry, waiting: Waiting, *, short: bool) -> bool:
    reason, message = entry.why
    return waiting.reason != reason or (short and waiting.message != message)

"""Keeps the queue moving: New -> Queued -> ReadyToStart.

One key for all backups, because the decision is about the whole queue.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice

import structlog

from tidegate.controllers.reconcile.reconciler import Next, Watch, always
from tidegate.decide.jobs.events import with_events
from tidegate.decide.queue.entry import QueueEntry
from tidegate.decide.queue.plan import QueueSnapshot, Waiting, plan_admissions, plan_starts
from tidegate.errors import NotFound, StaleVersion, UserError
from tidegate.model.backups.backup import Backup, BackupPhase, BackupStatus
from tidegate.model.reasons import Reason
from tidegate.model.resource import Ref
from tidegate.model.restores.restore import Restore
from tidegate.model.setting import Setting, Settings
from tidegate.model.stores.target import BackupTarget
from tidegate.model.volumes.volume import Namespace, Volume
from tidegate.ports.clock import Clock
from tidegate.state.queue import QueueTable
from tidegate.state.server_state import ServerState

log = structlog.get_logger(__name__)

KEY = Ref("BackupQueue", "backup-queue")
# Why one waits is written down twice at most, so a long chain of backups that wait for each other costs no write for
# each link. Whoever asks, watches or scrapes is told what is so now, which needs no writes.
_MOST_WORDS_EACH = 2
# In a queue up to this long the words are written at once; in a longer one they follow with the regular look.
_SHORT = 100
_MOST_WORDS_AT_ONCE = 500


@dataclass
class BackupQueue:
    """Owns every step of a backup up to ReadyToStart."""

    state: ServerState
    clock: Clock
    planning: asyncio.Lock
    """Backups and restores keep namespaces from each other, so their queues plan one after the other, never at once."""
    name: str = "backup-queue"
    workers: int = 1  # one pass at a time: the plan is about the whole queue
    watches: tuple[Watch, ...] = ()
    _words_told_at: float = field(default=float("-inf"))

    def __post_init__(self) -> None:
        self.watches = (
            *(Watch(kind, always(KEY)) for kind in (Backup, Restore, BackupTarget, Namespace, Setting, Volume)),
        )

    async def reconcile(self, _key: Ref) -> Next:
        """Give tickets to the new, then start what may start and say why the others wait."""
        await self.state.wait_for(Backup, Restore)
        async with self.planning:
            # A write that ended in an error may have been done all the same: see, before anything is given away.
            await self.state.store.settle()
            table, settings = self.state.queue, await self.state.settings()
            recheck = Next.after(timedelta(seconds=settings.queue_recheck_seconds))
            await self._drop_cancelled(table)
            await self._note_moves(table)
            if await self._enqueue_new(table):
                return recheck  # Queued is a step of its own; its news wakes us for the next one
            snapshot = table.snapshot(await self.state.around_queue_with_restores())
            starts = plan_starts(snapshot, limit=settings.concurrent_backups)
            if starts:
                await self._start(table.entries(starts))
            else:
                await self._say_why(table, snapshot, settings)
            return recheck

    async def _enqueue_new(self, table: QueueTable) -> bool:
        now, queued_any = self.clock.now(), False
        tickets = table.tickets(now)
        for entry in table.entries(tickets):
            if backup := await self._still(entry):
                ticket = tickets[entry.name]
                queued = backup.with_status(
                    phase=BackupPhase.QUEUED,
                    queue_ticket=ticket,
                    queued_at=now,
                    unmatched=backup.status.unmatched or backup.unmatched_when_made,
                )
                status = queued.status.waiting(Reason.PENDING_EVALUATION, "not looked at yet", since=now)
                if await self._write(backup, status, "Queued"):
                    queued_any = True
                    log.info("backup queued", backup=entry.name, ticket=ticket)
        return queued_any

    async def _start(self, entries: Sequence[QueueEntry]) -> None:
        for entry in entries:
            if backup := await self._still(entry):
                status = backup.status.no_longer_waiting().replace(phase=BackupPhase.READY_TO_START)
                if await self._write(backup, status, "Started"):
                    created = backup.metadata.creation_timestamp
                    waited = (self.clock.now() - created).total_seconds() if created else 0.0
                    log.info("backup leaves the queue", backup=entry.name, waited_seconds=round(waited, 3))

    async def _drop_cancelled(self, table: QueueTable) -> None:
        for entry in table.cancelled():
            if backup := await self._still(entry):
                status = backup.status.no_longer_waiting().replace(
                    phase=BackupPhase.CANCELED, completion_timestamp=self.clock.now()
                )
                if await self._write(backup, status, "Canceled"):
                    log.info("backup cancelled before it started", backup=entry.name)

    async def _note_moves(self, table: QueueTable) -> None:
        """The table orders by the tickets that moves asked for already; the statuses follow."""
        for entry in table.moved():
            if backup := await self._still(entry):
                await self._write(backup, backup.status.replace(queue_ticket=backup.ticket), "Moved")

    async def _say_why(self, table: QueueTable, snapshot: QueueSnapshot, settings: Settings) -> None:
        now = self.clock.monotonic()
        due = now - self._words_told_at >= settings.queue_recheck_seconds
        short = len(snapshot.waiting) <= _SHORT
        if not short and not due:
            return
        self._words_told_at = now
        plan = plan_admissions(snapshot, limit=settings.concurrent_backups)
        entries = table.entries(waiting.name for waiting in plan.wait)
        news = (pair for pair in zip(entries, plan.wait, strict=True) if _is_news(*pair, short=short))
        for entry, waiting in islice(news, _MOST_WORDS_AT_ONCE):
            await self._explain(entry, waiting)

    async def _explain(self, entry: QueueEntry, waiting: Waiting) -> None:
        if backup := await self._still(entry):
            status = backup.status.waiting(waiting.reason, waiting.message, since=self.clock.now())
            if await self._write(backup, status, "PassedOver"):
                log.info("backup is passed over", backup=entry.name, reason=waiting.reason, why=waiting.message)

    async def _still(self, planned: QueueEntry) -> Backup | None:
        """The backup, if it is still as it was planned for; if not, the news of that are under way."""
        try:
            backup = await self.state.store.get(Backup, planned.name)
        except NotFound:
            return None
        return backup if not backup.deleting and QueueEntry.of(backup) == planned else None

    async def _write(self, backup: Backup, status: BackupStatus, outcome: str) -> bool:
        """Whether it was written. One that changed in between is left for the next pass, which its news bring about."""
        try:
            told = with_events(backup, backup.replace(status=status), now=self.clock.now())
            await self.state.store.update_status(told)
        except (StaleVersion, NotFound):
            return False
        except UserError as error:
            # One that cannot be stored as it is must not hold up all others.
            self.state.queue_decisions["Refused"] += 1
            log.warning("backup cannot be written", backup=backup.name, error=f"{type(error).__name__}: {error}")
            return False
        self.state.queue_decisions[outcome] += 1
        return True


def _is_news(entry: QueueEntry, waiting: Waiting, *, short: bool) -> bool:
    reason, message = entry.why
    if entry.words >= _MOST_WORDS_EACH:
        return False
    return waiting.reason != reason or (short and waiting.message != message)

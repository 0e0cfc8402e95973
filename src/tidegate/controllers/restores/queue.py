"""Lets restores start: New -> InProgress, once nothing else works on the namespaces that they write to.

One key for all restores, because the decision is about all of them.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from tidegate.controllers.reconcile.reconciler import Next, Watch, always
from tidegate.decide.jobs.events import with_events
from tidegate.decide.queue.plan import Waiting
from tidegate.decide.restores.queue import plan_restores
from tidegate.errors import NotFound, StaleVersion
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Ref
from tidegate.model.restores.restore import Restore, RestorePhase, RestoreStatus
from tidegate.model.setting import Setting, Settings
from tidegate.ports.clock import Clock
from tidegate.state.queue import QueueTable
from tidegate.state.server_state import ServerState

log = structlog.get_logger(__name__)

KEY = Ref("RestoreQueue", "restore-queue")


@dataclass
class RestoreQueue:
    """Owns the steps out of New of a restore that is settled."""

    state: ServerState
    clock: Clock
    planning: asyncio.Lock
    """See BackupQueue."""
    name: str = "restore-queue"
    workers: int = 1  # one pass at a time: the plan is about all restores
    watches: tuple[Watch, ...] = field(
        default_factory=lambda: tuple(Watch(kind, always(KEY)) for kind in (Restore, Backup, Setting))
    )

    async def reconcile(self, _key: Ref) -> Next:
        """Start what may start, and say why the others wait."""
        await self.state.wait_for(Backup, Restore)
        if not self.state.restores.anyone_waits():
            return Next.done()
        async with self.planning:
            await self.state.store.settle()
            settings = await self.state.settings()
            for name in self.state.restores.called_off():
                await self._drop(name)
            await self._plan(self.state.queue, settings)
            recheck = Next.after(timedelta(seconds=settings.queue_recheck_seconds))
            return recheck if self.state.restores.anyone_waits() else Next.done()

    async def _plan(self, table: QueueTable, settings: Settings) -> None:
        around = await self.state.around_queue()
        claims = self.state.restores.claims(by_volume=around.volumes is not None)
        running = table.snapshot(around.with_restores(claims)).running
        plan = plan_restores(claims, running, paused=settings.concurrent_restores == 0)
        for name in plan.start:
            await self._start(name)
        for waiting in plan.wait:
            await self._explain(waiting)

    async def _start(self, name: str) -> None:
        if restore := await self._still_new(name):
            status = restore.status.no_longer_waiting().replace(
                phase=RestorePhase.IN_PROGRESS, start_timestamp=self.clock.now()
            )
            if await self._write(restore, status):
                log.info("restore started", restore=name)

    async def _explain(self, waiting: Waiting) -> None:
        if restore := await self._still_new(waiting.name):
            status = restore.status.waiting(waiting.reason, waiting.message, since=self.clock.now())
            if status != restore.status and await self._write(restore, status):
                log.info("restore waits", restore=waiting.name, reason=waiting.reason, why=waiting.message)

    async def _drop(self, name: str) -> None:
        if (restore := await self._still_new(name, called_off=True)) and not restore.deleting:
            status = restore.status.no_longer_waiting().replace(
                phase=RestorePhase.CANCELED,
                completion_timestamp=self.clock.now(),
                failure_reason="cancelled on request, before anything was written",
            )
            if await self._write(restore, status):
                log.info("restore cancelled before it started", restore=name)

    async def _still_new(self, name: str, *, called_off: bool = False) -> Restore | None:
        """The restore, if it is still as it was planned for; if not, the news of that are under way."""
        try:
            restore = await self.state.store.get(Restore, name)
        except NotFound:
            return None
        same = restore.settled and (restore.spec.cancel or restore.deleting) == called_off
        return restore if same and restore.status.phase is RestorePhase.NEW else None

    async def _write(self, restore: Restore, status: RestoreStatus) -> bool:
        """Whether it was written."""
        told = with_events(restore, restore.replace(status=status), now=self.clock.now())
        try:
            await self.state.store.update_status(told)
        except (StaleVersion, NotFound):
            return False
        return True

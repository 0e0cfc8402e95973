"""Lets restores start: New -> InProgress, once nothing else works on the namespaces that they write to.

One key for all restores, because the decision is about all of them.
"""

from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from tidegate.controllers.queue.mirror import QueueMirror
from tidegate.controllers.reconcile.observation import all_of, settings_now
from tidegate.controllers.reconcile.reconciler import Next, Watch, always
from tidegate.decide.jobs.events import with_events
from tidegate.decide.queue.plan import Waiting
from tidegate.decide.queue.surroundings import surroundings_of
from tidegate.decide.queue.table import QueueTable
from tidegate.decide.restores.queue import plan_restores
from tidegate.errors import NotFound, StaleVersion
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Ref
from tidegate.model.restores.restore import Restore, RestorePhase, RestoreStatus
from tidegate.model.setting import Setting, Settings
from tidegate.model.volumes.volume import Namespace, Volume
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)

KEY = Ref("RestoreQueue", "restore-queue")


@dataclass
class RestoreQueue:
    """Owns the steps out of New of a restore that is settled."""

    store: ResourceStore
    clock: Clock
    mirror: QueueMirror
    name: str = "restore-queue"
    workers: int = 1  # one pass at a time: the plan is about all restores
    watches: tuple[Watch, ...] = field(
        default_factory=lambda: tuple(Watch(kind, always(KEY)) for kind in (Restore, Backup, Setting))
    )

    async def reconcile(self, _key: Ref) -> Next:
        """Start what may start, and say why the others wait."""
        if not self.mirror.restores.anyone_waits():
            return Next.done()
        async with self.mirror.one_pass() as table:
            settings = await settings_now(self.store)
            recheck = Next.after(timedelta(seconds=settings.queue_recheck_seconds))
            if not self.mirror.up_to_date:
                return recheck  # a backup has just been let in; the news of that wakes us
            for name in self.mirror.restores.called_off():
                await self._drop(name)
            await self._plan(table, settings)
            return recheck if self.mirror.restores.anyone_waits() else Next.done()

    async def _plan(self, table: QueueTable, settings: Settings) -> None:
        by_volume = settings.overlap_detection == "volume"
        volumes = await all_of(self.store, Volume) if by_volume else []
        around = surroundings_of(settings, await all_of(self.store, Namespace), (), volumes)
        claims = self.mirror.restores.claims(by_volume=by_volume)
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
            restore = await self.store.get(Restore, name)
        except NotFound:
            return None
        same = restore.settled and (restore.spec.cancel or restore.deleting) == called_off
        return restore if same and restore.status.phase is RestorePhase.NEW else None

    async def _write(self, restore: Restore, status: RestoreStatus) -> bool:
        """Whether it was written; then every later pass, of whichever queue, knows of it."""
        told = with_events(restore, restore.replace(status=status), now=self.clock.now())
        try:
            self.mirror.restores.note(await self.store.update_status(told))
        except (StaleVersion, NotFound):
            return False
        return True

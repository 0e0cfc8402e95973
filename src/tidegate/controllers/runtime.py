"""Drives the reconcilers: one watch feeds all work queues, workers take keys, failures back off."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

import structlog

from tidegate.controllers.queue.mirror import QueueMirror
from tidegate.controllers.reconcile.backoff import Backoff
from tidegate.controllers.reconcile.reconciler import Reconciler
from tidegate.controllers.reconcile.work_queue import WorkQueue
from tidegate.controllers.transfers.mirror import TransferMirror
from tidegate.decide.server.scrape_figures import ScrapeFigures
from tidegate.errors import DamageError, RetryableError, StaleVersion, TidegateError, WatchExpired
from tidegate.model.backups.backup import Backup
from tidegate.model.kinds import kind_name
from tidegate.model.resource import Ref, Resource
from tidegate.model.transfers.transfer import Transfer
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import Change, Event, Page, ResourceStore

log = structlog.get_logger(__name__)

_PUMP = Ref("Pump", "pump")


@dataclass
class _Lane:
    """One reconciler with its own queue, so that a slow or broken one cannot stop another."""

    reconciler: Reconciler
    queue: WorkQueue
    backoff: Backoff
    errors: int = 0


@dataclass
class Runtime:
    """Runs reconcilers until told to stop.

    Every resource that exists at the start is announced once; after that every change is. Each `resync` everything is
    announced again: a safety net, not how work moves.
    """

    store: ResourceStore
    clock: Clock
    random: Random
    reconcilers: Sequence[Reconciler]
    mirror: QueueMirror = field(default_factory=QueueMirror)
    transfers: TransferMirror = field(default_factory=TransferMirror)
    scrapes: ScrapeFigures = field(default_factory=ScrapeFigures)
    resync: timedelta = timedelta(minutes=10)
    _lanes: list[_Lane] = field(default_factory=list)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _stopping: bool = False

    def start(self) -> None:
        """Begin; returns at once."""
        self._stopping = False
        for reconciler in self.reconcilers:
            lane = _Lane(reconciler, WorkQueue(self.clock), Backoff(self.random))
            self._lanes.append(lane)
            for _ in range(reconciler.workers):
                self._tasks.append(asyncio.create_task(self._work(lane), name=reconciler.name))
        self._tasks.append(asyncio.create_task(self._pump(), name="pump"))
        self._tasks.append(asyncio.create_task(self._resync(), name="resync"))

    async def stop(self) -> None:
        """End all workers now. A reconcile that is cut short heals on the next start, as after a crash."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for lane in self._lanes:
            lane.queue.close()
        self._tasks.clear()
        self._lanes.clear()

    def enqueue(self, reconciler: str, key: Ref) -> None:
        """Have a reconciler look at a key: for news that is not in the store, such as a mover's report."""
        for lane in self._lanes:
            if lane.reconciler.name == reconciler:
                lane.queue.add(key)

    def error_counts(self) -> dict[str, int]:
        """How often each reconciler failed since the start, for the metrics."""
        return {lane.reconciler.name: lane.errors for lane in self._lanes}

    async def _work(self, lane: _Lane) -> None:
        # Not for ever: a cancel may be lost in whatever a reconciler calls, and a stop must end all the same.
        while not self._stopping:
            key = await lane.queue.take()
            try:
                await self._once(lane, key)
            finally:
                lane.queue.done(key)

    async def _once(self, lane: _Lane, key: Ref) -> None:
        """One reconcile. Nothing that it raises gets past here, or one bad resource would end the worker."""
        try:
            again = await lane.reconciler.reconcile(key)
        except StaleVersion:
            # Somebody wrote between our look and our write: that is how it should be. Look again, soon.
            lane.queue.add_after(key, lane.backoff.next_delay(key))
        except Exception as error:  # noqa: BLE001  # a bug in one reconciler must not stop the others
            lane.errors += 1
            delay = lane.backoff.next_delay(key)
            _log_failure(lane.reconciler.name, key, error, delay)
            lane.queue.add_after(key, delay)
        else:
            lane.backoff.forget(key)
            if again.delay is not None:
                lane.queue.add_after(key, again.delay)

    async def _pump(self) -> None:
        """List, then watch; when either fails, back off and begin anew: a failed look is never an empty look."""
        backoff = Backoff(self.random)
        while True:
            try:
                since = await self._announce_all(reload=True)
                backoff.forget(_PUMP)
                async for event in self.store.watch(self._kinds(), since=since):
                    self.mirror.hear(event)  # before anyone is woken by it
                    self.transfers.hear(event)
                    self._note_for_scrapes(event)
                    self._announce(event.resource)
            except WatchExpired:
                log.info("fell behind the changes; listing again")
            except Exception as error:  # noqa: BLE001  # whatever it was, without the pump nothing moves
                _log_failure("pump", _PUMP, error, timedelta())
            await self.clock.sleep(backoff.next_delay(_PUMP))

    async def _resync(self) -> None:
        while True:
            await self.clock.sleep(self.resync)
            try:
                await self._announce_all(reload=False)
            except Exception as error:  # noqa: BLE001  # the next one may go well
                _log_failure("resync", _PUMP, error, self.resync)

    async def _announce_all(self, *, reload: bool) -> str:
        """Announce every resource; returns the version from which to watch, taken before the first look.

        With `reload` a watch begins anew behind it; without, the mirrors are left to the watch that goes on.
        """
        since: str | None = None
        for kind in self._kinds():
            try:
                page = await (self._reload(kind) if reload else self.store.list(kind))
            except DamageError as error:
                # The queues must know all Backups and transfers. Other kinds fail whoever needs them, and nobody else.
                if kind is Backup or issubclass(kind, Transfer):
                    raise
                log.warning("resources cannot be read", kind=kind_name(kind), error=error.message)
                continue
            since = since if since is not None else page.resource_version
            if reload:
                self.scrapes.replace_all(kind_name(kind), page.items)
            for resource in page.items:
                self._announce(resource)
        return since or "0"

    async def _reload(self, kind: type[Resource]) -> Page[Any]:
        if kind is Backup:
            return await self.mirror.reload(self.store)
        if issubclass(kind, Transfer):
            return await self.transfers.reload(self.store, kind)
        return await self.store.list(kind)

    def _note_for_scrapes(self, event: Event) -> None:
        if event.change is Change.DELETED:
            self.scrapes.forget(event.resource.ref)
        else:
            self.scrapes.note(event.resource)

    def _announce(self, resource: Resource) -> None:
        for lane in self._lanes:
            for watch in lane.reconciler.watches:
                if isinstance(resource, watch.kind):
                    for key in watch.keys(resource):
                        if watch.after is None:
                            lane.queue.add(key)
                        else:
                            lane.queue.add_after(key, watch.after)

    def _kinds(self) -> list[type[Resource]]:
        kinds = {kind_name(watch.kind): watch.kind for lane in self._lanes for watch in lane.reconciler.watches}
        # Backups first: the watch begins where the first list ended, and older news would take the mirror back.
        return sorted(kinds.values(), key=lambda kind: (kind is not Backup, kind_name(kind)))


def _log_failure(reconciler: str, key: Ref, error: Exception, delay: timedelta) -> None:
    """Expected errors in one line; anything that is not of our tree is a bug and comes with its traceback."""
    expected = isinstance(error, TidegateError)
    log.log(
        30 if isinstance(error, RetryableError) else 40,
        "reconcile failed",
        reconciler=reconciler,
        key=str(key),
        error=f"{type(error).__name__}: {error}",
        again_in_seconds=round(delay.total_seconds(), 3),
        exc_info=None if expected else error,
    )

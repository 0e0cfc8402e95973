"""Drives the reconcilers: changes of the cache feed all work queues, workers take keys, failures back off."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

import structlog

from tidegate.controllers.reconcile.reconciler import Reconciler
from tidegate.controllers.reconcile.wakes import Wakes
from tidegate.controllers.reconcile.work_queue import WorkQueue
from tidegate.errors import RetryableError, StaleVersion, TidegateError
from tidegate.model.kinds import kind_name
from tidegate.model.resource import Ref, Resource
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import Change
from tidegate.state.backoff import Backoff
from tidegate.state.server_state import ServerState

log = structlog.get_logger(__name__)

# So many are announced again before others have a turn.
_AT_ONCE = 256


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

    state: ServerState
    clock: Clock
    random: Random
    reconcilers: Sequence[Reconciler]
    wakes: Wakes = field(default_factory=Wakes)
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
            self.wakes.open(reconciler.name, lane.queue)
            for _ in range(reconciler.workers):
                self._tasks.append(asyncio.create_task(self._work(lane), name=reconciler.name))
        self.state.store.listeners.append(self._hear)
        self._tasks.append(asyncio.create_task(self._announce_all(), name="announce"))
        self.state.start()
        self._tasks.append(asyncio.create_task(self._resync(), name="resync"))

    async def stop(self) -> None:
        """End all workers now. A reconcile that is cut short heals on the next start, as after a crash."""
        self._stopping = True
        if self._hear in self.state.store.listeners:
            self.state.store.listeners.remove(self._hear)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.state.stop()
        self.wakes.close()
        for lane in self._lanes:
            lane.queue.close()
        self._tasks.clear()
        self._lanes.clear()

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

    async def _resync(self) -> None:
        while True:
            await self.clock.sleep(self.resync)
            await self._announce_all()

    async def _announce_all(self) -> None:
        """Everything that is held; nothing is asked of the store."""
        for kind in self._kinds():
            for number, resource in enumerate(self.state.store.cache(kind)):
                self._announce(resource)
                if number % _AT_ONCE == 0:
                    await asyncio.sleep(0)

    def _hear(self, _change: Change, resource: Resource) -> None:
        self._announce(resource)

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
        return list(kinds.values())


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

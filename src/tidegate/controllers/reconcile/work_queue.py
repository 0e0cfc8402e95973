"""Keys that want to be looked at: each at most once in line, never two workers on the same one."""

import asyncio
import heapq
from collections import OrderedDict
from datetime import timedelta
from itertools import count

from tidegate.model.resource import Ref
from tidegate.ports.clock import Clock

# Less than any clock can tell apart: what is due within it is due now.
_INSTANT_SECONDS = 1e-6


class WorkQueue:
    """First come, first served, de-duplicated.

    A key that is added while somebody works on it is worked on once more afterwards, so that no event is missed; a
    key that is added ten times while it waits is worked on once. Used from one event loop only.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ready: OrderedDict[Ref, None] = OrderedDict()
        self._working: set[Ref] = set()
        self._again: set[Ref] = set()
        self._something = asyncio.Event()
        # One timer for all delayed keys, however many: every finished backup waits here for its expiry.
        self._due: dict[Ref, float] = {}
        self._alarms: list[tuple[float, int, Ref]] = []
        self._order = count()
        self._timer: asyncio.Task[None] | None = None

    def add(self, key: Ref) -> None:
        """Look at it as soon as a worker is free."""
        if key in self._working:
            self._again.add(key)
        else:
            self._ready[key] = None
            self._something.set()

    def add_after(self, key: Ref, delay: timedelta) -> None:
        """Look at it after `delay`, or earlier if it was already due earlier."""
        due = self._clock.monotonic() + delay.total_seconds()
        if self._due.get(key, due + 1) <= due:
            return
        self._due[key] = due
        heapq.heappush(self._alarms, (due, next(self._order), key))
        if self._alarms[0][2] == key:
            self._stop_timer()
            self._timer = asyncio.create_task(self._ring())

    async def take(self) -> Ref:
        """The next key; it stays with the caller until `done`."""
        while not self._ready:
            self._something.clear()
            await self._something.wait()
        key, _ = self._ready.popitem(last=False)
        self._working.add(key)
        return key

    def done(self, key: Ref) -> None:
        """The caller is finished with it, well or not."""
        self._working.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def close(self) -> None:
        """Forget what was planned for later."""
        self._stop_timer()
        self._due.clear()
        self._alarms.clear()

    def __len__(self) -> int:
        """Keys that wait for a worker now."""
        return len(self._ready)

    async def _ring(self) -> None:
        while self._alarms:
            due, _, key = self._alarms[0]
            superseded = self._due.get(key) != due
            left = due - self._clock.monotonic()
            if not superseded and left > _INSTANT_SECONDS:
                await self._clock.sleep(timedelta(seconds=left))
                continue
            heapq.heappop(self._alarms)
            if not superseded:
                del self._due[key]
                self.add(key)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

"""Keys that want to be looked at: each at most once in line, never two workers on the same one."""

import asyncio
from collections import OrderedDict
from datetime import timedelta

from tidegate.model.resource import Ref
from tidegate.ports.clock import Clock


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
        self._later: dict[Ref, tuple[float, asyncio.Task[None]]] = {}
        self._something = asyncio.Event()

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
        planned = self._later.get(key)
        if planned is not None:
            if planned[0] <= due:
                return
            planned[1].cancel()
        self._later[key] = (due, asyncio.create_task(self._add_when_due(key, delay)))

    async def _add_when_due(self, key: Ref, delay: timedelta) -> None:
        await self._clock.sleep(delay)
        del self._later[key]
        self.add(key)

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
        for _, task in self._later.values():
            task.cancel()
        self._later.clear()

    def __len__(self) -> int:
        """Keys that wait for a worker now."""
        return len(self._ready)

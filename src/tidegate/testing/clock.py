"""A clock that moves when told, so that tests never wait."""

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from typing import Any

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


class ManualClock:
    """Keeps the Clock's promise; time passes only in `advance`, which wakes sleepers in the order of their times."""

    def __init__(self, start: datetime = BEGINNING) -> None:
        self._start = start
        self._now = start
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._count = 0
        self._asleep = asyncio.Event()

    def now(self) -> datetime:
        """The time that the test set."""
        return self._now

    def monotonic(self) -> float:
        """Seconds since the test began."""
        return (self._now - self._start).total_seconds()

    async def sleep(self, delay: timedelta) -> None:
        """Wait until `advance` has gone far enough."""
        if delay <= timedelta():
            await asyncio.sleep(0)
            return
        self._count += 1
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + delay, self._count, woken))
        self._asleep.set()
        await woken

    async def until_slept(self, *, unless: asyncio.Future[Any]) -> None:
        """Wait until something sleeps here, or `unless` is done: what works in a thread takes its own time."""
        if not self._sleepers:
            asleep: asyncio.Future[Any] = asyncio.ensure_future(self._asleep.wait())
            await asyncio.wait({asleep, unless}, return_when=asyncio.FIRST_COMPLETED)
            asleep.cancel()

    async def advance(self, delay: timedelta) -> None:
        """Let `delay` pass; each sleeper sees exactly its own time when it wakes."""
        goal = self._now + delay
        while self._sleepers and self._sleepers[0][0] <= goal:
            due, _, woken = heapq.heappop(self._sleepers)
            if not self._sleepers:
                self._asleep.clear()
            self._now = max(self._now, due)
            if not woken.done():
                woken.set_result(None)
            await settle()
        self._now = goal
        await settle()


class RushingClock:
    """Keeps the Clock's promise where nothing advances it: every look and every sleep makes its time pass at once."""

    def __init__(self, start: datetime = BEGINNING) -> None:
        self._now = start
        self._seconds = 0.0

    def now(self) -> datetime:
        """The beginning, and the sleeps since then."""
        return self._now

    def monotonic(self) -> float:
        """Half a second more at each look: what waits until a deadline gets there."""
        self._seconds += 0.5
        return self._seconds

    async def sleep(self, delay: timedelta) -> None:
        """Let `delay` pass without waiting."""
        self._now += max(delay, timedelta())
        self._seconds += max(delay.total_seconds(), 0)
        await asyncio.sleep(0)


async def settle(turns: int = 20) -> None:
    """Give every task that can go on the chance to: for code that only waits on loop callbacks, not on threads."""
    for _ in range(turns):
        await asyncio.sleep(0)

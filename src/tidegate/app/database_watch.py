"""Notices within seconds that the server's database is damaged, and has the server stop accepting work."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from tidegate.ports.clock import Clock
from tidegate.resources.sqlite.guard import DatabaseGuard

log = structlog.get_logger(__name__)

LOOK_EVERY = timedelta(seconds=2)
# A check of the whole content after the file was written to takes at most this part of one core.
_PAUSE_PER_CHECK = 30


@dataclass
class DatabaseWatch:
    """Looks at the files every two seconds, and at every page at the start and after the file was written to."""

    guard: DatabaseGuard
    clock: Clock
    stop_work: Callable[[], Awaitable[None]]

    async def run(self) -> None:
        """Return once damage was found and all work has stopped."""
        changed_at, not_before = -1, self.clock.monotonic()
        while self.guard.damage is None:
            now = self.guard.changed_at()
            if self.guard.in_doubt or (now != changed_at and self.clock.monotonic() >= not_before):
                changed_at, not_before = now, await self._look_at_content()
            self.guard.look_at_files()
            if self.guard.is_sound:
                await self.clock.sleep(LOOK_EVERY)
        log.error("database damaged", reason=self.guard.damage.message, way_back=self.guard.damage.hint)
        await self.stop_work()
        log.warning("all work has stopped, because of the damaged database")

    async def _look_at_content(self) -> float:
        """Return when the next look is allowed."""
        began = self.clock.monotonic()
        await asyncio.to_thread(self.guard.look_at_content)
        ended = self.clock.monotonic()
        return ended + (ended - began) * _PAUSE_PER_CHECK

"""Time comes in at the door."""

from datetime import datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """The only source of time outside `app/`. Tests pass a manual one that moves when told."""

    def now(self) -> datetime:
        """The time of day, UTC-aware."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run back; only differences mean something."""
        ...

    async def sleep(self, delay: timedelta) -> None:
        """Return once `delay` has passed on this clock. Zero or less still yields to other tasks once."""
        ...

"""The real clock: the only place that reads the machine's time."""

import time
from datetime import UTC, datetime, timedelta

# Python counts nanoseconds since 1970 in 63 bits; from here on it fails to load its own library.
LAST_DAY = datetime(2262, 4, 11, tzinfo=UTC)


class SystemClock:
    """Keeps the Clock's promise with the machine's clocks."""

    def now(self) -> datetime:
        """The time of day, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never run back."""
        return time.monotonic()

    async def sleep(self, delay: timedelta) -> None:
        """Really wait."""
        import asyncio  # here: commands that never sleep start quicker without it

        await asyncio.sleep(max(0.0, delay.total_seconds()))

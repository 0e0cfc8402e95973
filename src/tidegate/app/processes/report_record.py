"""What one mover has said, as far as it still matters, for readers that come at any time."""

import asyncio
from collections.abc import AsyncIterator

from tidegate.ports.mover_host import Report


class ReportRecord:
    """Keeps the newest report of each kind. A slow reader misses old progress and nothing else."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[int, Report]] = {}
        self._count = 0
        self._news = asyncio.Event()
        self.ended = False
        """Whether the last words are known; what is said after them does not count."""

    def note(self, report: Report) -> None:
        """It says this now."""
        if self.ended:
            return
        self.ended = report.type in {"result", "error"}
        self._count += 1
        self._newest[report.type] = (self._count, report)
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def read(self) -> AsyncIterator[Report]:
        """What it said, in order, then what it says, to its last words."""
        seen = 0
        while True:
            for number, report in sorted(self._newest.values(), key=lambda noted: noted[0]):
                if number <= seen:
                    continue
                seen = number
                yield report
                if report.type in {"result", "error"}:
                    return
            if seen == self._count:
                await self._news.wait()

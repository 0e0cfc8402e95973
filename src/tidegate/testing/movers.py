"""Movers that do what the test says, when it says so."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from tidegate.errors import WorkCancelled
from tidegate.model.mover_job import ErrorReport, ProgressReport, ResultReport
from tidegate.model.transfer_progress import TransferProgress, TransferResult
from tidegate.ports.mover_host import Job, Mover, Report


@dataclass(eq=False)
class FakeMover:
    """One job; it ends when the test says how."""

    job: Job
    cancelled: bool = False
    stubborn: bool = False
    """It goes on when it is told to stop, until the test ends it."""
    _said: asyncio.Queue[Report] = field(default_factory=asyncio.Queue)

    async def reports(self) -> AsyncIterator[Report]:
        """What the test lets it say."""
        while True:
            report = await self._said.get()
            yield report
            if not isinstance(report, ProgressReport):
                return

    def cancel(self) -> None:
        """A good mover stops at once."""
        if not self.cancelled:
            self.cancelled = True
            if not self.stubborn:
                self.fail(WorkCancelled.code, "cancelled")

    def progress(self, bytes_done: int, total_bytes: int) -> None:
        """Say how far it is."""
        report = TransferProgress(stage="uploading", bytes_done=bytes_done, total_bytes=total_bytes)
        self._said.put_nowait(ProgressReport(progress=report))

    def finish(self, **result: object) -> None:
        """Say that it is done."""
        self._said.put_nowait(ResultReport(result=TransferResult().replace(**{"url": "file:///s", **result})))

    def fail(self, code: str, message: str) -> None:
        """Say that it is not."""
        self._said.put_nowait(ErrorReport(code=code, message=message))


@dataclass
class FakeMovers:
    """Keeps the MoverHost's promise without processes. With `obliging`, every job succeeds at once."""

    obliging: bool = False
    started: list[FakeMover] = field(default_factory=list)

    async def start(self, job: Job) -> Mover:
        """Note the job."""
        mover = FakeMover(job)
        self.started.append(mover)
        if self.obliging:
            mover.finish(size=1)
        return mover

    async def close(self) -> None:
        """Cancel what runs, and make sure of it."""
        for mover in self.started:
            mover.cancel()
            if mover.stubborn:
                mover.fail(WorkCancelled.code, "killed")

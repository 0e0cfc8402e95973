"""Movers that do what the test says, when it says so."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from tidegate.errors import WorkCancelled
from tidegate.model.transfers.mover_job import (
    ErrorReport,
    ProgressReport,
    ReadyReport,
    RemoveJob,
    ResultReport,
    UploadJob,
)
from tidegate.model.transfers.transfer_progress import TransferProgress, TransferResult
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.ports.mover_host import Job, Mover, Report


@dataclass(eq=False)
class FakeMover:
    """One job; it ends when the test says how."""

    job: Job
    lock: str = ""
    cancelled: bool = False
    stubborn: bool = False
    """It goes on when it is told to stop, until the test ends it."""
    gone: bool = False
    """It was let go: bytes would move."""
    on_go: Callable[["FakeMover"], None] = lambda _mover: None
    bandwidth: list[tuple[int | None, int | None]] = field(default_factory=list)
    """What it was told, in order."""
    _said: asyncio.Queue[Report] = field(default_factory=asyncio.Queue)

    async def reports(self) -> AsyncIterator[Report]:
        """What the test lets it say."""
        while True:
            report = await self._said.get()
            yield report
            if not isinstance(report, ReadyReport | ProgressReport):
                return

    def go(self) -> None:
        """It moves from now on."""
        if not self.gone:
            self.gone = True
            self.on_go(self)

    def tell_bandwidth(self, *, upload: int | None, download: int | None) -> None:
        """Note it."""
        self.bandwidth.append((upload, download))

    def get_ready(self, *, from_snapshot: bool = False) -> None:
        """Say that everything is open."""
        self._said.put_nowait(ReadyReport(from_snapshot=from_snapshot))

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
    """Keeps the MoverHost's promise without processes. With `obliging`, every job succeeds as soon as it may move."""

    obliging: bool = False
    hesitant: bool = False
    """Movers get ready when the test says so; else at once."""
    snapshots: bool = False
    """Uploads of images read a snapshot, as where the file system has them."""
    waiting: list[FakeMover] = field(default_factory=list)
    """Those that were made and never let go, in the order of their making."""
    started: list[FakeMover] = field(default_factory=list)
    """Those that move or moved, in the order in which they were let go; removals do not wait for that."""

    async def start(self, job: Job) -> Mover:
        """Note the job."""
        mover = FakeMover(job, on_go=self._begin)
        self.waiting.append(mover)
        if isinstance(job, RemoveJob):
            mover.go()
        elif not self.hesitant:
            image = isinstance(job, UploadJob) and job.volume_kind is VolumeKind.IMAGE
            mover.get_ready(from_snapshot=self.snapshots and image)
        return mover

    async def close(self) -> None:
        """Cancel what runs, and make sure of it."""
        for mover in [*self.waiting, *self.started]:
            mover.cancel()
            if mover.stubborn:
                mover.fail(WorkCancelled.code, "killed")

    def _begin(self, mover: FakeMover) -> None:
        self.waiting.remove(mover)
        self.started.append(mover)
        if self.obliging:
            mover.finish(size=1)

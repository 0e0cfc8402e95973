"""Movers that do what the test says, when it says so."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from tidegate.app.processes.report_record import ReportRecord
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
from tidegate.model.volumes.volume_ref import Image
from tidegate.ports.mover_host import HostedMover, Job, Orders, Report, labels_of, unknown_mover


@dataclass(eq=False)
class FakeMover:
    """One job; it ends when the test says how."""

    job: Job
    cancelled: bool = False
    stubborn: bool = False
    """It goes on when it is told to stop, until the test ends it."""
    gone: bool = False
    """It was let go: bytes would move."""
    on_go: Callable[["FakeMover"], None] = lambda _mover: None
    bandwidth: list[tuple[int | None, int | None]] = field(default_factory=list)
    """The limits that it was ordered to keep, in order, beside those in its job."""
    said: ReportRecord = field(default_factory=ReportRecord)

    @property
    def limits(self) -> tuple[int | None, int | None]:
        """Bytes per second, up and down."""
        if self.bandwidth:
            return self.bandwidth[-1]
        if isinstance(self.job, RemoveJob):
            return (None, None)
        return self.job.upload_bytes_per_second, self.job.download_bytes_per_second

    def order(self, orders: Orders) -> None:
        """Follow them at once."""
        if (orders.upload, orders.download) != self.limits:
            self.bandwidth.append((orders.upload, orders.download))
        if orders.go:
            self.go()
        if orders.cancel:
            self.cancel()

    def go(self) -> None:
        """It moves from now on."""
        if not self.gone:
            self.gone = True
            self.on_go(self)

    def cancel(self) -> None:
        """A good mover stops at once."""
        if not self.cancelled:
            self.cancelled = True
            if not self.stubborn:
                self.fail(WorkCancelled.code, "cancelled")

    def kill(self) -> None:
        """End it, however stubborn it is."""
        self.cancel()
        self.fail(WorkCancelled.code, "killed")

    def get_ready(self, *, from_snapshot: bool = False) -> None:
        """Say that everything is open."""
        self.said.note(ReadyReport(from_snapshot=from_snapshot))

    def progress(self, bytes_done: int, total_bytes: int) -> None:
        """Say how far it is."""
        report = TransferProgress(stage="uploading", bytes_done=bytes_done, total_bytes=total_bytes)
        self.said.note(ProgressReport(progress=report))

    def finish(self, **result: object) -> None:
        """Say that it is done."""
        self.said.note(ResultReport(result=TransferResult().replace(**{"url": "file:///s", **result})))

    def fail(self, code: str, message: str, *, lock: str = "") -> None:
        """Say that it is not."""
        self.said.note(ErrorReport(code=code, message=message, lock=lock))


@dataclass
class FakeMovers:
    """Keeps the MoverHost's promise without processes. With `obliging`, every job succeeds as soon as it may move."""

    obliging: bool = False
    hesitant: bool = False
    """Movers get ready when the test says so; else at once."""
    snapshots: bool = False
    """Uploads of images read a snapshot, as where the file system has them."""
    lock: str = ""
    """The lock that its movers take from now on."""
    outlives_server: bool = field(default=False, init=False)
    waiting: list[FakeMover] = field(default_factory=list)
    """Those that were made and never let go, in the order of their making."""
    started: list[FakeMover] = field(default_factory=list)
    """Those that move or moved, in the order in which they were let go; removals do not wait for that."""
    _named: dict[str, tuple[HostedMover, FakeMover]] = field(default_factory=dict)

    async def ensure(self, name: str, node: str, job: Job) -> HostedMover:
        """Note the job."""
        if name not in self._named:
            job = job.replace(lock=self.lock)
            self._named[name] = labels_of(name, node, job), self._begun(job)
        return self._named[name][0]

    async def list(self) -> Sequence[HostedMover]:
        """All that were not stopped."""
        return [label for label, _ in self._named.values()]

    def adopt(self, name: str) -> AsyncIterator[Report]:
        """What the test lets it say."""
        return self._named[name][1].said.read() if name in self._named else unknown_mover(name)

    def order(self, name: str, orders: Orders) -> None:
        """Have it follow them."""
        if name in self._named:
            self._named[name][1].order(orders)

    async def stop(self, name: str) -> None:
        """End it at once."""
        _, mover = self._named.pop(name, (None, None))
        if mover is not None and not mover.said.ended:
            mover.kill()

    async def close(self) -> None:
        """Cancel what runs, and make sure of it."""
        for mover in [*self.waiting, *self.started]:
            mover.kill()
        self._named.clear()

    def _begun(self, job: Job) -> FakeMover:
        mover = FakeMover(job, on_go=self._begin)
        self.waiting.append(mover)
        if isinstance(job, RemoveJob):
            mover.go()
        elif not self.hesitant:
            image = isinstance(job, UploadJob) and isinstance(job.ref, Image)
            mover.get_ready(from_snapshot=self.snapshots and image)
        return mover

    def _begin(self, mover: FakeMover) -> None:
        self.waiting.remove(mover)
        self.started.append(mover)
        if self.obliging:
            mover.finish(size=1)

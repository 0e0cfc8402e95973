"""Jobs carried out in the test's own process, on real volumes, with time that does not pass."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tidegate.datapath.work import carry_out
from tidegate.datapath.workshop import Workshop
from tidegate.errors import error_classes
from tidegate.format.blocks.encryption_key import KEY
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.transfers.mover_job import (
    DownloadJob,
    ErrorReport,
    ProgressReport,
    ReadyReport,
    RemoveJob,
    ResultReport,
    TargetAccess,
    UploadJob,
)
from tidegate.model.transfers.transfer_progress import TransferResult
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.ports.bandwidth import BandwidthLimits
from tidegate.ports.mover_host import Job, Report
from tidegate.ports.object_store import ObjectStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.volumes.open import open_sink, open_source

OnReady = Callable[[ReadyReport], None]
TARGET = TargetAccess(url="file:///store")
_LONG_SECONDS = 60
# One row for all benches: two movers never share an identity.
_NEW_ID = counting_ids("lock")


def no_wait(seconds: float, stop: threading.Event) -> bool:
    """Short waits are over at once; the long ones of a lock's keeper end only when the lock is released."""
    return stop.wait() if seconds >= _LONG_SECONDS else stop.is_set()


class MoverBench:
    """Uploads, downloads and removes in one store. A failed job raises its error, as if there were no mover."""

    def __init__(
        self,
        objects: ObjectStore,
        *,
        clock: ManualClock | None = None,
        volume: str = "shop.db",
        key: str | None = None,
        bandwidth: BandwidthLimits | None = None,
    ) -> None:
        self.objects = objects
        self.clock = clock or ManualClock()
        self.volume = volume
        self.target = TARGET.replace(credentials={KEY: key}) if key else TARGET
        self.on_ready: OnReady | None = None
        self.reports: list[Report] = []
        self.cancelled = threading.Event()
        self.shop = Workshop(
            open_store=lambda _: objects,
            open_source=open_source,
            open_sink=open_sink,
            clock=self.clock,
            new_id=_NEW_ID,
            wait=no_wait,
            bandwidth=bandwidth,
        )

    def upload(
        self,
        path: Path,
        backup: str = "backup-1",
        kind: VolumeKind = VolumeKind.IMAGE,
        **asked: Any,  # noqa: ANN401  checked by the job
    ) -> TransferResult:
        """Back `path` up; `asked` is any other field of the job."""
        job = UploadJob(
            target=self.target,
            store_volume=self.volume,
            store_backup=backup,
            volume_kind=kind,
            path=str(path),
            labels={"tidegate.dev/volume": "db"},
            snapshot_name=f"snapshot-of-{backup}",
            started_at=self.clock.now(),
            **asked,
        )
        return self.do(job)

    def download(
        self,
        path: Path,
        backup: str = "backup-1",
        kind: VolumeKind = VolumeKind.IMAGE,
        existing_data: ExistingData = ExistingData.NONE,
        *,
        onto: str | None = None,
        includes: tuple[str, ...] = (),
        sparse: bool = True,
        read_back: bool = False,
        memory_bytes: int | None = None,
    ) -> TransferResult:
        """Restore to `path`."""
        job = DownloadJob(
            target=self.target,
            store_volume=self.volume,
            store_backup=backup,
            volume_kind=kind,
            path=str(path),
            existing_data=existing_data,
            onto=onto,
            includes=includes,
            sparse=sparse,
            memory_bytes=memory_bytes,
            read_back=read_back,
        )
        return self.do(job)

    def remove(self, *backups: str, only_unfinished: bool = False) -> TransferResult:
        """Remove backups."""
        return self.do(
            RemoveJob(
                target=self.target, store_volume=self.volume, store_backups=backups, only_unfinished=only_unfinished
            )
        )

    def hear(self, report: Report) -> None:
        """Every word of the mover; a test may listen by overriding it."""
        self.reports.append(report)

    def do(self, job: Job) -> TransferResult:
        """Carry any job out; what it said is in `reports`."""
        self.reports = []
        carry_out(job, self.shop, report=self.hear, cancelled=self.cancelled, on_ready=self.on_ready)
        *before, last = self.reports
        if not all(isinstance(report, ProgressReport) for report in before):
            raise AssertionError("a mover says a result or an error once")
        match last:
            case ResultReport():
                return last.result
            case ErrorReport():
                raise error_classes().get(last.code, RuntimeError)(last.message)
            case ReadyReport() | ProgressReport():
                raise AssertionError("a mover's last words are a result or an error")

"""Carrying out one job of a mover, from its description to its last words."""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

from tidegate.datapath.download import StoredContent, open_backup
from tidegate.datapath.index_keeping import keep_index
from tidegate.datapath.locks import VolumeLock
from tidegate.datapath.progress import Progress
from tidegate.datapath.remove import Removal
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.datapath.upload import Footing, FootingLost, Upload
from tidegate.datapath.workshop import Workshop
from tidegate.errors import TidegateError, Unauthenticated, WorkCancelled
from tidegate.format.backup_url import BackupUrl
from tidegate.format.lock_file import LockType
from tidegate.format.packed_tree import shown_size
from tidegate.model.mover_job import DownloadJob, ErrorReport, RemoveJob, ResultReport, UploadJob
from tidegate.model.transfer_progress import TransferResult
from tidegate.model.volume_kind import VolumeKind
from tidegate.ports.mover_host import Job, Report
from tidegate.ports.volume_data import VolumeSource

INTERNAL_ERROR = "InternalError"


def carry_out(job: Job, shop: Workshop, *, report: Callable[[Report], None], cancelled: threading.Event) -> None:
    """Do the job. `report` hears of progress, then exactly one ResultReport or ErrorReport, whatever happens.

    Setting `cancelled` ends it soon, with an ErrorReport of code WorkCancelled unless it was done already.
    """
    work = _Work(shop, Progress(report, shop.clock), cancelled)
    try:
        result = work.do(job)
    except TidegateError as error:
        report(ErrorReport(code=error.code, message=error.message, hint=error.hint))
    except Exception as error:  # noqa: BLE001  the last words of a mover with a bug are what the bug report needs
        report(ErrorReport(code=INTERNAL_ERROR, message=f"{type(error).__name__}: {error}"))
    else:
        report(ResultReport(result=result))


@dataclass(frozen=True)
class _Work:
    shop: Workshop
    progress: Progress
    cancelled: threading.Event

    def do(self, job: Job) -> TransferResult:
        self._still_wanted()
        match job:
            case UploadJob():
                return self._upload(job)
            case DownloadJob():
                return self._download(job)
            case RemoveJob():
                return self._remove(job)

    def _upload(self, job: UploadJob) -> TransferResult:
        volume = self._volume(job)
        with contextlib.ExitStack() as stack:
            lock = self._lock(volume, LockType.BACKUP_OR_RESTORE)
            upload = Upload(
                job,
                volume,
                self.shop.clock,
                self.progress,
                lambda: self._checkpoint(lock),
                lock.confirm,
                self.shop.kept_maps,
            )
            earlier = upload.finished()
            if earlier is not None and upload.settled(earlier):
                return upload.result(earlier)
            if earlier is not None:
                stack.enter_context(lock)
                upload.settle(earlier)
                return upload.result(earlier)
            footing = upload.footing()
            # Before the lock: a volume that cannot be read is told at once, and nobody waits for it.
            source = self._source(job, volume, footing, stack)
            stack.enter_context(lock)
            try:
                return upload.run(source, footing)
            except FootingLost:
                footing = Footing(upload.footing().block_size, None)
                return upload.run(self._source(job, volume, footing, stack), footing)

    def _source(
        self, job: UploadJob, volume: StoredVolume, footing: Footing, stack: contextlib.ExitStack
    ) -> VolumeSource:
        self.progress.enter("scanning")
        base = None
        if footing.base is not None and job.volume_kind is VolumeKind.DIRECTORY:
            size = footing.base.true_size or 0
            base = stack.enter_context(StoredContent(volume, footing.base, size=size))
        return stack.enter_context(
            self.shop.open_source(
                job,
                block_size=footing.block_size,
                base=base,
                settled_before=min(job.started_at, self.shop.clock.now()),
                still_wanted=self._still_wanted,
            )
        )

    def _download(self, job: DownloadJob) -> TransferResult:
        volume = self._volume(job)
        sink = self.shop.open_sink(job)
        with contextlib.ExitStack() as stack:
            warnings = self._lock_if_allowed(volume, stack)
            content = stack.enter_context(open_backup(volume, job.store_backup, onto=job.onto))
            # How much a few paths are is known only once they are here.
            total = None if job.includes else len(content.block_offsets) * content.block_size
            self.progress.enter("downloading", total_bytes=total)
            warnings.extend(sink.receive(content, on_bytes=self._on_bytes))
            return TransferResult(
                url=BackupUrl(job.target.url, job.store_volume, job.store_backup).encode(),
                size=shown_size(content.cfg_parameters, image_size=content.size),
                warnings=tuple(warnings),
            )

    def _remove(self, job: RemoveJob) -> TransferResult:
        volume = self._volume(job)
        lock = self._lock(volume, LockType.DELETION)
        removal = Removal(job, volume, self.progress, lambda: self._checkpoint(lock), lock.confirm)
        if removal.nothing_there():
            return TransferResult()
        with lock:
            result = removal.run()
            return result.replace(warnings=(*result.warnings, *keep_index(volume, self.shop.clock)))

    def _volume(self, job: Job) -> StoredVolume:
        key = self.shop.find_key(job.target.credentials)
        return StoredVolume(self.shop.open_store(job.target), job.store_volume, key=key)

    def _lock(self, volume: StoredVolume, lock_type: LockType) -> VolumeLock:
        return VolumeLock(
            volume.objects,
            volume.name,
            lock_type,
            shop=self.shop,
            cancelled=self.cancelled,
            on_wait=lambda reason: self.progress.keep(f"waiting: {reason}"),
        )

    def _lock_if_allowed(self, volume: StoredVolume, stack: contextlib.ExitStack) -> list[str]:
        """A store that may only be read must still be good for a restore; nobody of ours deletes from it."""
        try:
            stack.enter_context(self._lock(volume, LockType.BACKUP_OR_RESTORE))
        except Unauthenticated as error:
            return [f"the backup was read without a lock, because the store may not be written to: {error}"]
        return []

    def _on_bytes(self, count: int) -> None:
        self._still_wanted()
        self.progress.add(count)

    def _checkpoint(self, lock: VolumeLock) -> None:
        self._still_wanted()
        lock.check()

    def _still_wanted(self) -> None:
        if self.cancelled.is_set():
            raise WorkCancelled("the work was cancelled")

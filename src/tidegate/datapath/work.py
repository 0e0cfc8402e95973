"""Carrying out one job of a mover, from its description to its last words."""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

from tidegate.datapath.downloads.download import StoredContent, open_backup
from tidegate.datapath.locks import VolumeLock, drop_locks
from tidegate.datapath.maintenance.remove import Removal
from tidegate.datapath.maintenance.remove_volume import VolumeRemoval
from tidegate.datapath.progress import Progress
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.datapath.uploads.index_keeping import keep_index
from tidegate.datapath.uploads.upload import Footing, FootingLost, Upload
from tidegate.datapath.workshop import Workshop
from tidegate.errors import NoSpace, NotFound, StoreLockHeld, TidegateError, Unauthenticated, WorkCancelled
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE
from tidegate.format.cfgs.backup_url import BackupUrl
from tidegate.format.cfgs.lock_file import LockType
from tidegate.format.cfgs.paths import backup_cfg_key
from tidegate.format.trees.packed_tree import shown_size
from tidegate.model.transfers.mover_job import DownloadJob, ErrorReport, ReadyReport, RemoveJob, ResultReport, UploadJob
from tidegate.model.transfers.transfer_progress import TransferResult
from tidegate.ports.mover_host import Job, Report
from tidegate.ports.volume_data import NO_SNAPSHOT, VolumeSource

INTERNAL_ERROR = "InternalError"
OUT_OF_MEMORY = "OutOfMemory"
_TOO_LITTLE_MEMORY = "more memory was needed than this process may use (for movers: data-mover-memory-limit)"


def carry_out(
    job: Job,
    shop: Workshop,
    *,
    report: Callable[[Report], None],
    cancelled: threading.Event,
    on_ready: Callable[[ReadyReport], None] | None = None,
) -> None:
    """Do the job. `report` hears of progress, then exactly one ResultReport or ErrorReport, whatever happens.

    Setting `cancelled` ends it soon, with an ErrorReport of code WorkCancelled unless it was done already. `on_ready`
    is called once everything is open and before anything moves; the work goes on when it returns. A removal has nothing
    to open.
    """
    work = _Work(shop, Progress(report, shop.clock), cancelled, on_ready)
    try:
        result = work.do(job)
    except StoreLockHeld as error:
        report(ErrorReport(code=error.code, message=error.message, hint=error.hint, lock=error.lock))
    except TidegateError as error:
        report(ErrorReport(code=error.code, message=error.message, hint=error.hint))
    except MemoryError:
        report(ErrorReport(code=OUT_OF_MEMORY, message=_TOO_LITTLE_MEMORY))
    except Exception as error:  # noqa: BLE001  the last words of a mover with a bug are what the bug report needs
        report(ErrorReport(code=INTERNAL_ERROR, message=f"{type(error).__name__}: {error}"))
    else:
        report(ResultReport(result=result))


@dataclass(frozen=True)
class _Work:
    shop: Workshop
    progress: Progress
    cancelled: threading.Event
    on_ready: Callable[[ReadyReport], None] | None

    def do(self, job: Job) -> TransferResult:
        self._still_wanted()
        self._limit_bandwidth(job)
        match job:
            case UploadJob():
                return self._upload(job)
            case DownloadJob():
                return self._download(job)
            case RemoveJob():
                return self._remove(job)

    def _upload(self, job: UploadJob) -> TransferResult:
        volume = self._volume(job)
        if job.volume_kind.is_tree and self.on_ready:
            job = self._ready_for_tree(job, volume)
        with contextlib.ExitStack() as stack:
            lock = self._lock(job, volume, LockType.BACKUP_OR_RESTORE)
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
                stack.enter_context(self._in_the_right_store(job, volume, lock))
                upload.settle(earlier)
                return upload.result(earlier)
            footing = upload.footing()
            # Before the lock: a volume that cannot be read is told at once, and nobody waits for it.
            source = self._source(job, volume, footing, stack)
            from_snapshot = source.snapshot != NO_SNAPSHOT
            if from_snapshot:
                # Before it is ready: from then on others rely on the snapshot, and it could not begin anew any more.
                stack.enter_context(self._in_the_right_store(job, volume, lock))
            if not job.volume_kind.is_tree:
                self._ready(from_snapshot=from_snapshot)
            if not from_snapshot:
                stack.enter_context(self._in_the_right_store(job, volume, lock))
            try:
                return upload.run(source, footing)
            except FootingLost:
                footing = Footing(upload.footing().block_size, None)
                again = source if from_snapshot else self._source(job, volume, footing, stack)
                return upload.run(again, footing)

    def _ready_for_tree(self, job: UploadJob, volume: StoredVolume) -> UploadJob:
        """A tree is walked, and what it builds on is chosen, when its turn has come: until then both may change.

        Before that it is only opened, and the store asked whether it answers.
        """
        still_wanted = self._still_wanted
        now = self.shop.clock.now()
        self.shop.open_source(
            job, block_size=DEFAULT_BLOCK_SIZE, base=None, settled_before=now, still_wanted=still_wanted
        ).__exit__(None, None, None)
        with contextlib.suppress(NotFound):
            volume.volume_cfg()
        self._ready()
        return job.replace(started_at=max(job.started_at, self.shop.clock.now()))

    def _ready(self, *, from_snapshot: bool = False) -> None:
        if self.on_ready:
            self.on_ready(ReadyReport(from_snapshot=from_snapshot))
            self._still_wanted()

    def _source(
        self, job: UploadJob, volume: StoredVolume, footing: Footing, stack: contextlib.ExitStack
    ) -> VolumeSource:
        self.progress.enter("scanning")
        base = None
        if footing.base is not None and job.volume_kind.is_tree:
            size = footing.base.true_size or 0
            base = stack.enter_context(StoredContent(volume, footing.base, size=size, memory=job.memory_bytes))
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
        if self.on_ready:
            self._look_for_backup(job, volume)
            self._ready()
        with contextlib.ExitStack() as stack:
            warnings = self._lock_if_allowed(job, volume, stack)
            content = stack.enter_context(open_backup(volume, job.store_backup, onto=job.onto, memory=job.memory_bytes))
            # How much a few paths are is known only once they are here.
            whole = shown_size(content.cfg_parameters, image_size=content.size)
            work = len(content.block_offsets) * content.block_size * (2 if job.read_back else 1)
            self.progress.enter(
                "downloading", total_bytes=None if job.includes else work, size=None if job.includes else whole
            )
            warnings.extend(sink.receive(content, on_bytes=self._on_bytes))
            if job.read_back:
                self.progress.go_on_with("reading back")
                sink.read_back(content, on_bytes=self._on_bytes)
            return TransferResult(
                url=BackupUrl(job.target.url, job.store_volume, job.store_backup).encode(),
                size=whole if sink.chosen_bytes is None else sink.chosen_bytes,
                warnings=tuple(warnings),
            )

    def _look_for_backup(self, job: DownloadJob, volume: StoredVolume) -> None:
        """Told before anyone waits for it; the cfg itself, which may be large, is read when its turn has come."""
        try:
            volume.objects.head(backup_cfg_key(volume.name, job.store_backup))
        except NotFound as error:
            raise NotFound(f"cannot find backup {job.store_backup} of volume {volume.name} in the store") from error

    def _remove(self, job: RemoveJob) -> TransferResult:
        volume = self._volume(job)
        if job.only_dead_locks:
            drop_locks(volume.objects, volume.name, job.dead_locks)
            return TransferResult()
        lock = self._lock(job, volume, LockType.DELETION)
        if job.whole_volume:
            return self._remove_volume(volume, lock)
        removal = Removal(job, volume, self.progress, lambda: self._checkpoint(lock), lock.confirm)
        if removal.nothing_there():
            return TransferResult()
        with lock:
            result = removal.run()
            return result.replace(warnings=(*result.warnings, *keep_index(volume, self.shop.clock)))

    def _remove_volume(self, volume: StoredVolume, lock: VolumeLock) -> TransferResult:
        removal = VolumeRemoval(
            volume.objects, volume.name, self.progress, lambda: self._checkpoint(lock), lock.confirm
        )
        result = TransferResult()
        if not removal.nothing_there():
            with lock:
                result = removal.run()
        removal.clear_directories()
        return result

    def _volume(self, job: Job) -> StoredVolume:
        key = self.shop.find_key(job.target.credentials)
        objects = self.shop.open_store(job.target)
        if self.shop.bandwidth is not None:
            objects = self.shop.bandwidth.limited(objects, self.cancelled)
        return StoredVolume(objects, job.store_volume, key=key)

    def _limit_bandwidth(self, job: Job) -> None:
        if self.shop.bandwidth is not None and not isinstance(job, RemoveJob):
            self.shop.bandwidth.set(upload=job.upload_bytes_per_second, download=job.download_bytes_per_second)

    def _lock(self, job: Job, volume: StoredVolume, lock_type: LockType) -> VolumeLock:
        return VolumeLock(
            volume.objects,
            volume.name,
            lock_type,
            shop=self.shop,
            cancelled=self.cancelled,
            patient=False,
            known=job,
        )

    def _in_the_right_store(self, job: Job, volume: StoredVolume, lock: VolumeLock) -> VolumeLock:
        """The lock, the first thing that is written: since the store was opened, a mover may have waited for hours."""
        self.shop.recognise(volume.objects, job.target)
        return lock

    def _lock_if_allowed(self, job: Job, volume: StoredVolume, stack: contextlib.ExitStack) -> list[str]:
        """A store that may only be read, or is full, must still be good for a restore.

        Should somebody delete the backup meanwhile, a block is missing, and the restore says so.
        """
        try:
            lock = self._lock(job, volume, LockType.BACKUP_OR_RESTORE)
            stack.enter_context(self._in_the_right_store(job, volume, lock))
        except Unauthenticated as error:
            return [f"the backup was read without a lock, because the store may not be written to: {error}"]
        except NoSpace as error:
            return [f"the backup was read without a lock, because the store is full: {error}"]
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
        self.progress.alive()

"""What a mover is told on its standard input, and what it says on its standard output.

The job comes as one JSON line (never as arguments: it may carry credentials, and `ps` shows arguments); orders may
follow (`mover_orders.py`). The mover answers with JSON lines: `ready` once everything is open and nothing was moved,
any number of progress reports, then exactly one result or error as its last words. A mover whose standard input closes
has lost its server and stops.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.plain import Plain, read_json
from tidegate.model.transfers.transfer_progress import TransferProgress, TransferResult
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.model.volumes.volume_ref import VolumeRef, volume_ref


@dataclass(frozen=True, kw_only=True)
class TargetAccess(Plain):
    """How to reach a store: all that the data path knows of a BackupTarget."""

    url: str
    credentials: dict[str, str] = field(default_factory=dict, repr=False)
    identity: str = ""
    """The store's own, as it was remembered: what has another one is not opened. Empty: none is known."""


class BackupMode(StrEnum):
    """How much is sent."""

    INCREMENTAL = "incremental"
    """Only blocks that the store does not have."""
    FULL = "full"
    """Everything, over what is there: mends blocks that the store lost or damaged."""


class CompressionChoice(StrEnum):
    """What Longhorn can read."""

    LZ4 = "lz4"
    GZIP = "gzip"
    NONE = "none"


class SnapshotWish(StrEnum):
    """Whether an image is read from a snapshot, which stays as it is while the original is written to."""

    AUTO = "auto"
    """Where the file system has them; else live, with a warning."""
    REQUIRED = "required"
    """Or not at all."""
    NEVER = "never"
    """Live, without a word unless it changes meanwhile."""


@dataclass(frozen=True, kw_only=True)
class LockKnowledge(Plain):
    """What whoever starts the mover knows of locks on the volume; a part of every job."""

    lock: str = ""
    """The name of the lock that this mover takes. Empty: it makes one."""
    dead_locks: tuple[str, ...] = ()
    """Names of locks whose owners were seen to end: they are dropped at once."""
    stale_locks: tuple[str, ...] = ()
    """Sightings (`StoreLockHeld.lock`) that are older than a lock lives: whose time is still the same is dead."""


@dataclass(frozen=True, kw_only=True)
class MovingJob(LockKnowledge):
    """What uploads and downloads have in common: a volume, and one of its volume backups."""

    target: TargetAccess
    store_volume: str
    store_backup: str
    volume_kind: VolumeKind
    path: str
    """Where the data is read from, or written to; of a claim NAMESPACE/NAME."""
    memory_bytes: int | None = None
    """What the process may use at most; buffers and threads are sized by it. Absent: the data path's own choice."""
    upload_bytes_per_second: int | None = None
    """Absent: no limit."""
    download_bytes_per_second: int | None = None
    """Absent: no limit."""

    @property
    def ref(self) -> VolumeRef:
        """The volume that is read or written."""
        return volume_ref(self.volume_kind, self.path)


@dataclass(frozen=True, kw_only=True)
class UploadJob(MovingJob):
    """Back one volume up."""

    action: Literal["upload"] = "upload"
    labels: dict[str, str] = field(default_factory=dict)
    """Written into the backup's cfg, so that people find it again by namespace and volume."""
    snapshot_name: str
    started_at: datetime
    mode: BackupMode = BackupMode.INCREMENTAL
    compression: CompressionChoice | None = None
    """For a volume that is new to the store; one that is known keeps what it has. Absent: lz4."""
    block_mib: Literal[2, 16] | None = None
    """The same for the size of blocks, in MiB. Absent: 2."""
    excludes: tuple[str, ...] = ()
    """Globs of paths in a tree that are left out."""
    snapshot: SnapshotWish = SnapshotWish.AUTO


@dataclass(frozen=True, kw_only=True)
class DownloadJob(MovingJob):
    """Bring one volume back."""

    action: Literal["download"] = "download"
    existing_data: ExistingData = ExistingData.NONE
    onto: str | None = None
    """A backup of the same volume that the destination holds already: only what differs from it is written."""
    includes: tuple[str, ...] = ()
    """Globs of paths in a tree; only these come back. Empty: all."""
    force: bool = False
    """Allows what cannot be undone: writing onto a device, and onto what is mounted or in use."""
    sparse: bool = True
    """Whether zeros become holes in an image; else every byte of it takes space."""
    read_back: bool = False
    """Whether everything is read from the disk again and compared with the backup, once it is written."""
    keep_out: tuple[KeptPlace, ...] = ()
    """Directories into which, over which and around which nothing is written."""


@dataclass(frozen=True, kw_only=True)
class RemoveJob(LockKnowledge):
    """Remove volume backups from the store: finished, unfinished or never begun. Repeating it is harmless."""

    action: Literal["remove"] = "remove"
    target: TargetAccess
    store_volume: str
    store_backups: tuple[str, ...]
    only_unfinished: bool = False
    """Remove only in-progress leftovers: what a dead upload may have left behind, never a finished backup."""
    whole_volume: bool = False
    """Remove the volume's directory with all that is in it, understood or not; `store_backups` does not matter then."""
    only_dead_locks: bool = False
    """Remove nothing but the `dead_locks`."""


MoverJob = UploadJob | DownloadJob | RemoveJob
_JOBS: dict[str, type[MoverJob]] = {"upload": UploadJob, "download": DownloadJob, "remove": RemoveJob}


def read_job(line: bytes) -> MoverJob:
    """What `to_json` of a job wrote; raises InvalidInput with a sentence that repeats no value."""
    return read_json(_JOBS, line, told_by="action")


@dataclass(frozen=True, kw_only=True)
class ReadyReport(Plain):
    """Source and target are open, nothing was moved; it waits for `go`. A removal does not wait, and says none."""

    type: Literal["ready"] = "ready"
    from_snapshot: bool = False
    """Whether an upload reads a snapshot, which stays as it is whatever is written to the volume from now on."""


@dataclass(frozen=True, kw_only=True)
class ProgressReport(Plain):
    """On the way."""

    type: Literal["progress"] = "progress"
    progress: TransferProgress


@dataclass(frozen=True, kw_only=True)
class ResultReport(Plain):
    """Done: the last words of a mover that succeeded."""

    type: Literal["result"] = "result"
    result: TransferResult


@dataclass(frozen=True, kw_only=True)
class ErrorReport(Plain):
    """Not done: the last words of a mover that failed or was cancelled. `code` is that of `tidegate.errors`."""

    type: Literal["error"] = "error"
    code: str
    message: str
    hint: str = ""
    lock: str = ""
    """Of a mover that was not begun: the lock in its way (`StoreLockHeld.lock`)."""


MOVER_DIED = "MoverDied"
"""The code that stands for the last words of a mover that had none."""

MoverReport = ReadyReport | ProgressReport | ResultReport | ErrorReport
_REPORTS: dict[str, type[MoverReport]] = {
    "ready": ReadyReport,
    "progress": ProgressReport,
    "result": ResultReport,
    "error": ErrorReport,
}


def read_report(line: bytes) -> MoverReport:
    """What `to_json` of a report wrote; raises InvalidInput."""
    return read_json(_REPORTS, line, told_by="type")

"""Transfers: one movement of one volume's data. Four kinds, one shape."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Literal, Self

from pydantic import Field

from tidegate.model.backups.backup import BackupEvent
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.duration import Duration
from tidegate.model.frozen import Model
from tidegate.model.resource import Resource, Spec, Status
from tidegate.model.transfers.transfer_progress import TransferProgress as TransferProgress  # noqa: PLC0414  # many know it from here
from tidegate.model.transfers.transfer_progress import TransferResult as TransferResult  # noqa: PLC0414  # many know it from here
from tidegate.model.volumes.volume import Volume
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.model.volumes.volume_ref import VolumeRef, volume_fields, volume_ref


class TransferPhase(StrEnum):
    """New waits for its gates; Accepted prepares; Prepared waits for the node; InProgress moves bytes."""

    NEW = "New"
    ACCEPTED = "Accepted"
    PREPARED = "Prepared"
    IN_PROGRESS = "InProgress"
    CANCELING = "Canceling"
    CANCELED = "Canceled"
    COMPLETED = "Completed"
    FAILED = "Failed"

    @property
    def final(self) -> bool:
        """Whether the work is over, well or not."""
        return self in {TransferPhase.CANCELED, TransferPhase.COMPLETED, TransferPhase.FAILED}

    @property
    def moving(self) -> bool:
        """Whether it takes one of its node's slots. A mover that is being stopped still does."""
        return self in {TransferPhase.IN_PROGRESS, TransferPhase.CANCELING}


class Refusal(Model):
    """Why a transfer never begins."""

    message: str
    error_code: str


class TransferSpec(Spec):
    """Whose data, between which place and which volume backup. Everything a mover needs is here or on the target."""

    volume_namespace: str
    volume_name: str
    volume_kind: VolumeKind
    path: str
    """Where the data is read from, or written to; of a claim NAMESPACE/NAME. Empty: not known."""
    excludes: tuple[str, ...] = ()
    """Globs of what an upload of a directory leaves out."""
    target: str
    """Name of the BackupTarget."""
    store_volume: str
    """The volume's name in the store."""
    store_backup: str
    """The volume backup's name in the store: to be written by an upload, to be read by a download."""
    definition: str = ""
    """The volume as it was defined when the upload was made, as JSON: an item of the backup, kept beside the data."""
    from_snapshot: bool = False
    """Means nothing: whether there is a snapshot shows only when it is taken (see the status). Stored ones have it."""
    expected_size: int | None = None
    """Bytes of the volume as they were last known when the transfer was made. Absent: nothing is known of it."""
    existing_data: ExistingData = ExistingData.NONE
    includes: tuple[str, ...] = ()
    """Globs of paths in a tree that a download brings back. Empty: all."""
    force: bool = False
    """Lets a download write where something may be in use: onto a device, a mounted or a running volume."""
    read_back: bool = False
    """Has a download read from the disk again what it wrote, and compare that with the backup."""
    node: str | None = None
    """The node that the data is on. Absent: any may carry it."""
    timeout: Duration = timedelta(hours=4)
    """How long bytes may move; waiting for a gate does not count."""
    refused: Refusal | None = None
    """Given when it is made, because it must not move anything: it fails at once. Absent: it may begin."""
    cancel: bool = False
    """One way: once true, never false again."""

    @classmethod
    def of(cls, volume: Volume, *, target: str, store_volume: str, store_backup: str) -> Self:
        """Between a volume, where it is defined to be, and one of its volume backups."""
        return cls(
            volume_namespace=volume.namespace,
            volume_name=volume.name,
            **volume_fields(volume.spec.ref),
            node=volume.spec.node,
            target=target,
            store_volume=store_volume,
            store_backup=store_backup,
        )

    @property
    def ref(self) -> VolumeRef | None:
        """Where the data is read from, or written to; None: that is not known."""
        return volume_ref(self.volume_kind, self.path) if self.path else None

    def at(self, ref: VolumeRef | None) -> Self:
        """The same with the data in another place; None: nowhere, and its kind stays."""
        return self.replace(**volume_fields(ref)) if ref else self.replace(path="")


class TransferStatus(Status):
    """How it stands."""

    phase: TransferPhase = TransferPhase.NEW
    message: str = ""
    node: str | None = None
    accepted_timestamp: datetime | None = None
    prepared_timestamp: datetime | None = None
    """When its mover had everything open; from then on it waits for its node."""
    from_snapshot: bool = False
    """Whether its mover reads a snapshot, which stays as it is, and not what an application writes to."""
    canceling_timestamp: datetime | None = None
    """When its mover was asked to stop."""
    start_timestamp: datetime | None = None
    completion_timestamp: datetime | None = None
    progress: TransferProgress | None = None
    result: TransferResult | None = None
    error_code: str | None = None
    waits_for_lock_since: datetime | None = None
    """When another client's lock on the volume was first in its way, and has been since."""
    retry_at: datetime | None = None
    """When it tries to get that lock again; until then no gate lets it through."""
    events: tuple[BackupEvent, ...] = ()
    """What happened, oldest first; the newest ten."""


class Transfer(Resource):
    """One movement of one volume's data; never stored itself, only its four kinds are."""

    direction: ClassVar[Literal["upload", "download"]]

    spec: TransferSpec
    status: TransferStatus = Field(default_factory=TransferStatus)

    @property
    def as_source(self) -> TransferSpec:
        """What a download of that which this upload wrote reads; its size is known."""
        return self.spec.replace(expected_size=self.status.result.size if self.status.result else None)

    @property
    def data_removed(self) -> bool:
        """Whether somebody has since deleted the volume backup that it wrote."""
        return self.status.condition(DATA_REMOVED) is not None


class DataUpload(Transfer):
    """An image or a device, to the store."""

    plural: ClassVar[str] = "datauploads"
    direction: ClassVar[Literal["upload", "download"]] = "upload"
    kind: Literal["DataUpload"] = "DataUpload"


class DataDownload(Transfer):
    """An image or a device, from the store."""

    plural: ClassVar[str] = "datadownloads"
    direction: ClassVar[Literal["upload", "download"]] = "download"
    kind: Literal["DataDownload"] = "DataDownload"


class PodVolumeBackup(Transfer):
    """A file tree, to the store."""

    plural: ClassVar[str] = "podvolumebackups"
    direction: ClassVar[Literal["upload", "download"]] = "upload"
    kind: Literal["PodVolumeBackup"] = "PodVolumeBackup"


class PodVolumeRestore(Transfer):
    """A file tree, from the store."""

    plural: ClassVar[str] = "podvolumerestores"
    direction: ClassVar[Literal["upload", "download"]] = "download"
    kind: Literal["PodVolumeRestore"] = "PodVolumeRestore"


UPLOADS: tuple[type[Transfer], ...] = (DataUpload, PodVolumeBackup)
DOWNLOADS: tuple[type[Transfer], ...] = (DataDownload, PodVolumeRestore)
TRANSFERS: tuple[type[Transfer], ...] = (*UPLOADS, *DOWNLOADS)

# Says of an upload, or of a Backup, that what it wrote was deleted from the store while its record stays.
DATA_REMOVED = "DataRemoved"
ALL_REMOVED = "AllDeletedFromStore"
SOME_REMOVED = "PartlyDeletedFromStore"

# The labels by which the transfers of one request are found again.
BACKUP_LABEL = "tidegate.dev/backup-uid"
RESTORE_LABEL = "tidegate.dev/restore-uid"
VERIFICATION_LABEL = "tidegate.dev/verification-uid"
VOLUME_LABEL = "tidegate.dev/volume-uid"
ATTEMPT_LABEL = "tidegate.dev/attempt"

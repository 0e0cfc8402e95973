"""System backups and restores: everything the system itself needs to come back."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from tidegate.model.backups.byte_progress import JobBytes
from tidegate.model.frozen import Model
from tidegate.model.resource import Resource, Spec
from tidegate.model.row_page import LongStatus

# Held until the archive is gone from the store and its volume backups have found another owner, or nobody needs them.
SYSTEM_BACKUP_FINALIZER = "tidegate.dev/system-backup"
# On every Backup that a system backup made, and every Restore that a system restore made: the uid of who wanted it.
SYSTEM_BACKUP_LABEL = "tidegate.dev/system-backup-uid"
SYSTEM_RESTORE_LABEL = "tidegate.dev/system-restore-uid"


class VolumeBackupPolicy(StrEnum):
    """Which volumes a system backup also backs up."""

    IF_NOT_PRESENT = "if-not-present"
    IF_CHANGED = "if-changed"
    ALWAYS = "always"
    DISABLED = "disabled"


def _given_or_default(policy: object) -> object:
    return policy or VolumeBackupPolicy.IF_NOT_PRESENT


# Longhorn's clients send an empty text for "not given".
Policy = Annotated[VolumeBackupPolicy, BeforeValidator(_given_or_default)]


class SystemBackupPhase(StrEnum):
    """From asking to an archive in the store."""

    NEW = "New"
    CREATING_VOLUME_BACKUPS = "CreatingVolumeBackups"
    GENERATING = "Generating"
    UPLOADING = "Uploading"
    READY = "Ready"
    ERROR = "Error"
    DELETING = "Deleting"
    SYNCING = "Syncing"

    @property
    def final(self) -> bool:
        """Whether the work is over, well or not."""
        return self in {SystemBackupPhase.READY, SystemBackupPhase.ERROR}


class SystemBackupSpec(Spec):
    """What the archive shall come with."""

    volume_backup_policy: Policy = VolumeBackupPolicy.IF_NOT_PRESENT
    target: str = ""
    """Name of a BackupTarget. Absent: the default one; the API writes back which."""
    found_version: str | None = None
    """Of an archive that a sync found in the store: the version in its place there. Absent: the archive is to be made;
    the API takes none from a client."""


class VolumeDecision(StrEnum):
    """What a system backup does about one volume."""

    CREATED = "Created"
    """It has a backup of the volume made."""
    REUSED = "Reused"
    """It relies on the newest backup that there is."""
    SKIPPED = "Skipped"


class VolumeOutcome(StrEnum):
    """How far the backup of one volume is."""

    NONE = ""
    """None is made."""
    WAITING = "Waiting"
    IN_PROGRESS = "InProgress"
    COMPLETED = "Completed"
    FAILED = "Failed"


class StoredVolumeBackup(Model):
    """Where one volume backup is: enough to find it again on another machine."""

    target: str
    """Name of the BackupTarget."""
    store_volume: str
    store_backup: str


class SystemBackupVolume(Model):
    """One volume, as the system backup saw it when it began."""

    volume: str
    """NAMESPACE/NAME."""
    decision: VolumeDecision
    reason: str = ""
    backup: str | None = None
    """Name of the Backup that holds it, or will."""
    state: VolumeOutcome = VolumeOutcome.NONE
    """Derived for whoever asks while volumes are backed up; stored once all of them have ended."""
    message: str = ""
    stored: StoredVolumeBackup | None = None
    """The volume backup that the archive names. Absent: the volume comes back without data."""


class SystemBackupStatus(LongStatus):
    """How it stands."""

    long_fields: ClassVar[tuple[str, ...]] = ("volumes",)

    phase: SystemBackupPhase = SystemBackupPhase.NEW
    version: str = ""
    """Of the program that wrote the archive: part of its place in the store."""
    url: str = ""
    """Where the archive is. Absent until it is there, whole."""
    checksum: str = ""
    """SHA-256 of the archive as it is stored."""
    encryption: str = ""
    """Scheme and key, if the archive is sealed."""
    size: int | None = None
    start_timestamp: datetime | None = None
    deadline: datetime | None = None
    """Until when the present phase may take."""
    volumes_requested_at: datetime | None = None
    """From when on a Backup of `volumes` that is not there was deleted, and not merely not made yet."""
    volumes: tuple[SystemBackupVolume, ...] = ()
    bytes: JobBytes | None = None
    """Of the volumes that it backs up, derived for clients that ask meanwhile; at the end what came of it."""
    created_at: datetime | None = None
    """The moment that the archive tells of."""
    completion_timestamp: datetime | None = None
    last_synced_at: datetime | None = None
    failure_reason: str | None = None


class SystemBackup(Resource):
    """An archive of definitions and settings, with volume backups according to a policy."""

    plural: ClassVar[str] = "systembackups"

    kind: Literal["SystemBackup"] = "SystemBackup"
    spec: SystemBackupSpec = Field(default_factory=SystemBackupSpec)
    status: SystemBackupStatus = Field(default_factory=SystemBackupStatus)

    @property
    def archive_version(self) -> str:
        """The version in the archive's place in the store; empty as long as nothing was written there."""
        return self.status.version or self.spec.found_version or ""

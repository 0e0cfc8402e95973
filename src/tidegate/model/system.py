"""System backups and restores: everything the system itself needs to come back."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.resource import Resource, Spec, Status


class VolumeBackupPolicy(StrEnum):
    """Which volumes a system backup also backs up."""

    IF_NOT_PRESENT = "if-not-present"
    ALWAYS = "always"
    DISABLED = "disabled"


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


class SystemBackupSpec(Spec):
    """What the archive shall come with."""

    volume_backup_policy: VolumeBackupPolicy = VolumeBackupPolicy.IF_NOT_PRESENT
    target: str = ""


class SystemBackupStatus(Status):
    """How it stands."""

    phase: SystemBackupPhase = SystemBackupPhase.NEW
    version: str = ""
    created_at: datetime | None = None
    last_synced_at: datetime | None = None
    failure_reason: str | None = None


class SystemBackup(Resource):
    """An archive of definitions and settings, with volume backups according to a policy."""

    plural: ClassVar[str] = "systembackups"

    kind: Literal["SystemBackup"] = "SystemBackup"
    spec: SystemBackupSpec = Field(default_factory=SystemBackupSpec)
    status: SystemBackupStatus = Field(default_factory=SystemBackupStatus)


class SystemRestorePhase(StrEnum):
    """From asking to all definitions back."""

    NEW = "New"
    DOWNLOADING = "Downloading"
    RESTORING = "Restoring"
    RESTORING_VOLUMES = "RestoringVolumes"
    COMPLETED = "Completed"
    PARTIALLY_FAILED = "PartiallyFailed"
    ERROR = "Error"


class SystemRestoreSpec(Spec):
    """Which archive, and which volumes with it."""

    system_backup: str = Field(min_length=1)
    volumes: Literal["none", "missing", "all"] = "missing"


class SystemRestoreStatus(Status):
    """How it stands."""

    phase: SystemRestorePhase = SystemRestorePhase.NEW
    source_url: str = ""
    failure_reason: str | None = None


class SystemRestore(Resource):
    """A request to bring the system back from a SystemBackup."""

    plural: ClassVar[str] = "systemrestores"

    kind: Literal["SystemRestore"] = "SystemRestore"
    spec: SystemRestoreSpec
    status: SystemRestoreStatus = Field(default_factory=SystemRestoreStatus)

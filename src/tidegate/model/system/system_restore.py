"""System restores: requests to bring back what a system backup holds."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.backups.byte_progress import JobBytes
from tidegate.model.frozen import Model
from tidegate.model.resource import Resource, Spec
from tidegate.model.row_page import LongStatus
from tidegate.model.system.system import StoredVolumeBackup


class SystemRestorePhase(StrEnum):
    """From asking to all definitions and volumes back."""

    NEW = "New"
    DOWNLOADING = "Downloading"
    RESTORING = "Restoring"
    RESTORING_VOLUMES = "RestoringVolumes"
    COMPLETED = "Completed"
    PARTIALLY_FAILED = "PartiallyFailed"
    ERROR = "Error"

    @property
    def final(self) -> bool:
        """Whether the work is over, well or not."""
        return self in {SystemRestorePhase.COMPLETED, SystemRestorePhase.PARTIALLY_FAILED, SystemRestorePhase.ERROR}


class VolumeChoice(StrEnum):
    """Which volumes get their data back."""

    NONE = "none"
    MISSING = "missing"
    """Those with nothing at their place."""
    ALL = "all"
    """Also those that hold something, which is overwritten."""


class ArchiveSource(Model):
    """The archive that was found when the restore was asked for: it keeps to that, whatever comes later."""

    target: str
    """The BackupTarget whose store holds it."""
    url: str


class SystemRestoreSpec(Spec):
    """Which archive, and which volumes with it."""

    system_backup: str = Field(min_length=1, max_length=4096)
    """The name of a system backup, known here or only in the store of a target; or its URL."""
    volumes: VolumeChoice = VolumeChoice.MISSING
    found: ArchiveSource | None = None
    """Written by the API, which takes none from a client."""


class DefinitionAction(StrEnum):
    """What a system restore does about one definition."""

    CREATE = "Create"
    UPDATE = "Update"
    UNCHANGED = "Unchanged"
    KEEP = "Keep"
    """What is there stays, although the archive says something else."""


class RestoredDefinition(Model):
    """One definition of the archive."""

    kind: str
    name: str
    """NAMESPACE/NAME, or the name alone."""
    action: DefinitionAction
    reason: str = ""
    done: bool = False


class RestoredVolumeState(StrEnum):
    """How far the data of one volume is."""

    SKIPPED = "Skipped"
    WAITING = "Waiting"
    IN_PROGRESS = "InProgress"
    COMPLETED = "Completed"
    FAILED = "Failed"


class RestoredVolume(Model):
    """One volume of the archive."""

    volume: str
    """NAMESPACE/NAME."""
    backup_url: str = ""
    """The very volume backup that the system backup names."""
    stored: StoredVolumeBackup | None = None
    restore: str | None = None
    """Name of the Restore that brings it back. Recorded before the Restore is made."""
    state: RestoredVolumeState
    reason: str = ""
    """Why it is skipped, or what went wrong."""


class SystemRestoreStatus(LongStatus):
    """How it stands."""

    long_fields: ClassVar[tuple[str, ...]] = ("definitions", "volumes")

    phase: SystemRestorePhase = SystemRestorePhase.NEW
    target: str = ""
    """The BackupTarget whose store holds the archive."""
    source_url: str = ""
    """The archive itself: settled when the restore was asked for."""
    start_timestamp: datetime | None = None
    deadline: datetime | None = None
    """Until when the present phase may take."""
    definitions: tuple[RestoredDefinition, ...] = ()
    volumes_requested_at: datetime | None = None
    """From when on a Restore of `volumes` that is not there was deleted, and not merely not made yet."""
    volumes: tuple[RestoredVolume, ...] = ()
    bytes: JobBytes | None = None
    """Of the data that comes back, derived for clients that ask meanwhile; at the end what came of it."""
    completion_timestamp: datetime | None = None
    failure_reason: str | None = None


class SystemRestore(Resource):
    """A request to bring the system back from a SystemBackup."""

    plural: ClassVar[str] = "systemrestores"

    kind: Literal["SystemRestore"] = "SystemRestore"
    spec: SystemRestoreSpec
    status: SystemRestoreStatus = Field(default_factory=SystemRestoreStatus)

    @property
    def source(self) -> ArchiveSource | None:
        """The archive, as far as it was looked up."""
        if self.status.source_url:
            return ArchiveSource(target=self.status.target, url=self.status.source_url)
        return self.spec.found

    @property
    def planned(self) -> bool:
        """Whether it is settled what becomes of each definition and volume."""
        return bool(self.status.definitions or self.status.volumes)

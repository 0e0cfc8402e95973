"""Restores: requests to bring back what a backup holds."""

from datetime import timedelta
from enum import StrEnum
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from tidegate.model.backups.existing_data import ExistingData as ExistingData  # noqa: PLC0414  # many know it from here
from tidegate.model.backups.job_status import JobStatus
from tidegate.model.duration import Duration
from tidegate.model.frozen import Model
from tidegate.model.resource import Resource, Spec
from tidegate.model.transfers.transfer import TransferSpec

# Held until all downloads of the restore have stopped.
RESTORE_FINALIZER = "tidegate.dev/restore"


class RestorePhase(StrEnum):
    """Those of Velero's phases that a restore has here, and Canceled."""

    NEW = "New"
    FAILED_VALIDATION = "FailedValidation"
    IN_PROGRESS = "InProgress"
    COMPLETED = "Completed"
    PARTIALLY_FAILED = "PartiallyFailed"
    FAILED = "Failed"
    CANCELED = "Canceled"

    @property
    def final(self) -> bool:
        """Whether the work is over, well or not."""
        return self in _FINAL


_FINAL = frozenset(
    {
        RestorePhase.FAILED_VALIDATION,
        RestorePhase.COMPLETED,
        RestorePhase.PARTIALLY_FAILED,
        RestorePhase.FAILED,
        RestorePhase.CANCELED,
    }
)


class FoundSource(Model):
    """What was found when the restore was asked for: it keeps to that, whatever comes later."""

    backup_name: str | None = None
    """The newest good backup of the schedule."""
    volume_backup: TransferSpec | None = None
    """What the backup URL names, as it is in the store."""


class RestoreSpec(Spec):
    """What to bring back, and where to."""

    backup_name: str | None = None
    schedule_name: str | None = None
    """The newest good backup of this schedule."""
    backup_url: str | None = None
    """One volume backup in a store, also one that Longhorn wrote."""
    included_namespaces: tuple[str, ...] = ()
    excluded_namespaces: tuple[str, ...] = ()
    namespace_mapping: dict[str, str] = Field(default_factory=dict)
    """What was in the first namespace goes to the volume of the same name in the second."""
    included_volumes: tuple[str, ...] = ()
    destination: str | None = None
    """A directory: each volume goes to `<destination>/<namespace>/<volume>`. Absent: where it came from."""
    existing_data: ExistingData = ExistingData.NONE
    included_paths: tuple[str, ...] = ()
    """Globs of paths in a tree; only these come back. Empty: all."""
    volume_order: tuple[str, ...] = ()
    """Volumes as NAMESPACE/NAME that come back first, in this order; the others follow by name."""
    force: bool = False
    """Lets it write onto devices and onto volumes that are mounted or in use."""
    cancel: bool = False
    """One way: once true, never false again."""
    item_operation_timeout: Duration = timedelta(hours=4)
    found: FoundSource | None = None
    """Written by the API, which takes none from a client. Absent where the backup is named."""

    @model_validator(mode="after")
    def _one_source_and_a_clear_place(self) -> Self:
        if sum(1 for source in (self.backup_name, self.schedule_name, self.backup_url) if source) != 1:
            raise ValueError("give exactly one of backupName, scheduleName and backupUrl")
        if self.destination is not None and not self.destination.startswith("/"):
            raise ValueError(f"destination must be an absolute path, not {self.destination!r}")
        return self


class RestoreProgress(Model):
    """How far it is, in items: each volume is one."""

    total_items: int = 0
    items_restored: int = 0


class RestoreStatus(JobStatus):
    """How it stands."""

    long_fields: ClassVar[tuple[str, ...]] = ("target_volumes", "validation_errors")

    phase: RestorePhase = RestorePhase.NEW
    backup_name: str | None = None
    """The backup that it reads: of a schedule, the one that was its newest good one when the restore was asked for."""
    source: TransferSpec | None = None
    """What the backup URL names, as it was found in the store when the restore was asked for."""
    target_volumes: tuple[str, ...] | None = None
    """The volumes that it writes to, as NAMESPACE/NAME: what it keeps from others. Absent until that is settled."""
    queue_position: int | None = None
    """1 is the head; derived, never stored."""
    progress: RestoreProgress | None = None
    """Absent until all its downloads are made."""


class Restore(Resource):
    """A request to bring back what a backup holds."""

    plural: ClassVar[str] = "restores"

    kind: Literal["Restore"] = "Restore"
    spec: RestoreSpec
    status: RestoreStatus = Field(default_factory=RestoreStatus)

    @property
    def source_backup(self) -> str | None:
        """The backup that must stay as long as this is not over."""
        found = self.spec.found.backup_name if self.spec.found else None
        return self.status.backup_name or found or self.spec.backup_name

    @property
    def source_volume_backup(self) -> TransferSpec | None:
        """What its backup URL names, as far as that was looked up."""
        return self.status.source or (self.spec.found.volume_backup if self.spec.found else None)

    @property
    def settled(self) -> bool:
        """Whether it is known what it reads and where it writes: only then does it take part in the queue."""
        return self.status.target_volumes is not None

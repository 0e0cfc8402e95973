"""Verifications: requests to prove that a backup can be restored, by restoring it."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from tidegate.model.backups.hooks import HookCommand, HookTimeout
from tidegate.model.backups.job_status import JobStatus
from tidegate.model.duration import Duration
from tidegate.model.frozen import Model
from tidegate.model.resource import Resource, Spec

# Held until its downloads have stopped and its scratch place is gone.
VERIFICATION_FINALIZER = "tidegate.dev/verification"


class VerificationPhase(StrEnum):
    """InProgress restores and reads back; Checking runs the command; CleaningUp removes the scratch place."""

    NEW = "New"
    FAILED_VALIDATION = "FailedValidation"
    IN_PROGRESS = "InProgress"
    CHECKING = "Checking"
    CLEANING_UP = "CleaningUp"
    COMPLETED = "Completed"
    FAILED = "Failed"
    CANCELED = "Canceled"

    @property
    def final(self) -> bool:
        """Whether the work is over, well or not."""
        return self in _FINAL

    @property
    def under_way(self) -> bool:
        """Whether it may have something in its scratch place."""
        return self in _UNDER_WAY


_FINAL = frozenset(
    {
        VerificationPhase.FAILED_VALIDATION,
        VerificationPhase.COMPLETED,
        VerificationPhase.FAILED,
        VerificationPhase.CANCELED,
    }
)
_UNDER_WAY = frozenset({VerificationPhase.IN_PROGRESS, VerificationPhase.CHECKING, VerificationPhase.CLEANING_UP})


class CheckStage(StrEnum):
    """What a check command finds in TIDEGATE_HOOK, where a hook finds when it runs."""

    VERIFY = "verify"


class CheckCommand(Model):
    """What an operator has put in place to look at restored data: does the database open, is the newest row there."""

    command: HookCommand = Field(min_length=1, max_length=64)
    """The name of a file in the server's hooks directory, then its arguments."""
    timeout: HookTimeout = timedelta(minutes=10)
    """After this it is killed, and the verification has failed."""


class VerificationSpec(Spec):
    """What to prove."""

    backup_name: str | None = None
    schedule_name: str | None = None
    """The newest good backup of this schedule."""
    check: CheckCommand | None = None
    """Run when everything is restored and proven to be what was backed up."""
    cancel: bool = False
    """One way: once true, never false again."""
    item_operation_timeout: Duration = timedelta(hours=4)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(1 for source in (self.backup_name, self.schedule_name) if source) != 1:
            raise ValueError("give exactly one of backupName and scheduleName")
        return self


class VerificationProgress(Model):
    """How far it is, in items: each volume is one."""

    total_items: int = 0
    items_verified: int = 0
    bytes_verified: int = 0
    """Of the volumes that are proven, as people count them."""


class VerificationStatus(JobStatus):
    """How it stands."""

    phase: VerificationPhase = VerificationPhase.NEW
    backup_name: str | None = None
    """The backup that it reads; of a schedule, the one that was its newest good one when this began."""
    backup_uid: str | None = None
    backup_schedule: str | None = None
    """The schedule that made the backup."""
    scratch: str | None = None
    """The directory that it restores into, from the moment before something may be there."""
    progress: VerificationProgress | None = None
    """Absent until all its downloads are made."""
    outcome: VerificationPhase | None = None
    """How it will end, once its scratch place is gone."""
    clean_up_since: datetime | None = None


class Verification(Resource):
    """A request to prove that a backup can be restored."""

    plural: ClassVar[str] = "verifications"

    kind: Literal["Verification"] = "Verification"
    spec: VerificationSpec
    status: VerificationStatus = Field(default_factory=VerificationStatus)

    @property
    def source_backup(self) -> str | None:
        """The backup that must stay as long as this is not over."""
        return self.status.backup_name or self.spec.backup_name

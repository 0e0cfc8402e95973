"""Schedules: backups that ask for themselves."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.backup import BackupSpec
from tidegate.model.resource import Resource, Spec, Status


class SchedulePhase(StrEnum):
    """Whether the schedule can run."""

    NEW = "New"
    ENABLED = "Enabled"
    FAILED_VALIDATION = "FailedValidation"


class ScheduleSpec(Spec):
    """When, and which backup."""

    schedule: str = Field(min_length=1, examples=["30 2 * * *"])
    timezone: str = "UTC"
    template: BackupSpec = Field(default_factory=BackupSpec)
    paused: bool = False
    skip_immediately: bool = False
    use_owner_references_in_backup: bool = False


class ScheduleStatus(Status):
    """What it did."""

    phase: SchedulePhase = SchedulePhase.NEW
    last_backup: datetime | None = None
    last_skipped: datetime | None = None
    validation_errors: tuple[str, ...] = ()


class Schedule(Resource):
    """Backups at set times."""

    plural: ClassVar[str] = "schedules"

    kind: Literal["Schedule"] = "Schedule"
    spec: ScheduleSpec
    status: ScheduleStatus = Field(default_factory=ScheduleStatus)

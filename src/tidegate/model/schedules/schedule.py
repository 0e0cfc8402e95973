"""Schedules: backups that ask for themselves."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.backups.backup import BackupSpec
from tidegate.model.frozen import Model
from tidegate.model.resource import Resource, Spec, Status
from tidegate.model.schedules.retention import Retention
from tidegate.model.system.system import SystemBackupSpec
from tidegate.model.verification.verification import CheckCommand

# On every backup that a schedule made: the name of the schedule.
SCHEDULE_LABEL = "tidegate.dev/schedule"
SKIPPED_CONDITION = "Skipped"


class SchedulePhase(StrEnum):
    """Whether the schedule can run."""

    NEW = "New"
    ENABLED = "Enabled"
    FAILED_VALIDATION = "FailedValidation"


class SkipReason(StrEnum):
    """Why a run that was due made no backup."""

    EARLIER_BACKUP_NOT_FINAL = "EarlierBackupNotFinal"
    PAUSED = "Paused"
    SKIP_IMMEDIATELY = "SkipImmediately"
    TEMPLATE_REFUSED = "TemplateRefused"
    NAME_TAKEN = "NameTaken"


class ScheduledVerification(Model):
    """When the newest good backup of a schedule is proven to restore."""

    schedule: str = Field(min_length=1, examples=["0 6 * * SUN"])
    """Cron, in the time zone of the schedule."""
    check: CheckCommand | None = None


class ScheduleSpec(Spec):
    """When, and which backup."""

    schedule: str = Field(min_length=1, examples=["30 2 * * *"])
    """Cron: minute, hour, day of month, month, day of week; or @hourly, @daily, @weekly, @monthly, @yearly."""
    timezone: str = Field(default="UTC", examples=["Europe/Berlin"])
    template: BackupSpec = Field(default_factory=BackupSpec)
    """Of each backup. Its ttl is the longest that any of them is kept, whatever `retention` says."""
    system_backup: SystemBackupSpec | None = None
    """If given, it makes system backups like this, and `template` means nothing."""
    paused: bool = False
    skip_immediately: bool = False
    """A new schedule that is due at once waits for its next time instead."""
    use_owner_references_in_backup: bool = False
    """When the schedule is deleted, so are its backups."""
    retention: Retention | None = None
    verification: ScheduledVerification | None = None
    """Absent: nobody proves that its backups restore."""


class ScheduleStatus(Status):
    """What it did."""

    phase: SchedulePhase = SchedulePhase.NEW
    last_backup: datetime | None = None
    """The time on the schedule for which a backup was last made."""
    last_skipped: datetime | None = None
    """The time on the schedule for which none was made; the condition Skipped says why."""
    skipped_runs: int = 0
    """How many times were skipped since it was made."""
    missed_runs: int = 0
    """How many times went by while no server was there, but for the latest, which is caught up."""
    last_missed_at: datetime | None = None
    """When that was last noticed."""
    last_verification: datetime | None = None
    """The last time on the schedule of its verification that is over: for which one was made, or passed over."""
    times_as_of: str = ""
    """The times and the zone that it was last judged by: what they were before does not matter to new ones."""
    validation_errors: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    """What its template asks for by name and what is not there now. Answers about one schedule say it; never stored."""


class Schedule(Resource):
    """Backups at set times."""

    plural: ClassVar[str] = "schedules"

    kind: Literal["Schedule"] = "Schedule"
    spec: ScheduleSpec
    status: ScheduleStatus = Field(default_factory=ScheduleStatus)

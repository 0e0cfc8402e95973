"""The queue as the API tells it: who waits for what, what has to end first, and a workload to try limits with."""

from datetime import datetime

from pydantic import Field, model_validator

from tidegate.model.backups.backup import BackupPhase
from tidegate.model.frozen import Model
from tidegate.model.reasons import Reason


class WaitingBackup(Model):
    """One backup in the queue."""

    name: str
    position: int
    """1 is the head."""
    priority: int = 0
    reason: Reason
    message: str = ""
    blocked_by: str | None = None
    """The backup, the target or, as `restore NAME`, the restore in the way, where it is one."""
    since: datetime | None = None
    expected_start: datetime | None = None
    """From past durations. Absent: not as things are now, or nobody can tell."""


class Queue(Model):
    """The queue in its order, or a part of it."""

    limit: int
    """The setting concurrent-backups."""
    paused: bool
    running: tuple[str, ...] = ()
    """The backups that hold a slot."""
    waiting: tuple[WaitingBackup, ...] = ()
    waiting_count: int | None = None
    """How many wait in all."""
    marker: str | None = None
    """Asks for the next part; absent: this was the last one."""


class QueueObstacle(Model):
    """One thing that keeps a backup from starting."""

    reason: Reason
    message: str
    blocked_by: str | None = None
    shared: tuple[str, ...] = ()
    """The namespaces, or volumes, that both want; `*` stands for those that are not known yet.

    Where both include no namespace that is known: the patterns that can match the same one.
    """


class EndsFirst(Model):
    """A backup, or a restore, that has to end before a backup can start."""

    name: str
    """Of a restore: `restore NAME`."""
    running: bool
    """Whether it works already; one that does not has to start first."""
    holds_up: str
    """The backup that it stands in the way of: the one that was asked about, or one on the way to it."""


class QueueExplanation(Model):
    """Everything about the wait of one backup."""

    name: str
    phase: BackupPhase
    position: int | None = None
    since: datetime | None = None
    expected_start: datetime | None = None
    obstacles: tuple[QueueObstacle, ...] = ()
    more_obstacles: int = 0
    """How many there are beside those that are listed."""
    ends_first: tuple[EndsFirst, ...] = ()
    """Those that run come first."""
    or_one_of: tuple[str, ...] = ()
    """The backups that hold the slots, where a slot is missing: any one of them has to end."""


class WorkloadBackup(Model):
    """One backup of a workload. Times are seconds from the moment at which the workload begins."""

    name: str = Field(min_length=1, max_length=253)
    included_namespaces: tuple[str, ...] = ()
    """Names or globs; empty means all."""
    excluded_namespaces: tuple[str, ...] = ()
    volumes: tuple[str, ...] | None = None
    """What it touches where overlap is judged by volumes; absent: its namespaces count."""
    priority: int = Field(default=0, ge=-10, le=10)
    target: str = ""
    arrives: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """When it joins the queue."""
    queued_for: float = Field(default=0.0, allow_inf_nan=False)
    """How long it had waited when the workload begins: its place among those that wait already."""
    duration: float = Field(ge=0, allow_inf_nan=False)
    """How long it takes; for one that runs, how long it still takes."""
    running: bool = False


class Workload(Model):
    """Backups to simulate, and what the queue has to know about the world around them."""

    limit: int = Field(default=1, ge=1)
    head_start_seconds: int = Field(default=0, ge=0)
    """What one step of priority counts for."""
    namespaces: tuple[str, ...] = ()
    """Those that exist."""
    unavailable_targets: tuple[str, ...] = ()
    backups: tuple[WorkloadBackup, ...]

    @model_validator(mode="after")
    def _every_name_once(self) -> "Workload":
        seen: set[str] = set()
        for backup in self.backups:
            if backup.name in seen:
                raise ValueError(f"the backup {backup.name} is there twice")
            seen.add(backup.name)
        return self

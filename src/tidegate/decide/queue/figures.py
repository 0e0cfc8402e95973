"""A backup as numbers: what metrics and forecasts need of it."""

from datetime import datetime
from sys import intern
from typing import NamedTuple

from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.schedules.schedule import SCHEDULE_LABEL

WAIT_BUCKETS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 12 * 3600.0, 24 * 3600.0)
"""Upper ends, in seconds: from a queue that nobody notices to one that misses its night."""

_ENDED_WELL = frozenset({BackupPhase.COMPLETED, BackupPhase.PARTIALLY_FAILED})


class Figure(NamedTuple):
    """What is remembered of one backup: little, for there may be very many."""

    phase: BackupPhase
    likeness: str
    """What it is: its schedule, or its namespaces. Alike ones take about as long."""
    schedule: str
    created: datetime | None
    queued_at: datetime | None
    began: datetime | None
    ended: datetime | None
    empty: bool = False
    """Whether no volume was there for it: it tells neither that all is well nor how long others take."""

    @classmethod
    def of(cls, backup: Backup) -> "Figure":
        """What matters of a stored backup."""
        status, spec = backup.status, backup.spec
        schedule = backup.metadata.labels.get(SCHEDULE_LABEL, "")
        namespaces = f"namespaces {sorted(spec.included_namespaces)} but {sorted(spec.excluded_namespaces)}"
        return cls(
            phase=status.phase,
            likeness=intern(f"schedule {schedule}" if schedule else namespaces),
            schedule=intern(schedule),
            created=backup.metadata.creation_timestamp,
            queued_at=status.queued_at,
            began=status.start_timestamp,
            ended=status.completion_timestamp,
            empty=backup.holds_nothing,
        )

    @property
    def waited(self) -> float | None:
        """Seconds from joining the queue to the start."""
        if self.phase is BackupPhase.QUEUED or self.queued_at is None or self.began is None:
            return None
        return max((self.began - self.queued_at).total_seconds(), 0.0)

    @property
    def took(self) -> float | None:
        """Seconds in its slot, for one that ended well."""
        if self.phase not in _ENDED_WELL or self.empty or self.began is None or self.ended is None:
            return None
        return (self.ended - self.began).total_seconds()


class LastRuns(NamedTuple):
    """What came of the backups of one schedule."""

    newest: Figure
    succeeded_at: datetime | None
    """When the newest one that is Completed, and holds something, ended."""

"""What system backups and restores tell to those who watch over them.

The alert that matters is on the age of the newest archive: it also fires when nobody makes one any more.
"""

from collections.abc import Iterator, Sequence

from prometheus_client.core import Metric

from tidegate.api.scrape.families import gauge, newest_by_schedule
from tidegate.model.schedules.schedule import SCHEDULE_LABEL
from tidegate.model.system.system import SystemBackup, SystemBackupPhase
from tidegate.model.system.system_restore import SystemRestore, SystemRestorePhase


def system_metrics(backups: Sequence[SystemBackup], restores: Sequence[SystemRestore]) -> Iterator[Metric]:
    """Of those that are stored, found ones included; what no schedule made counts under an empty name."""
    made = [(str(phase), sum(one.status.phase is phase for one in backups)) for phase in SystemBackupPhase]
    yield gauge("system_backups", "System backups by phase.", ["phase"], [([phase], count) for phase, count in made])
    done = [(str(phase), sum(one.status.phase is phase for one in restores)) for phase in SystemRestorePhase]
    yield gauge("system_restores", "System restores by phase.", ["phase"], [([phase], count) for phase, count in done])
    ready = [one for one in backups if one.status.phase is SystemBackupPhase.READY]
    failed = [one for one in backups if one.status.phase is SystemBackupPhase.ERROR]
    yield gauge(
        "system_backup_last_success_timestamp_seconds",
        "When the newest archive of a schedule of system backups was taken.",
        ["schedule"],
        newest_by_schedule((_schedule_of(one), one.status.created_at) for one in ready),
    )
    yield gauge(
        "system_backup_last_failure_timestamp_seconds",
        "When a system backup of a schedule last ended as Error.",
        ["schedule"],
        newest_by_schedule((_schedule_of(one), one.status.completion_timestamp) for one in failed),
    )


def _schedule_of(system: SystemBackup) -> str:
    return system.metadata.labels.get(SCHEDULE_LABEL, "")

"""What schedules tell to those who watch over them: that each one runs, and that what it makes is good.

The alert that matters is on the time of the last success: it also fires when nothing happens at all.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from prometheus_client.core import Metric

from tidegate.api.scrape.families import counter, gauge
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.schedules.cron import Cron
from tidegate.model.schedules.schedule import Schedule
from tidegate.state.backup_figures import BackupFigures

_OF = ["schedule"]


def schedule_metrics(schedules: Iterable[Schedule], figures: BackupFigures, *, now: datetime) -> Iterator[Metric]:
    """Of schedules that exist; what a deleted one did is told by nobody."""
    found = sorted(schedules, key=lambda schedule: schedule.name)
    runs = figures.last_runs()
    known = [(schedule.name, runs[schedule.name]) for schedule in found if schedule.name in runs]
    yield gauge(
        "schedule_last_success_timestamp_seconds",
        "When the newest backup of a schedule that is Completed and holds something ended.",
        _OF,
        [([name], last.succeeded_at.timestamp()) for name, last in known if last.succeeded_at],
    )
    yield gauge(
        "schedule_last_backup_phase",
        "The phase of the newest backup of a schedule: 1 for the one it is in.",
        ["schedule", "phase"],
        [([name, str(phase)], float(phase is last.newest.phase)) for name, last in known for phase in BackupPhase],
    )
    yield gauge(
        "schedule_next_run_timestamp_seconds",
        "When a schedule that is not paused is due next.",
        _OF,
        [([one.name], at.timestamp()) for one in found if (at := _next_run(one, now)) is not None],
    )
    paused = [([one.name], float(one.spec.paused)) for one in found]
    yield gauge("schedule_paused", "Whether a schedule is paused.", _OF, paused)
    skipped = [([one.name], float(one.status.skipped_runs)) for one in found]
    yield counter("schedule_skipped_runs", "Times for which a schedule made no backup, for a reason.", _OF, skipped)
    missed = [([one.name], float(one.status.missed_runs)) for one in found]
    yield counter("schedule_missed_runs", "Times that went by while no server was there.", _OF, missed)


def _next_run(schedule: Schedule, now: datetime) -> datetime | None:
    if schedule.spec.paused:
        return None
    try:
        return Cron.read(schedule.spec.schedule, schedule.spec.timezone).first_after(now)
    except ValueError:  # time zone data may have changed since it was let in
        return None

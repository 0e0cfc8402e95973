"""When a waiting backup will probably start: the queue simulated with the durations of the past."""

from datetime import datetime, timedelta

from tidegate.decide.backup_figures import BackupFigures
from tidegate.decide.backup_queue import QueueSnapshot
from tidegate.decide.overlap import Scope
from tidegate.decide.simulation import Job, simulate, typical_durations
from tidegate.model.setting import Settings

# Of a backup about which nothing at all is known.
_UNKNOWN_SECONDS = 300.0
# One that runs longer than expected is expected to go on for a part of that.
_LEAST_LEFT = 0.1


def workload_of(figures: BackupFigures, snapshot: QueueSnapshot, *, now: datetime) -> list[Job]:
    """The present queue as jobs, each with the median duration of the same ones in the past."""
    durations = typical_durations(figures.durations(), otherwise=_UNKNOWN_SECONDS)
    jobs = []
    for runner in snapshot.running:
        if figure := figures.of(runner.name):
            expected = durations.expected(figure.likeness)
            left = max(expected - (now - (figure.began or now)).total_seconds(), expected * _LEAST_LEFT)
            jobs.append(Job(runner.name, runner.scope, left, target=runner.target, started=True))
    for place, waiting in enumerate(snapshot.waiting):
        if figure := figures.of(waiting.name):
            # They are here already, in this order: whatever priority did to it is done.
            expected = durations.expected(figure.likeness)
            jobs.append(Job(waiting.name, waiting.scope, expected, arrives=place * 1e-6, target=waiting.target))
    return jobs


def expected_starts(
    workload: list[Job], snapshot: QueueSnapshot, settings: Settings, now: datetime
) -> dict[str, datetime]:
    """When each waiting backup will probably start; who cannot start as things are is left out."""
    if snapshot.paused:
        return {}
    forecast = simulate(workload, limit=settings.concurrent_backups, unavailable_targets=snapshot.unavailable_targets)
    # How long a restore takes, nobody knows: who waits for one is promised nothing.
    written = Scope(frozenset(name for restore in snapshot.restores for name in restore.scope.names))
    held = {one.name for one in snapshot.waiting if one.scope.shared_with(written)} if written.names else set()
    return {run.name: now + timedelta(seconds=run.began) for run in forecast.runs if run.name not in held}

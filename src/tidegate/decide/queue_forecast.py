"""When a waiting backup will probably start: the queue simulated with the durations of the past."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from tidegate.decide.backup_queue import QueueSnapshot
from tidegate.decide.overlap import Scope
from tidegate.decide.simulation import Job, simulate, typical_durations
from tidegate.model.backup import Backup, BackupPhase
from tidegate.model.schedule import SCHEDULE_LABEL
from tidegate.model.setting import Settings

# Of a backup about which nothing at all is known.
_UNKNOWN_SECONDS = 300.0
# One that runs longer than expected is expected to go on for a part of that.
_LEAST_LEFT = 0.1


def workload_of(backups: Iterable[Backup], snapshot: QueueSnapshot, *, now: datetime) -> list[Job]:
    """The present queue as jobs, each with the median duration of the same ones in the past."""
    known = {backup.name: backup for backup in backups}
    durations = typical_durations(
        ((_key(backup), seconds) for backup in known.values() if (seconds := _took(backup)) is not None),
        otherwise=_UNKNOWN_SECONDS,
    )
    jobs = []
    for runner in snapshot.running:
        if backup := known.get(runner.name):
            expected = durations.expected(_key(backup))
            begun = backup.status.start_timestamp or now
            left = max(expected - (now - begun).total_seconds(), expected * _LEAST_LEFT)
            jobs.append(Job(runner.name, runner.scope, left, target=runner.target, started=True))
    for place, waiting in enumerate(snapshot.waiting):
        if backup := known.get(waiting.name):
            # They are here already, in this order: whatever priority did to it is done.
            expected = durations.expected(_key(backup))
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


def _key(backup: Backup) -> str:
    schedule = backup.metadata.labels.get(SCHEDULE_LABEL)
    if schedule:
        return f"schedule {schedule}"
    return f"namespaces {sorted(backup.spec.included_namespaces)} but {sorted(backup.spec.excluded_namespaces)}"


def _took(backup: Backup) -> float | None:
    """Seconds in its slot, for one that ended well."""
    status = backup.status
    if status.phase not in {BackupPhase.COMPLETED, BackupPhase.PARTIALLY_FAILED}:
        return None
    if status.start_timestamp is None or status.completion_timestamp is None:
        return None
    return (status.completion_timestamp - status.start_timestamp).total_seconds()

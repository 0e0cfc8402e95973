"""A workload as a document, and as the jobs of a simulation."""

from collections.abc import Sequence
from datetime import datetime

from tidegate.decide.queue.entry import QueueEntry
from tidegate.decide.queue.overlap import Scope, check_pattern, resolve_scope, universe_of
from tidegate.decide.queue.simulate import Forecast, Job, simulate
from tidegate.decide.queue.surroundings import Surroundings
from tidegate.decide.queue.view import QueueView
from tidegate.errors import InvalidInput
from tidegate.model.queue.queue import Workload, WorkloadBackup

_MICROSECONDS = 1_000_000


def recorded_workload(
    jobs: Sequence[Job], table: QueueView, around: Surroundings, *, limit: int, now: datetime
) -> Workload:
    """The present queue. `jobs` are its backups with the durations that are expected."""
    return Workload(
        limit=limit,
        head_start_seconds=around.head_start_seconds,
        namespaces=tuple(sorted(around.namespaces)),
        unavailable_targets=tuple(sorted(around.unavailable_targets)),
        backups=tuple(
            _entry(job, entry, now, by_volume=around.volumes is not None)
            for job in jobs
            if (entry := table.entry(job.name)) is not None
        ),
    )


def _entry(job: Job, entry: QueueEntry, now: datetime, *, by_volume: bool) -> WorkloadBackup:
    # The ticket, not the time of asking: whoever was moved keeps the place that he was moved to.
    return WorkloadBackup(
        name=job.name,
        included_namespaces=entry.wanted.included,
        excluded_namespaces=entry.wanted.excluded,
        volumes=tuple(sorted(job.scope.names)) if by_volume else None,
        priority=entry.priority,
        target=job.target,
        queued_for=0.0 if job.started or not entry.ticket else now.timestamp() - entry.ticket / _MICROSECONDS,
        duration=job.duration,
        running=job.started,
    )


def forecast(workload: Workload, *, limit: int) -> Forecast:
    """What the queue would do with this limit."""
    return simulate(
        jobs_of(workload),
        limit=limit,
        head_start_seconds=workload.head_start_seconds,
        unavailable_targets=frozenset(workload.unavailable_targets),
    )


def jobs_of(workload: Workload) -> list[Job]:
    """Its backups for the simulation; raises InvalidInput for a namespace that cannot be one."""
    for place, backup in enumerate(workload.backups):
        for field, patterns in (
            ("includedNamespaces", backup.included_namespaces),
            ("excludedNamespaces", backup.excluded_namespaces),
        ):
            _check(patterns, f"backups[{place}].{field}")
    spelt = (p for b in workload.backups for p in (*b.included_namespaces, *b.excluded_namespaces))
    universe = universe_of(workload.namespaces, spelt)
    return [
        Job(
            backup.name,
            _scope(backup, universe),
            backup.duration,
            arrives=backup.arrives,
            priority=backup.priority,
            target=backup.target,
            started=backup.running,
            queued_for=backup.queued_for,
        )
        for backup in workload.backups
    ]


def _check(patterns: Sequence[str], field: str) -> None:
    for place, pattern in enumerate(patterns):
        try:
            check_pattern(pattern)
        except ValueError as error:
            raise InvalidInput(f"{field}[{place}]: {error}", field=f"{field}[{place}]") from None


def _scope(backup: WorkloadBackup, universe: frozenset[str]) -> Scope:
    if backup.volumes is not None:
        return Scope(frozenset(backup.volumes))
    return resolve_scope(backup.included_namespaces, backup.excluded_namespaces, universe=universe)

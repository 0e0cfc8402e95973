"""What a schedule does now: run, skip with a reason, or wait until a certain moment.

Of several missed times only the latest counts, so that a server that was away for a week makes one backup and not
seven. A time that was skipped is over: nothing catches up when the obstacle goes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, takewhile

from tidegate.model.backups.backup import BACKUP_FINALIZER, Backup
from tidegate.model.resource import Metadata
from tidegate.model.schedules.cron import Cron
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, Schedule, SchedulePhase, SkipReason

_MOST_MISSED = 1000


@dataclass(frozen=True)
class Skip:
    """A run that does not take place, and why."""

    at: datetime
    reason: SkipReason
    message: str


@dataclass(frozen=True)
class Verdict:
    """At most one of `run` and `skip`; look again at `wake_at`."""

    run: datetime | None = None
    skip: Skip | None = None
    wake_at: datetime | None = None
    missed: int = 0
    """Times before the one that is due for which nobody was there; counted up to a bound."""


def judge(
    schedule: Schedule, cron: Cron, backups: Iterable[Backup], *, now: datetime, refusal: str | None = None
) -> Verdict:
    """What is due at `now`, given all backups that carry the schedule's label.

    `refusal` says why no backup can be made of the template as things are, if so.
    """
    wake_at = cron.first_after(now)
    settled = _settled_until(schedule, now)
    if schedule.spec.skip_immediately and schedule.status.phase is SchedulePhase.NEW:
        message = "the schedule is new and waits for its next time"
        return Verdict(skip=Skip(now, SkipReason.SKIP_IMMEDIATELY, message), wake_at=wake_at)
    due = cron.last_between(settled, now)
    if due is None:
        return Verdict(wake_at=wake_at)
    missed = _missed(cron, settled, due)
    due = due.astimezone(UTC)
    if schedule.spec.paused:
        return Verdict(skip=Skip(due, SkipReason.PAUSED, "the schedule is paused"), wake_at=wake_at)
    earlier = unfinished(backups, but=backup_name(schedule, due))
    if earlier is not None:
        message = f"backup {earlier.name} of this schedule is still {earlier.status.phase}"
        return Verdict(skip=Skip(due, SkipReason.EARLIER_BACKUP_NOT_FINAL, message), wake_at=wake_at, missed=missed)
    if refusal is not None:
        return Verdict(skip=Skip(due, SkipReason.TEMPLATE_REFUSED, refusal), wake_at=wake_at, missed=missed)
    return Verdict(run=due, wake_at=wake_at, missed=missed)


def unfinished(backups: Iterable[Backup], *, but: str = "") -> Backup | None:
    """The oldest backup whose end is still to come, other than the one of this name.

    Any phase that is not final counts, waiting ones above all: or one more would join the queue every time. One that
    is being deleted does not, or a store that is away would stop the schedule by way of its retention.
    """
    open_ones = (b for b in backups if not b.status.phase.final and not b.deleting and b.name != but)
    return min(open_ones, key=_age, default=None)


def next_times(cron: Cron, now: datetime, count: int) -> list[datetime]:
    """The coming times, in the zone of the schedule."""
    return list(islice(cron.after(now), count))


def backup_name(schedule: Schedule, at: datetime) -> str:
    """Always the same for the same time, so that creating it twice is harmless."""
    return f"{schedule.name}-{at.astimezone(UTC):%Y%m%d%H%M%S}"


def backup_for(schedule: Schedule, at: datetime) -> Backup:
    """The backup that the schedule makes for this time."""
    return Backup(
        metadata=Metadata(
            name=backup_name(schedule, at),
            labels={**schedule.metadata.labels, SCHEDULE_LABEL: schedule.name},
            finalizers=(BACKUP_FINALIZER,),
            owner_references=(schedule.as_owner(),) if schedule.spec.use_owner_references_in_backup else (),
        ),
        spec=schedule.spec.template,
    )


def times_of(schedule: Schedule) -> str:
    """Its times in one word, to see whether they have changed."""
    return f"{schedule.spec.schedule} {schedule.spec.timezone}"


def _settled_until(schedule: Schedule, now: datetime) -> datetime:
    """All times up to here are over. A schedule begins when it is made, and new times when they are, not before."""
    status = schedule.status
    if status.times_as_of not in {"", times_of(schedule)}:
        return now
    moments = [schedule.metadata.creation_timestamp, status.last_backup, status.last_skipped]
    return max((moment for moment in moments if moment is not None), default=now)


def _missed(cron: Cron, settled: datetime, due: datetime) -> int:
    return len(list(takewhile(lambda time: time < due, islice(cron.after(settled), _MOST_MISSED))))


def _age(backup: Backup) -> tuple[datetime, str]:
    return backup.metadata.creation_timestamp or datetime.max.replace(tzinfo=UTC), backup.name

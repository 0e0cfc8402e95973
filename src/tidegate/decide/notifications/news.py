"""What is news, who is told of it, and when a delivery that failed is tried again.

A delivery has always the same name for the same news and rule. So it may be made any number of times, after any crash,
and is one; and as its record stays for longer than news are news, nothing is told anew because a server started.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from itertools import pairwise

from tidegate.model.backoff import Doubling
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.notifications.notification import (
    NOTIFICATION_LABEL,
    DeliveryPhase,
    DeliverySpec,
    Notification,
    NotificationDelivery,
    NotificationEvent,
)
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import Restore, RestorePhase
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, SKIPPED_CONDITION, Schedule, SkipReason
from tidegate.model.system.system import SYSTEM_BACKUP_LABEL, SYSTEM_RESTORE_LABEL, SystemBackup, SystemBackupPhase
from tidegate.model.system.system_restore import SystemRestore, SystemRestorePhase
from tidegate.model.verification.verification import Verification, VerificationPhase

# What is older was told long ago, or concerns nobody any more.
NEWS_FOR = timedelta(days=7)
KEPT_FOR = timedelta(days=8)
# A receiver that is away for a day has other worries.
TRIED_FOR = timedelta(hours=24)
_PAUSES = Doubling(timedelta(seconds=10), timedelta(hours=1))
_LONGEST_MESSAGE = 2000

_BAD: dict[str, frozenset[StrEnum]] = {
    "Backup": frozenset({BackupPhase.FAILED, BackupPhase.PARTIALLY_FAILED, BackupPhase.FAILED_VALIDATION}),
    "Restore": frozenset({RestorePhase.FAILED, RestorePhase.PARTIALLY_FAILED, RestorePhase.FAILED_VALIDATION}),
    "Verification": frozenset({VerificationPhase.FAILED, VerificationPhase.FAILED_VALIDATION}),
    "SystemBackup": frozenset({SystemBackupPhase.ERROR}),
    "SystemRestore": frozenset({SystemRestorePhase.ERROR, SystemRestorePhase.PARTIALLY_FAILED}),
}
_WORDS = {"SystemBackup": "System backup", "SystemRestore": "System restore"}

Run = Backup | SystemBackup
"""What a schedule makes."""
Request = Run | Restore | Verification | SystemRestore
"""What somebody asked for, and what ends."""
_AS_WISHED = frozenset({SkipReason.PAUSED, SkipReason.SKIP_IMMEDIATELY})


@dataclass(frozen=True)
class News:
    """Something that happened once; `key` tells it from everything else that happens to the same thing."""

    event: NotificationEvent
    subject: Request | Schedule
    key: str
    at: datetime
    title: str
    message: str = ""


def is_bad_end(resource: Request) -> bool:
    """Whether it is over and did not go well. What somebody called off is no news to anybody."""
    return resource.status.phase in _BAD[resource.kind]


def is_good_run(resource: Request) -> bool:
    """Whether a schedule can be glad of it: not of one that may be empty, and is."""
    if isinstance(resource, Backup) and resource.holds_nothing:
        return False
    return resource.status.phase in {BackupPhase.COMPLETED, SystemBackupPhase.READY} and isinstance(resource, Run)


def _is_a_part(resource: Request) -> bool:
    """Whether a system backup or restore wanted it, whose own end names every volume that failed: one message."""
    return not {SYSTEM_BACKUP_LABEL, SYSTEM_RESTORE_LABEL}.isdisjoint(resource.metadata.labels)


def news_of_end(resource: Request) -> News | None:
    """What there is to tell about a request that is over."""
    status = resource.status
    at = status.completion_timestamp or resource.metadata.creation_timestamp
    if not is_bad_end(resource) or _is_a_part(resource) or at is None:
        return None
    message = status.failure_reason or "; ".join(getattr(status, "validation_errors", ()))
    title = f"{_word(resource)} {resource.name} is {status.phase}"
    event = NotificationEvent.FAILURE
    if isinstance(resource, Verification):
        event = NotificationEvent.VERIFICATION_FAILURE
        title = f"Backup {resource.source_backup or 'of schedule ' + str(resource.spec.schedule_name)} was not proven"
        message = f"verification {resource.name}: {message}"
    return News(event, resource, str(status.phase), at, title, message)


def _word(resource: Request) -> str:
    return _WORDS.get(resource.kind, resource.kind)


def news_of_schedule(schedule: Schedule, runs: Iterable[Run]) -> list[News]:
    """Recoveries among its backups or system backups, and times that went by without one."""
    return [*_recoveries(runs), *_skips(schedule), *_misses(schedule)]


def _recoveries(runs: Iterable[Run]) -> list[News]:
    ended = [(at, run) for run in runs if (at := run.status.completion_timestamp) is not None and _is_verdict(run)]
    ended.sort(key=lambda pair: (pair[0], pair[1].name))
    found = []
    for (_, before), (at, run) in pairwise(ended):
        if is_good_run(run) and is_bad_end(before):
            schedule = run.metadata.labels.get(SCHEDULE_LABEL, "")
            title = f"Schedule {schedule} works again: {_word(run).lower()} {run.name} is {run.status.phase}"
            message = f"the one before it, {before.name}, was {before.status.phase}"
            found.append(News(NotificationEvent.RECOVERY, run, "recovery", at, title, message))
    return found


def _is_verdict(run: Run) -> bool:
    return is_good_run(run) or is_bad_end(run)


def _runs_word(schedule: Schedule) -> str:
    return "backup" if schedule.spec.system_backup is None else "system backup"


def _skips(schedule: Schedule) -> list[News]:
    skipped, condition = schedule.status.last_skipped, schedule.status.condition(SKIPPED_CONDITION)
    if skipped is None or condition is None or condition.reason in _AS_WISHED:
        return []
    title = f"Schedule {schedule.name} skipped a {_runs_word(schedule)}"
    key = f"skipped {skipped.isoformat()}"
    return [News(NotificationEvent.MISSED_SCHEDULE, schedule, key, skipped, title, condition.message)]


def _misses(schedule: Schedule) -> list[News]:
    status = schedule.status
    if status.last_missed_at is None:
        return []
    title = f"Schedule {schedule.name} missed {_runs_word(schedule)}s while no server was there"
    message = f"{status.missed_runs} times since it was made; the latest one is caught up"
    key = f"missed {status.last_missed_at.isoformat()}"
    return [News(NotificationEvent.MISSED_SCHEDULE, schedule, key, status.last_missed_at, title, message)]


def deliveries_of(news: Iterable[News], rules: Sequence[Notification], *, now: datetime) -> list[NotificationDelivery]:
    """One for each rule that wants it. What happened before a rule was made is no news to it."""
    return [
        _delivery(one, rule)
        for one in news
        if now - one.at <= NEWS_FOR
        for rule in rules
        if one.event in rule.spec.events and not rule.deleting and _made(rule, now) <= one.at
    ]


def _made(rule: Notification, now: datetime) -> datetime:
    return rule.metadata.creation_timestamp or now


def _delivery(news: News, rule: Notification) -> NotificationDelivery:
    identity = f"{rule.metadata.uid} {news.event} {news.subject.kind} {news.subject.metadata.uid} {news.key}"
    return NotificationDelivery(
        metadata=Metadata(
            name=f"{rule.name[:100]}-{sha256(identity.encode()).hexdigest()[:16]}",
            labels={NOTIFICATION_LABEL: rule.metadata.uid},
            owner_references=(rule.as_owner(),),
        ),
        spec=DeliverySpec(
            notification=rule.name,
            event=news.event,
            subject_kind=news.subject.kind,
            subject_name=news.subject.name,
            title=news.title,
            message=news.message[:_LONGEST_MESSAGE],
            occurred_at=news.at,
        ),
    )


def delivered(delivery: NotificationDelivery, *, now: datetime) -> NotificationDelivery:
    """Somebody took it."""
    return delivery.with_status(
        phase=DeliveryPhase.DELIVERED,
        attempts=delivery.status.attempts + 1,
        next_attempt_at=None,
        delivered_at=now,
        ended_at=now,
        last_error="",
    )


def not_delivered(delivery: NotificationDelivery, why: str, *, now: datetime) -> NotificationDelivery:
    """Nobody did: later, and ever later, until it is too late."""
    attempts = delivery.status.attempts + 1
    tried = delivery.with_status(attempts=attempts, last_error=why)
    first = delivery.metadata.creation_timestamp or now
    again = now + pause_after(attempts)
    if again - first > TRIED_FOR:
        return tried.with_status(phase=DeliveryPhase.GIVEN_UP, next_attempt_at=None, ended_at=now)
    return tried.with_status(next_attempt_at=again)


def pause_after(attempts: int) -> timedelta:
    """How long to wait after so many attempts: twice as long each time, up to an hour."""
    return _PAUSES.after(attempts)


def time_until_due(delivery: NotificationDelivery, *, now: datetime) -> timedelta:
    """Until it is to be tried, or, once it is over, until its record may go. Never negative."""
    status = delivery.status
    due = status.next_attempt_at if not status.phase.final else (status.ended_at or now) + KEPT_FOR
    return max((due or now) - now, timedelta())

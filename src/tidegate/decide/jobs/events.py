"""What happened to a backup, told when it happens: written with the change itself, so it costs no write of its own.

Pure: what is told follows from the backup before and after. Repetitions are counted, and only the newest are kept, so a
backup that waits for weeks stays small.
"""

from datetime import datetime

from tidegate.model.backups.backup import EMPTY_CONDITION, NOTHING_MATCHED, Backup, BackupEvent, BackupPhase, EventType
from tidegate.model.reasons import Reason

MOST_EVENTS = 20

_WORDS = {
    BackupPhase.QUEUED: ("Queued", "joined the queue"),
    BackupPhase.IN_PROGRESS: ("Started", "began to back up"),
    BackupPhase.COMPLETED: ("Completed", "everything is backed up"),
    BackupPhase.PARTIALLY_FAILED: ("PartiallyFailed", "some of it is not backed up"),
    BackupPhase.FAILED: ("Failed", "nothing is backed up"),
    BackupPhase.CANCELED: ("Canceled", "cancelled on request"),
    BackupPhase.FAILED_VALIDATION: ("FailedValidation", "it cannot be carried out as it is"),
    BackupPhase.DELETING: ("Deleting", "its data is being removed"),
}
_OVER = frozenset({BackupPhase.COMPLETED, BackupPhase.PARTIALLY_FAILED})
_BAD = frozenset({BackupPhase.PARTIALLY_FAILED, BackupPhase.FAILED, BackupPhase.FAILED_VALIDATION})


def with_events(before: Backup, after: Backup, *, now: datetime) -> Backup:
    """The backup `after`, with an event for each step that leads there from `before`."""
    told = [*_steps(before, after, now), *_passed_over(before, after), *_in_vain(before, after)]
    events = after.status.events
    for kind, reason, message in told:
        events = added(events, kind, reason, message, now)
    return after.with_status(events=events) if told else after


def times_passed_over(backup: Backup) -> int:
    """How often it was written down why it waits, since it joined the queue for the last time."""
    events = backup.status.events
    joined = max((place for place, event in enumerate(events) if event.reason == "Queued"), default=-1)
    return sum(event.count for event in events[joined + 1 :] if event.reason == "PassedOver")


def _steps(before: Backup, after: Backup, now: datetime) -> list[tuple[EventType, str, str]]:
    phase, status = after.status.phase, after.status
    if phase is before.status.phase:
        return []
    if phase is BackupPhase.READY_TO_START:
        waited = (now - status.queued_at).total_seconds() if status.queued_at else 0.0
        return [(EventType.NORMAL, "LeftQueue", f"may start, after {waited:.0f} s in the queue")]
    if phase not in _WORDS:
        return []
    reason, words = _WORDS[phase]
    empty = status.condition(EMPTY_CONDITION)
    if empty is not None and phase in _OVER:
        kind = EventType.NORMAL if phase is BackupPhase.COMPLETED else EventType.WARNING
        return [(kind, empty.reason, empty.message)]
    kind = EventType.WARNING if phase in _BAD else EventType.NORMAL
    return [(kind, reason, status.failure_reason or words)]


def _passed_over(before: Backup, after: Backup) -> list[tuple[EventType, str, str]]:
    waiting, earlier = after.status.condition("Waiting"), before.status.condition("Waiting")
    if waiting is None or waiting.reason == Reason.PENDING_EVALUATION:
        return []
    if earlier is not None and (earlier.reason, earlier.message) == (waiting.reason, waiting.message):
        return []
    return [(EventType.NORMAL, "PassedOver", f"{waiting.reason}: {waiting.message}")]


def _in_vain(before: Backup, after: Backup) -> list[tuple[EventType, str, str]]:
    """What a backup asks for and does not find: told when it begins, beside what it does find."""
    begins = before.status.progress is None and after.status.progress is not None
    told = after.status.unmatched if begins and after.status.blocks else ()
    return [(EventType.WARNING, NOTHING_MATCHED, sentence) for sentence in told]


def added(
    events: tuple[BackupEvent, ...], kind: EventType, reason: str, message: str, now: datetime
) -> tuple[BackupEvent, ...]:
    """Like Kubernetes: the same words once more raise a count; they are then the newest."""
    same = next((event for event in events if (event.reason, event.message) == (reason, message)), None)
    first, count = (same.first_timestamp, same.count) if same else (now, 0)
    new = BackupEvent(
        type=kind, reason=reason, message=message, count=count + 1, first_timestamp=first, last_timestamp=now
    )
    return (*(event for event in events if event is not same), new)[-MOST_EVENTS:]

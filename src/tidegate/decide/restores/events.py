"""What happened to a restore, told when it happens: as for backups, written with the change itself."""

from datetime import datetime

from tidegate.decide.jobs.events import added
from tidegate.model.backups.backup import EventType
from tidegate.model.reasons import Reason
from tidegate.model.restores.restore import Restore, RestorePhase

_WORDS = {
    RestorePhase.IN_PROGRESS: ("Started", "began to restore"),
    RestorePhase.COMPLETED: ("Completed", "everything is brought back"),
    RestorePhase.PARTIALLY_FAILED: ("PartiallyFailed", "some of it is not brought back"),
    RestorePhase.FAILED: ("Failed", "nothing is brought back"),
    RestorePhase.CANCELED: ("Canceled", "cancelled on request"),
    RestorePhase.FAILED_VALIDATION: ("FailedValidation", "it cannot be carried out as it is"),
}
_BAD = frozenset({RestorePhase.PARTIALLY_FAILED, RestorePhase.FAILED, RestorePhase.FAILED_VALIDATION})


def with_events(before: Restore, after: Restore, *, now: datetime) -> Restore:
    """The restore `after`, with an event for each step that leads there from `before`."""
    events = after.status.events
    for kind, reason, message in [*_steps(before, after), *_waits(before, after)]:
        events = added(events, kind, reason, message, now)
    return after.with_status(events=events)


def _steps(before: Restore, after: Restore) -> list[tuple[EventType, str, str]]:
    told: list[tuple[EventType, str, str]] = []
    phase, status = after.status.phase, after.status
    if after.settled and not before.settled:
        told.append((EventType.NORMAL, "Settled", _settled(after)))
    if phase is not before.status.phase and phase in _WORDS:
        reason, words = _WORDS[phase]
        why = status.failure_reason or next(iter(status.validation_errors), words)
        told.append((EventType.WARNING if phase in _BAD else EventType.NORMAL, reason, why))
    return told


def _settled(restore: Restore) -> str:
    backup, volumes = restore.source_backup, restore.status.target_volumes or ()
    reads = f"reads backup {backup}" if backup else "reads the volume backup that its URL names"
    if not volumes:
        return f"{reads}; writes to no volume that is defined"
    return f"{reads}; writes to {len(volumes)} volume{'s'[: len(volumes) != 1]}"


def _waits(before: Restore, after: Restore) -> list[tuple[EventType, str, str]]:
    waiting, earlier = after.status.condition("Waiting"), before.status.condition("Waiting")
    if waiting is None or waiting.reason == Reason.PENDING_EVALUATION:
        return []  # every restore is looked at first; that is no news
    # What it waits for once it has begun has numbers in it that change with every volume of somebody else.
    same_words = earlier is not None and earlier.message == waiting.message
    if earlier and earlier.reason == waiting.reason and (same_words or after.status.phase is RestorePhase.IN_PROGRESS):
        return []
    return [(EventType.NORMAL, "Waiting", f"{waiting.reason}: {waiting.message}")]

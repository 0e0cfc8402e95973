"""Events: what happened to a backup, a restore, a verification or a transfer, written with the change itself.

Pure: they follow from the resource before and after, so an event costs no write of its own. Repetitions are counted,
and only the newest are kept, so what waits for weeks stays small.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from tidegate.model.backups.backup import EMPTY_CONDITION, NOTHING_MATCHED, Backup, BackupEvent, BackupPhase, EventType
from tidegate.model.reasons import Reason
from tidegate.model.resource import Condition
from tidegate.model.restores.restore import Restore, RestorePhase
from tidegate.model.transfers.transfer import Transfer, TransferPhase
from tidegate.model.verification.verification import Verification, VerificationPhase

MOST_EVENTS = 20
MOST_EVENTS_OF_A_TRANSFER = 10

Job = Backup | Restore | Verification | Transfer
J = TypeVar("J", Backup, Restore, Verification, Transfer)

_Words = Mapping[str, tuple[str, str]]
"""By phase: the reason and the message of the step into it."""

_BACKUP: _Words = {
    BackupPhase.QUEUED: ("Queued", "joined the queue"),
    BackupPhase.IN_PROGRESS: ("Started", "began to back up"),
    BackupPhase.COMPLETED: ("Completed", "everything is backed up"),
    BackupPhase.PARTIALLY_FAILED: ("PartiallyFailed", "some of it is not backed up"),
    BackupPhase.FAILED: ("Failed", "nothing is backed up"),
    BackupPhase.CANCELED: ("Canceled", "cancelled on request"),
    BackupPhase.FAILED_VALIDATION: ("FailedValidation", "it cannot be carried out as it is"),
    BackupPhase.DELETING: ("Deleting", "its data is being removed"),
}
_RESTORE: _Words = {
    RestorePhase.IN_PROGRESS: ("Started", "began to restore"),
    RestorePhase.COMPLETED: ("Completed", "everything is brought back"),
    RestorePhase.PARTIALLY_FAILED: ("PartiallyFailed", "some of it is not brought back"),
    RestorePhase.FAILED: ("Failed", "nothing is brought back"),
    RestorePhase.CANCELED: ("Canceled", "cancelled on request"),
    RestorePhase.FAILED_VALIDATION: ("FailedValidation", "it cannot be carried out as it is"),
}
_VERIFICATION: _Words = {
    VerificationPhase.IN_PROGRESS: ("Started", "it restores into its scratch place"),
    VerificationPhase.CHECKING: ("Checking", "everything reads back as it was backed up; the check command runs"),
    VerificationPhase.CLEANING_UP: ("CleaningUp", "the scratch place is being removed"),
    VerificationPhase.COMPLETED: ("Completed", "the backup restores"),
    VerificationPhase.CANCELED: ("Canceled", "cancelled on request"),
    VerificationPhase.FAILED: ("Failed", "it failed"),
    VerificationPhase.FAILED_VALIDATION: ("FailedValidation", "it failed"),
}
_TRANSFER: _Words = {
    TransferPhase.ACCEPTED: ("Accepted", "may be prepared"),
    TransferPhase.PREPARED: ("Prepared", "is ready to move"),
    TransferPhase.IN_PROGRESS: ("InProgress", "began to move"),
    TransferPhase.CANCELING: ("Canceling", "is being stopped"),
    TransferPhase.CANCELED: ("Canceled", "was cancelled"),
    TransferPhase.COMPLETED: ("Completed", "everything is moved"),
    TransferPhase.FAILED: ("Failed", "failed"),
}
_BAD = frozenset({"PartiallyFailed", "Failed", "FailedValidation"})
_OVER = frozenset({BackupPhase.COMPLETED, BackupPhase.PARTIALLY_FAILED})
_GOES_ON = frozenset({TransferPhase.PREPARED, TransferPhase.IN_PROGRESS})


class _News(NamedTuple):
    reason: str
    message: str
    type: EventType = EventType.NORMAL


def with_events(before: Job, after: J, *, now: datetime) -> J:
    """Return `after` with an event for each step that leads there from `before`, or itself if there is none."""
    news = _news(before, after, now)
    events = after.status.events
    for one in news:
        events = _added(events, one, now)
    return after.with_status(events=events[-_most(after) :]) if news else after


def times_passed_over(backup: Backup) -> int:
    """How often it was written down why it waits, since it joined the queue for the last time."""
    events = backup.status.events
    joined = max((place for place, event in enumerate(events) if event.reason == "Queued"), default=-1)
    return sum(event.count for event in events[joined + 1 :] if event.reason == "PassedOver")


def _most(job: Job) -> int:
    return MOST_EVENTS_OF_A_TRANSFER if isinstance(job, Transfer) else MOST_EVENTS


def _news(before: Job, after: Job, now: datetime) -> Sequence[_News]:
    match before, after:
        case Backup(), Backup():
            return [*_of_backup(before, after, now), *_in_vain(before, after)]
        case Restore(), Restore():
            return _of_restore(before, after)
        case Verification(), Verification():
            status = after.status
            return _step(before, after, _VERIFICATION, status.failure_reason or "; ".join(status.validation_errors))
        case Transfer(), Transfer():
            return _of_transfer(before, after)
    raise TypeError(f"a {before.kind} does not become a {after.kind}")


def _of_backup(before: Backup, after: Backup, now: datetime) -> list[_News]:
    status = after.status
    news = _step(before, after, _BACKUP, status.failure_reason)
    if status.phase is BackupPhase.READY_TO_START and before.status.phase is not status.phase:
        waited = (now - status.queued_at).total_seconds() if status.queued_at else 0.0
        news = [_News("LeftQueue", f"may start, after {waited:.0f} s in the queue")]
    empty = status.condition(EMPTY_CONDITION)
    if news and empty is not None and status.phase in _OVER:
        kind = EventType.NORMAL if status.phase is BackupPhase.COMPLETED else EventType.WARNING
        news = [_News(empty.reason, empty.message, kind)]
    wait = _new_wait(before, after)
    return [*news, _News("PassedOver", f"{wait.reason}: {wait.message}")] if wait else news


def _in_vain(before: Backup, after: Backup) -> list[_News]:
    """What a backup asks for and does not find, when it begins; what it finds shows as progress."""
    begins = before.status.progress is None and after.status.progress is not None
    unmatched = after.status.unmatched if begins and after.status.blocks else ()
    return [_News(NOTHING_MATCHED, sentence, EventType.WARNING) for sentence in unmatched]


def _of_restore(before: Restore, after: Restore) -> list[_News]:
    status = after.status
    settled = [_News("Settled", _settled(after))] if after.settled and not before.settled else []
    step = _step(before, after, _RESTORE, status.failure_reason or next(iter(status.validation_errors), ""))
    # Once it has begun, the message has numbers in it that change with every volume of other jobs.
    wait = _new_wait(before, after, by_reason=status.phase is RestorePhase.IN_PROGRESS)
    waits = [_News("Waiting", f"{wait.reason}: {wait.message}")] if wait else []
    return [*settled, *step, *waits]


def _settled(restore: Restore) -> str:
    backup, volumes = restore.source_backup, restore.status.target_volumes or ()
    reads = f"reads backup {backup}" if backup else "reads the volume backup that its URL names"
    if not volumes:
        return f"{reads}; writes to no volume that is defined"
    return f"{reads}; writes to {len(volumes)} volume{'s'[: len(volumes) != 1]}"


def _of_transfer(before: Transfer, after: Transfer) -> list[_News]:
    status = after.status
    # One that begins anew says why with its first step, and keeps the sentence; the next steps are not about that.
    why = "" if status.phase in _GOES_ON and status.message == before.status.message else status.message
    if not why and status.phase is TransferPhase.ACCEPTED and status.node:
        why = f"{_TRANSFER[status.phase][1]} on {status.node}"
    wait = _new_wait(before, after, by_reason=True)
    return [*_step(before, after, _TRANSFER, why), *([_News(wait.reason, wait.message)] if wait else [])]


def _step(before: Job, after: Job, words: _Words, why: str | None) -> list[_News]:
    phase = after.status.phase
    if phase == before.status.phase or phase not in words:
        return []
    reason, message = words[phase]
    return [_News(reason, why or message, EventType.WARNING if phase in _BAD else EventType.NORMAL)]


def _new_wait(before: Job, after: Job, *, by_reason: bool = False) -> Condition | None:
    """What it waits for now, if that is news: another reason, or another message unless only reasons count."""
    waiting, earlier = after.status.condition("Waiting"), before.status.condition("Waiting")
    if waiting is None or waiting.reason == Reason.PENDING_EVALUATION:
        return None  # everything is looked at first; that is no news
    same = earlier is not None and earlier.reason == waiting.reason
    same = same and (by_reason or (earlier is not None and earlier.message == waiting.message))
    return None if same else waiting


def _added(events: tuple[BackupEvent, ...], news: _News, now: datetime) -> tuple[BackupEvent, ...]:
    """As in Kubernetes, the same words once more raise a count; they are then the newest."""
    same = next((event for event in events if (event.reason, event.message) == (news.reason, news.message)), None)
    first, count = (same.first_timestamp, same.count) if same else (now, 0)
    new = BackupEvent(
        type=news.type,
        reason=news.reason,
        message=news.message,
        count=count + 1,
        first_timestamp=first,
        last_timestamp=now,
    )
    return (*(event for event in events if event is not same), new)

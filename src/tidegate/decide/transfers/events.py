"""What happened to a transfer, told with the write that changes it, as for backups."""

from datetime import datetime
from typing import TypeVar

from tidegate.decide.jobs.events import added
from tidegate.model.backups.backup import EventType
from tidegate.model.transfers.transfer import Transfer, TransferPhase

MOST_EVENTS = 10

T = TypeVar("T", bound=Transfer)

_WORDS = {
    TransferPhase.ACCEPTED: "may be prepared",
    TransferPhase.PREPARED: "is ready to move",
    TransferPhase.IN_PROGRESS: "began to move",
    TransferPhase.CANCELING: "is being stopped",
    TransferPhase.CANCELED: "was cancelled",
    TransferPhase.COMPLETED: "everything is moved",
    TransferPhase.FAILED: "failed",
}
_GOES_ON = frozenset({TransferPhase.PREPARED, TransferPhase.IN_PROGRESS})


def with_transfer_events(before: Transfer, after: T, *, now: datetime) -> T:
    """The transfer `after`, with an event if its phase is another, or the reason why it waits.

    A new message with the same reason is none: places in a line change all the time.
    """
    told = [*_step(before, after), *_held_up(before, after)]
    events = after.status.events
    for kind, reason, message in told:
        events = added(events, kind, reason, message, now)
    return after.with_status(events=events[-MOST_EVENTS:]) if told else after


def _step(before: Transfer, after: Transfer) -> list[tuple[EventType, str, str]]:
    phase = after.status.phase
    if phase is before.status.phase or phase not in _WORDS:
        return []
    kind = EventType.WARNING if phase is TransferPhase.FAILED else EventType.NORMAL
    where = f" on {after.status.node}" if phase is TransferPhase.ACCEPTED and after.status.node else ""
    # One that begins anew tells why with its first step, and keeps the sentence; the next steps are not about that.
    told = "" if phase in _GOES_ON and after.status.message == before.status.message else after.status.message
    return [(kind, str(phase), told or f"{_WORDS[phase]}{where}")]


def _held_up(before: Transfer, after: Transfer) -> list[tuple[EventType, str, str]]:
    waiting, earlier = after.status.condition("Waiting"), before.status.condition("Waiting")
    if waiting is None or (earlier is not None and earlier.reason == waiting.reason):
        return []
    return [(EventType.NORMAL, waiting.reason, waiting.message)]

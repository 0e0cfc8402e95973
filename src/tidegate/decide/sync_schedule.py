"""When a target is synced and when it is looked at: by its interval, by request, and slower after each failure.

Pure. What decides is stored (when it was synced, since when it fails), so a restart changes nothing, and the text of an
error never does: a message that changes with every try must not cause the next try (longhorn#13831).
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

FIRST_RETRY = timedelta(seconds=30)
LONGEST_RETRY = timedelta(hours=1)
# A backup waits for its target: so it is asked often, but not for ever equally often.
FIRST_LOOK = timedelta(seconds=5)
LONGEST_LOOK = timedelta(seconds=60)
LOOK_WHEN_WELL = timedelta(seconds=30)
_VOLATILE = re.compile(r"[0-9a-fA-F-]{8,}|\d+(?:[.:]\d+)*")


class SyncReason(StrEnum):
    """Why a sync is due, or why it is not."""

    NEVER_SYNCED = "NeverSynced"
    REQUESTED = "Requested"
    INTERVAL = "Interval"
    RETRY = "Retry"
    UP_TO_DATE = "UpToDate"
    NO_TIMER = "NoTimer"
    """pollInterval 0: only when the target is set, after own backups and on request."""
    UNAVAILABLE = "TargetUnavailable"
    BACKING_OFF = "BackingOff"


@dataclass(frozen=True, kw_only=True)
class SyncState:
    """What is stored of a target's syncs."""

    available: bool
    poll_interval: timedelta
    requested_at: datetime | None = None
    synced_at: datetime | None = None
    """When the last sync that succeeded began."""
    same_place: bool = True
    """Whether that sync was of the place that the target names now."""
    failures: int = 0
    """In a row."""
    failed_at: datetime | None = None


@dataclass(frozen=True)
class SyncDecision:
    """Whether to sync now; if not, when to look again (None: when something changes)."""

    due: bool
    reason: SyncReason
    again_after: timedelta | None = None


def plan_sync(state: SyncState, now: datetime) -> SyncDecision:
    """Due if it was never synced, a request is newer than the last sync, or the interval has passed."""
    if not state.available:
        return SyncDecision(due=False, reason=SyncReason.UNAVAILABLE)
    wish = _wish(state, now)
    if state.failures and state.failed_at is not None:
        newer = state.requested_at is not None and state.requested_at > state.failed_at
        wait = state.failed_at + retry_delay(state.failures) - now
        if not newer and wait > timedelta():
            return SyncDecision(due=False, reason=SyncReason.BACKING_OFF, again_after=wait)
        if wish not in {SyncReason.UP_TO_DATE, SyncReason.NO_TIMER}:
            return SyncDecision(due=True, reason=SyncReason.REQUESTED if newer else SyncReason.RETRY)
    if wish in {SyncReason.UP_TO_DATE, SyncReason.NO_TIMER}:
        timer = state.poll_interval > timedelta() and state.synced_at is not None
        again = state.synced_at + state.poll_interval - now if timer and state.synced_at else None
        return SyncDecision(due=False, reason=wish, again_after=again)
    return SyncDecision(due=True, reason=wish)


def _wish(state: SyncState, now: datetime) -> SyncReason:
    if state.synced_at is None or not state.same_place:
        return SyncReason.NEVER_SYNCED
    if state.requested_at is not None and state.requested_at > state.synced_at:
        return SyncReason.REQUESTED
    if state.poll_interval <= timedelta():
        return SyncReason.NO_TIMER
    # A clock that was set back must not hold up syncs until it has caught up.
    due = now >= state.synced_at + state.poll_interval or now < state.synced_at
    return SyncReason.INTERVAL if due else SyncReason.UP_TO_DATE


def retry_delay(failures: int) -> timedelta:
    """Doubles with each failure in a row, up to an hour."""
    return min(LONGEST_RETRY, FIRST_RETRY * (1 << min(max(failures, 1) - 1, 20)))


def look_delay(failures: int) -> timedelta:
    """When to ask again whether a target answers: slower while it does not."""
    if failures == 0:
        return LOOK_WHEN_WELL
    return min(LONGEST_LOOK, FIRST_LOOK * (1 << min(failures - 1, 10)))


def same_message(old: str, new: str) -> bool:
    """Whether two messages say the same but for numbers of requests, times and ports."""
    return _VOLATILE.sub("#", old) == _VOLATILE.sub("#", new)

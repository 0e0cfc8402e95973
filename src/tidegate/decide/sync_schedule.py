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
_QUICK_LOOKS = 12
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
    confirmed: bool = False
    """Whether somebody has confirmed what the last sync held back."""
    partial: bool = False
    """Whether the last one saw the store but left something out."""


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
    idle = wish in {SyncReason.UP_TO_DATE, SyncReason.NO_TIMER}
    if _backs_off(state, wish):
        wait = (state.failed_at or now) + retry_delay(state.failures) - now
        if wait > timedelta():
            return SyncDecision(due=False, reason=SyncReason.BACKING_OFF, again_after=wait)
        return SyncDecision(due=True, reason=SyncReason.RETRY)
    if not idle:
        return SyncDecision(due=True, reason=wish)
    again = state.synced_at + state.poll_interval - now if state.synced_at and state.poll_interval else None
    return SyncDecision(due=False, reason=wish, again_after=again)


def _backs_off(state: SyncState, wish: SyncReason) -> bool:
    """Whether what failed decides: not if somebody has asked since, and not if the timer comes anyway."""
    if not state.failures or state.failed_at is None:
        return False
    if state.requested_at is not None and state.requested_at > state.failed_at:
        return False
    # One bad corner of a store must not slow down the syncs of the rest; without a timer nobody else would come.
    return not state.partial or wish is SyncReason.NO_TIMER


def _wish(state: SyncState, now: datetime) -> SyncReason:
    if state.synced_at is None or not state.same_place:
        return SyncReason.NEVER_SYNCED
    if state.confirmed or (state.requested_at is not None and state.requested_at > state.synced_at):
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
    # For the first minute as often as people are used to: most stores that are away come back at once.
    return FIRST_LOOK if failures <= _QUICK_LOOKS else min(LONGEST_LOOK, FIRST_LOOK * (failures - _QUICK_LOOKS + 1))


def same_message(old: str, new: str) -> bool:
    """Whether two messages say the same but for numbers of requests, times and ports."""
    return _VOLATILE.sub("#", old) == _VOLATILE.sub("#", new)

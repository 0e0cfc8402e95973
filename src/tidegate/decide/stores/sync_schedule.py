"""When a target is synced and when it is looked at: by its interval, by request, and slower after each failure.

Pure. What decides is stored (when it was synced, since when it fails), so a restart changes nothing, and the text of an
error never does: a message that changes with every try must not cause the next try (longhorn#13831).
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from tidegate.model.backoff import Doubling
from tidegate.model.stores.catalogue_status import SyncForecast

# Whoever presses a button many times gets one sync now and one more: so long after the last that somebody asked for.
FORCED_GAP = timedelta(seconds=10)
_RETRIES = Doubling(timedelta(seconds=30), timedelta(hours=1))
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
    TOO_SOON = "TooSoon"
    """Somebody asked again right after the end of a sync that somebody had asked for."""
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
    failed_here: bool = True
    """Whether that was at the place that the target names now."""
    forced_at: datetime | None = None
    """When the last sync ended that somebody had asked for."""
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
    asked: bool = False
    """Whether somebody asked for it."""


def plan_sync(state: SyncState, now: datetime) -> SyncDecision:
    """Due if it was never synced, a request is newer than the last sync, or the interval has passed."""
    if not state.available:
        return SyncDecision(due=False, reason=SyncReason.UNAVAILABLE)
    state, later = _believable(state, now), state.requested_at
    if not _is_asked(state, now):
        return _not_beyond(later, _plan(state, now), now)
    pause = forced_pause(state.forced_at, now)
    if not pause or state.confirmed:
        return replace(_plan(state, now), asked=True)
    without = _plan(replace(state, requested_at=None), now)
    return without if without.due else SyncDecision(due=False, reason=SyncReason.TOO_SOON, again_after=pause)


def forced_pause(ended_at: datetime | None, now: datetime) -> timedelta:
    """How long a sync that somebody asks for has to wait after the end of the last such one; zero: not at all."""
    if ended_at is None or ended_at > now:
        return timedelta()
    return max(ended_at + FORCED_GAP - now, timedelta())


def forecast(decision: SyncDecision, now: datetime, *, running: bool) -> SyncForecast:
    """When a sync that was just asked for begins, for whoever asked."""
    if running:
        return SyncForecast(message="one runs now; once more when that has ended")
    if decision.due:
        return SyncForecast(due_at=now, message="it begins now")
    if decision.reason is SyncReason.UNAVAILABLE:
        return forecast_while_away()
    after = decision.again_after
    due_at = now + after if after is not None else None
    if decision.reason is SyncReason.TOO_SOON:
        return too_soon(due_at)
    return SyncForecast(due_at=due_at, message="nothing was asked for since the last one")


def forecast_while_away() -> SyncForecast:
    """Nobody can know when a store answers."""
    return SyncForecast(message="it begins when the target answers")


def too_soon(due_at: datetime | None) -> SyncForecast:
    """Somebody asks again and again."""
    seconds = FORCED_GAP.total_seconds()
    return SyncForecast(due_at=due_at, message=f"it begins {seconds:g} seconds after the last one that was asked for")


def _believable(state: SyncState, now: datetime) -> SyncState:
    """Without moments that are yet to come: somebody wrote them, or a clock was set back.

    A failure in the future would hold up everything. A request for the future is not due: it would be newer than every
    sync, and cause them without end.
    """

    def past(moment: datetime | None) -> datetime | None:
        return moment if moment is not None and moment <= now else None

    return replace(state, requested_at=past(state.requested_at), failed_at=past(state.failed_at))


def _not_beyond(later: datetime | None, decision: SyncDecision, now: datetime) -> SyncDecision:
    """Look again when a request for later is due, if nothing comes first."""
    if decision.due or later is None or later <= now:
        return decision
    waits = [wait for wait in (decision.again_after, later - now) if wait is not None]
    return replace(decision, again_after=min(waits))


def _is_asked(state: SyncState, now: datetime) -> bool:
    """Whether a request is newer than what came of the last sync."""
    if state.requested_at is None:
        return False
    failed_at = state.failed_at if state.failures else None
    ended = [moment for moment in (state.synced_at, failed_at) if moment is not None and moment <= now]
    return all(state.requested_at > moment for moment in ended)


def _plan(state: SyncState, now: datetime) -> SyncDecision:
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
    if not state.failures or state.failed_at is None or not state.failed_here:
        return False
    if state.requested_at is not None and state.requested_at > state.failed_at:
        return False
    # One bad corner of a store must not slow down the syncs of the rest; without a timer nobody else would come.
    return not state.partial or wish is SyncReason.NO_TIMER


def _wish(state: SyncState, now: datetime) -> SyncReason:
    if state.synced_at is None or not state.same_place:
        return SyncReason.NEVER_SYNCED
    if state.confirmed or _is_asked(state, now):
        return SyncReason.REQUESTED
    if state.poll_interval <= timedelta():
        return SyncReason.NO_TIMER
    # A clock that was set back must not hold up syncs until it has caught up.
    due = now >= state.synced_at + state.poll_interval or now < state.synced_at
    return SyncReason.INTERVAL if due else SyncReason.UP_TO_DATE


def retry_delay(failures: int) -> timedelta:
    """Doubles with each failure in a row, up to an hour."""
    return _RETRIES.after(failures)


def look_delay(failures: int) -> timedelta:
    """When to ask again whether a target answers: slower while it does not."""
    if failures == 0:
        return LOOK_WHEN_WELL
    # For the first minute as often as people are used to: most stores that are away come back at once.
    return FIRST_LOOK if failures <= _QUICK_LOOKS else min(LONGEST_LOOK, FIRST_LOOK * (failures - _QUICK_LOOKS + 1))


def same_message(old: str, new: str) -> bool:
    """Whether two messages say the same but for numbers of requests, times and ports."""
    return _VOLATILE.sub("#", old) == _VOLATILE.sub("#", new)

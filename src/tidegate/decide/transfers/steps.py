"""What happens next to one transfer: pure, from what is stored, what is known of its mover, and the time.

Every phase that is not final has a deadline or waits for something that has one (`deadlines.py`), and a wish
to cancel is acted on in each of them at once. A mover that was started is stopped before its transfer ends, so nothing
moves for a transfer that is over.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tidegate.decide.transfers.deadlines import (
    CANCEL_GRACE,
    LOCK_AGAIN,
    LOOK_AGAIN,
    PROGRESS_EVERY,
    STALLS_BEFORE_STOP,
    Overdue,
    TransferLimits,
    accepted_overdue,
    prepared_overdue,
    stall_message,
)
from tidegate.decide.transfers.known_mover import KnownMover, MoverState
from tidegate.decide.transfers.leftovers import left_behind
from tidegate.decide.transfers.step import (
    BeginAnew,
    BeginStop,
    ClearLeftovers,
    End,
    ForgetMover,
    LetGo,
    MarkPrepared,
    Note,
    StartMover,
    Step,
    StopMover,
    TryAgain,
    Wait,
    WaitForLock,
)
from tidegate.errors import StoreIdentityChanged, StoreIdentityMissing, StoreLockHeld, WorkCancelled
from tidegate.model.duration import format_duration
from tidegate.model.transfers.mover_job import MOVER_DIED, ErrorReport, ResultReport
from tidegate.model.transfers.transfer import Transfer, TransferPhase

NEVER_MOVED = "cancelled before it moved anything"
SNAPSHOT_LOST = "the snapshot that it read is gone with its mover, and another one would hold what was written since"
ON_REQUEST = "cancelled on request"
# While what is left is being removed; a mover that died there may have left more.
_OTHER_STORE = frozenset({StoreIdentityMissing.code, StoreIdentityChanged.code})
_WORTH_RETRYING = _OTHER_STORE | {
    "StoreUnavailable",
    "StoreBusy",
    "StoreLocked",
    StoreLockHeld.code,
    "RetryableError",
    MOVER_DIED,
}


def next_step(  # noqa: PLR0911  # a row per phase
    transfer: Transfer, mover: KnownMover | None, *, now: datetime, limits: TransferLimits
) -> Step:
    """The one step that is due now."""
    case = _Case(transfer, mover, now, limits)
    if transfer.status.phase.final:
        return Wait()
    if mover is not None and mover.last_words is not None:
        return case.conclude(mover, mover.last_words)
    match transfer.status.phase:
        case TransferPhase.ACCEPTED:
            return case.accepted()
        case TransferPhase.PREPARED:
            return case.prepared()
        case TransferPhase.IN_PROGRESS:
            return case.in_progress()
        case TransferPhase.CANCELING:
            return case.canceling()
        case _:
            # Waiting for the gates costs no time: how long is decided by what is ahead, and each of those has an end.
            return case.new()


@dataclass(frozen=True)
class _Case:
    transfer: Transfer
    mover: KnownMover | None
    now: datetime
    limits: TransferLimits

    @property
    def unwanted(self) -> bool:
        return self.transfer.spec.cancel or self.transfer.deleting

    def new(self) -> Step:
        refused = self.transfer.spec.refused
        if refused is not None:
            return End(TransferPhase.FAILED, refused.message, error_code=refused.error_code)
        if self.unwanted:
            return End(TransferPhase.CANCELED, NEVER_MOVED)
        again = self.transfer.status.retry_at
        return TryAgain() if again and self.now >= again else Wait(again)

    def accepted(self) -> Step:
        overdue = accepted_overdue(self.transfer, self.limits)
        if step := self._give_up(overdue):
            return step
        if self.mover is None:
            return StartMover()
        if self.mover.state is MoverState.STARTING:
            return Wait(overdue.at)
        return MarkPrepared(self.mover.from_snapshot)

    def prepared(self) -> Step:
        overdue = prepared_overdue(self.transfer, self.limits, now=self.now)
        if step := self._give_up(overdue):
            return step
        return self._start() if self.mover is None else Wait(overdue.at)

    def _start(self) -> Step:
        """Another snapshot would hold what was written since, and nobody kept it from being written."""
        lost = self.transfer.status.from_snapshot
        return End(TransferPhase.FAILED, SNAPSHOT_LOST) if lost else StartMover()

    def _give_up(self, overdue: Overdue) -> Step | None:
        """Before anything moved: stop the mover, if there is one, and only then tell the end."""
        late = overdue.message != "" and self.now >= overdue.at
        if not self.unwanted and not late:
            return None
        if self.mover is not None:
            return StopMover(self.now + LOOK_AGAIN)
        if self.unwanted:
            return End(TransferPhase.CANCELED, NEVER_MOVED)
        return End(TransferPhase.FAILED, overdue.message)

    def in_progress(self) -> Step:
        status, timeout = self.transfer.status, self.transfer.spec.timeout
        started = status.start_timestamp or self.now
        if self.unwanted:
            return BeginStop(ON_REQUEST)
        if self.now >= started + timeout:
            return BeginStop(f"took longer than {format_duration(timeout)}")
        if self.mover is None:
            return self._start()
        if self.mover.state is MoverState.READY:
            return LetGo()
        return self._watch_over(self.mover, started, deadline=started + timeout)

    def _watch_over(self, mover: KnownMover, started: datetime, *, deadline: datetime) -> Step:
        silent_since = max(mover.heard_at, started)
        give_up = silent_since + STALLS_BEFORE_STOP * self.limits.stall
        if self.now >= give_up:
            return BeginStop(f"no progress for {format_duration(STALLS_BEFORE_STOP * self.limits.stall)}")
        stalls = silent_since + self.limits.stall
        stage = mover.progress.stage if mover.progress else ""
        stalled = stall_message(stage, silent_since, self.limits) if self.now >= stalls else ""
        before = self.transfer.status.condition("Stalled")
        told = before is not None and before.status == "True"
        written = self.transfer.status.progress
        has_news = mover.progress is not None and mover.progress != (written and written.replace(updated_at=None))
        due = ((written and written.updated_at) or started) + PROGRESS_EVERY
        if bool(stalled) != told or (has_news and self.now >= due):
            progress = mover.progress.replace(updated_at=mover.heard_at) if mover.progress else None
            return Note(progress, stalled)
        moments = [deadline, give_up, *([due] if has_news else []), *([] if stalled else [stalls])]
        return Wait(min(moments))

    def canceling(self) -> Step:
        status = self.transfer.status
        since = status.canceling_timestamp
        if since is None:
            return BeginStop(status.message or ON_REQUEST)
        if self.now >= since + CANCEL_GRACE:
            return self._forced()
        if self.mover is not None:
            return Wait(since + CANCEL_GRACE) if self.mover.clears else StopMover(self.now + LOOK_AGAIN)
        if self.transfer.direction == "upload" and status.accepted_timestamp is not None:
            return ClearLeftovers()
        return self._stopped()

    def _forced(self) -> Step:
        """Nobody waits for ever, not even for a process that the kernel does not let go, or a store that is away."""
        why = self.transfer.status.message or ON_REQUEST
        left = "its mover had not ended" if self.mover and not self.mover.clears else "what it left was not removed"
        rest = f"{left} {format_duration(CANCEL_GRACE)} after it was asked to stop"
        return End(TransferPhase.FAILED, f"{why}; {rest}")

    def conclude(self, mover: KnownMover, words: ResultReport | ErrorReport) -> Step:
        """What the mover's last words mean. What is done is done, also while it was being cancelled."""
        if isinstance(words, ResultReport):
            return self._stopped() if mover.clears else End(TransferPhase.COMPLETED, result=words.result)
        if words.code == WorkCancelled.code or self._had_to_be_killed(words):
            return self._stopped(left_behind(self.transfer, words))
        if self.transfer.status.phase is TransferPhase.CANCELING and words.code in _WORTH_RETRYING:
            since = self.transfer.status.canceling_timestamp
            late = since is not None and self.now >= since + CANCEL_GRACE
            # What the dead one left is removed at once; only one that could not remove it is given time.
            return self._forced() if late else ForgetMover(self.now + (LOOK_AGAIN if mover.clears else timedelta()))
        begins_anew = not self.transfer.status.from_snapshot
        if begins_anew and words.code in _OTHER_STORE and not self.unwanted:
            return BeginAnew(words.message)
        if begins_anew and words.code == StoreLockHeld.code and (step := self._without_lock(words.message)):
            return step
        # What to do about it is told too: nobody sees the mover's own words but here.
        message = "; ".join(filter(None, (words.message, words.hint, left_behind(self.transfer, words))))
        return End(TransferPhase.FAILED, message, error_code=words.code)

    def _without_lock(self, why: str) -> Step | None:
        """It had not begun: it waits, unless nobody wants it any more, or it has waited for too long."""
        if self.unwanted:
            return self._stopped()
        since = self.transfer.status.waits_for_lock_since or self.now
        return WaitForLock(why, self.now + LOCK_AGAIN) if self.now < since + self.transfer.spec.timeout else None

    def _had_to_be_killed(self, words: ErrorReport) -> bool:
        """Whether it hung in something, a store that does not answer for one, and did not hear that it should stop.

        An upload that had begun to move is none of these: what it left in the store is removed first.
        """
        match self.transfer.status.phase:
            case TransferPhase.ACCEPTED | TransferPhase.PREPARED:
                return self.unwanted or (words.code == MOVER_DIED and self._overdue() != "")
            case TransferPhase.CANCELING:
                return words.code == MOVER_DIED and self.transfer.direction == "download"
            case _:
                return False

    def _stopped(self, left: str = "") -> End:
        """Canceled if somebody asked for it, Failed with the reason otherwise."""
        status = self.transfer.status
        if status.phase is TransferPhase.CANCELING:
            phase = TransferPhase.CANCELED if self.unwanted else TransferPhase.FAILED
            return End(phase, "; ".join(filter(None, (status.message or ON_REQUEST, left))))
        if self.unwanted:
            moved = status.phase is TransferPhase.IN_PROGRESS
            return End(TransferPhase.CANCELED, ON_REQUEST if moved else NEVER_MOVED)
        return End(TransferPhase.FAILED, self._overdue() or "its mover was stopped by somebody else")

    def _overdue(self) -> str:
        """That it took too long to get ready, if it did."""
        match self.transfer.status.phase:
            case TransferPhase.ACCEPTED:
                late = accepted_overdue(self.transfer, self.limits)
            case TransferPhase.PREPARED:
                late = prepared_overdue(self.transfer, self.limits, now=self.now)
            case _:
                return ""
        return late.message if self.now >= late.at else ""

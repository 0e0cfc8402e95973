"""The life of a transfer, as tables: what happens next in every phase, whatever its mover does."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.transfers.deadlines import CANCEL_GRACE, LOCK_AGAIN, LOOK_AGAIN, TransferLimits
from tidegate.decide.transfers.known_mover import KnownMover, MoverState
from tidegate.decide.transfers.step import (
    BeginStop,
    ClearLeftovers,
    End,
    ForgetMover,
    LetGo,
    MarkPrepared,
    Note,
    StartMover,
    StopMover,
    TryAgain,
    Wait,
    WaitForLock,
)
from tidegate.decide.transfers.steps import next_step
from tidegate.model.reasons import Reason
from tidegate.model.resource import Condition
from tidegate.model.transfers.mover_job import MOVER_DIED, ErrorReport, ResultReport
from tidegate.model.transfers.transfer import TRANSFERS, DataDownload, DataUpload, Refusal
from tidegate.model.transfers.transfer import TransferPhase as P
from tidegate.model.transfers.transfer_progress import TransferProgress, TransferResult
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.testing.resources.builders import THEN, a_transfer

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
LIMITS = TransferLimits(prepare=30 * MINUTE, stall=10 * MINUTE)
TIMES = {
    P.ACCEPTED: {"accepted_timestamp": THEN},
    P.PREPARED: {"accepted_timestamp": THEN, "prepared_timestamp": THEN},
    P.IN_PROGRESS: {"accepted_timestamp": THEN, "prepared_timestamp": THEN, "start_timestamp": THEN},
    P.CANCELING: {"accepted_timestamp": THEN, "start_timestamp": THEN, "canceling_timestamp": THEN},
}
RESULT = TransferResult(url="u", size=3)
CANCELLED = ErrorReport(code="WorkCancelled", message="the work was cancelled")
GONE = ErrorReport(code="SourceUnreadable", message="/data is gone")
DEAD = ErrorReport(code=MOVER_DIED, message="the mover was killed by SIGKILL")
AWAY = ErrorReport(code="StoreUnavailable", message="no answer")


def mover(state, *, words=None, heard=timedelta(), progress=None, clears=False):
    return KnownMover(state, THEN + heard, progress=progress, last_words=words, clears=clears)


def said(words, **more):
    return mover(MoverState.ENDED, words=words, **more)


def a_case(phase, *, cancel=False, kind=DataUpload, **status):
    return a_transfer("t", phase, kind=kind).with_spec(cancel=cancel).with_status(**TIMES.get(phase, {}), **status)


def step(transfer, known=None, *, after=timedelta()):
    return next_step(transfer, known, now=THEN + after, limits=LIMITS)


NONE = None
STARTING, READY, MOVING = (mover(state) for state in (MoverState.STARTING, MoverState.READY, MoverState.MOVING))
NEVER = End(P.CANCELED, "cancelled before it moved anything")
UNPREPARED = "its mover was not ready 30m after it was accepted (data-mover-prepare-timeout)"
UNMOVED = "it was ready, but nobody let it move for 30m (data-mover-prepare-timeout)"
AGAIN = THEN + LOOK_AGAIN

# The transitions of facts 3.1 and the cases of 6.8, and what ours does where the original waits for ever.
TABLE = [
    # phase, cancelled, its mover, what happens
    (P.NEW, False, NONE, Wait()),
    (P.NEW, True, NONE, NEVER),
    (P.ACCEPTED, False, NONE, StartMover()),
    (P.ACCEPTED, False, STARTING, Wait(THEN + 30 * MINUTE)),
    (P.ACCEPTED, False, READY, MarkPrepared()),
    (P.ACCEPTED, False, said(GONE), End(P.FAILED, "/data is gone", "SourceUnreadable")),
    (P.ACCEPTED, False, said(DEAD), End(P.FAILED, DEAD.message, MOVER_DIED)),
    (P.ACCEPTED, False, said(CANCELLED), End(P.FAILED, "its mover was stopped by somebody else")),
    (P.ACCEPTED, False, said(ResultReport(result=RESULT)), End(P.COMPLETED, result=RESULT)),
    (P.ACCEPTED, True, NONE, NEVER),
    (P.ACCEPTED, True, STARTING, StopMover(AGAIN)),
    (P.ACCEPTED, True, READY, StopMover(AGAIN)),
    (P.ACCEPTED, True, said(CANCELLED), NEVER),
    (P.ACCEPTED, True, said(DEAD), NEVER),  # it hung, and did not hear that it should stop
    (P.ACCEPTED, True, said(AWAY), NEVER),
    (P.PREPARED, False, NONE, StartMover()),
    (P.PREPARED, False, READY, Wait(THEN + 30 * MINUTE)),
    (P.PREPARED, False, said(DEAD), End(P.FAILED, DEAD.message, MOVER_DIED)),
    (P.PREPARED, True, NONE, NEVER),
    (P.PREPARED, True, READY, StopMover(AGAIN)),
    (P.PREPARED, True, said(CANCELLED), NEVER),
    (P.PREPARED, True, said(DEAD), NEVER),
    (P.IN_PROGRESS, False, NONE, StartMover()),
    (P.IN_PROGRESS, False, STARTING, Wait(THEN + 10 * MINUTE)),
    (P.IN_PROGRESS, False, READY, LetGo()),
    (P.IN_PROGRESS, False, MOVING, Wait(THEN + 10 * MINUTE)),
    (P.IN_PROGRESS, False, said(ResultReport(result=RESULT)), End(P.COMPLETED, result=RESULT)),
    (P.IN_PROGRESS, False, said(GONE), End(P.FAILED, "/data is gone", "SourceUnreadable")),
    (P.IN_PROGRESS, False, said(CANCELLED), End(P.FAILED, "its mover was stopped by somebody else")),
    (P.IN_PROGRESS, True, NONE, BeginStop("cancelled on request")),
    (P.IN_PROGRESS, True, MOVING, BeginStop("cancelled on request")),
    (P.IN_PROGRESS, True, said(CANCELLED), End(P.CANCELED, "cancelled on request")),
    (P.CANCELING, True, MOVING, StopMover(AGAIN)),
    (P.CANCELING, True, NONE, ClearLeftovers()),
    (P.CANCELING, True, said(CANCELLED), End(P.CANCELED, "cancelled on request")),
    (P.CANCELING, True, said(ResultReport(result=RESULT)), End(P.COMPLETED, result=RESULT)),
    (
        P.CANCELING,
        True,
        said(ResultReport(result=TransferResult()), clears=True),
        End(P.CANCELED, "cancelled on request"),
    ),
    (P.CANCELING, True, said(GONE), End(P.FAILED, "/data is gone", "SourceUnreadable")),
    (P.CANCELING, True, said(AWAY, clears=True), ForgetMover(AGAIN)),
    (P.CANCELING, True, mover(MoverState.MOVING, clears=True), Wait(THEN + CANCEL_GRACE)),
    *((phase, cancel, NONE, Wait()) for phase in P if phase.final for cancel in (False, True)),
]


@pytest.mark.parametrize("kind", TRANSFERS)
@pytest.mark.parametrize(("phase", "cancel", "known", "expected"), TABLE)
def test_what_happens_next(kind, phase, cancel, known, expected):
    if expected == ClearLeftovers() and kind.direction == "download":
        expected = End(P.CANCELED, "cancelled on request")  # a download leaves nothing in a store

    assert step(a_case(phase, cancel=cancel, kind=kind), known) == expected


@pytest.mark.parametrize("kind", TRANSFERS)
@pytest.mark.parametrize("cancel", [False, True])
def test_one_that_is_refused_fails_with_the_reason_that_it_was_made_with(kind, cancel):
    refused = a_case(P.NEW, cancel=cancel, kind=kind).with_spec(refused=Refusal(message="no", error_code="HookFailed"))

    assert step(refused) == End(P.FAILED, "no", "HookFailed")


@pytest.mark.parametrize("phase", [phase for phase in P if not phase.final])
@pytest.mark.parametrize("known", [NONE, STARTING, READY, MOVING])
def test_a_transfer_that_is_being_deleted_is_as_good_as_cancelled(phase, known):
    deleting = a_case(phase).with_metadata(deletion_timestamp=THEN)

    assert step(deleting, known) == step(a_case(phase, cancel=True), known)


LATE = [
    (P.ACCEPTED, NONE, 30 * MINUTE, End(P.FAILED, UNPREPARED)),
    (P.ACCEPTED, STARTING, 29 * MINUTE, Wait(THEN + 30 * MINUTE)),
    (P.ACCEPTED, STARTING, 30 * MINUTE, StopMover(THEN + 30 * MINUTE + LOOK_AGAIN)),
    (P.ACCEPTED, said(CANCELLED), 30 * MINUTE, End(P.FAILED, UNPREPARED)),
    (P.PREPARED, READY, 30 * MINUTE, StopMover(THEN + 30 * MINUTE + LOOK_AGAIN)),
    (P.PREPARED, said(CANCELLED), 31 * MINUTE, End(P.FAILED, UNMOVED)),
    (P.IN_PROGRESS, mover(MoverState.MOVING, heard=4 * HOUR), 4 * HOUR, BeginStop("took longer than 4h")),
    (P.IN_PROGRESS, MOVING, 30 * MINUTE, BeginStop("no progress for 30m")),
]


@pytest.mark.parametrize(("phase", "known", "after", "expected"), LATE)
def test_every_phase_has_an_end(phase, known, after, expected):
    assert step(a_case(phase), known, after=after) == expected


def test_waiting_in_new_costs_no_time():
    assert step(a_case(P.NEW), after=1000 * HOUR) == Wait()


def waiting(reason):
    condition = Condition(type="Waiting", status="True", reason=reason, message="m", last_transition_time=THEN)
    return a_case(P.PREPARED).replace(status=a_case(P.PREPARED).status.with_condition(condition))


def test_who_waits_behind_others_at_a_busy_node_does_not_fail_for_it_but_is_looked_at_again():
    """velero#8316 and #9453: a ready transfer timed out behind big ones, or was never looked at again."""
    assert step(waiting(Reason.NODE_LOAD), READY, after=18 * HOUR) == Wait(THEN + 18 * HOUR + 30 * MINUTE)


def test_who_waits_for_anything_else_waits_as_long_as_it_might_have_moved():
    assert step(waiting(Reason.DEPENDENCY), READY, after=3 * HOUR) == Wait(THEN + 4 * HOUR)
    assert isinstance(step(waiting(Reason.DEPENDENCY), READY, after=4 * HOUR), StopMover)
    assert step(waiting(Reason.DEPENDENCY), after=4 * HOUR) == End(
        P.FAILED, "it was ready, but waited longer than 4h: m"
    )


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (MOVING, "its mover had not ended"),
        (NONE, "what it left was not removed"),
        (said(AWAY, clears=True), "what it left was not removed"),
        (mover(MoverState.MOVING, clears=True), "what it left was not removed"),
    ],
)
def test_a_stop_that_does_not_come_to_an_end_is_told_as_it_is(known, told):
    """velero#9464: cancelled, and the backup in progress for ever."""
    end = step(a_case(P.CANCELING, cancel=True, message="cancelled on request"), known, after=CANCEL_GRACE)

    assert end == End(P.FAILED, f"cancelled on request; {told} 1h after it was asked to stop")


def test_a_stop_that_nobody_dated_is_dated_first():
    undated = a_transfer("t", P.CANCELING, message="the server stopped")

    assert step(undated) == BeginStop("the server stopped")


def test_a_mover_that_says_nothing_is_told_to_be_stalled_and_no_longer_when_it_speaks():
    uploading = TransferProgress(stage="uploading", bytes_done=5)
    silent = mover(MoverState.MOVING, progress=uploading)
    transfer = a_case(P.IN_PROGRESS, progress=uploading.replace(updated_at=THEN))

    note = step(transfer, silent, after=10 * MINUTE)
    assert isinstance(note, Note)
    assert note.stalled == (
        "no progress (uploading) since 2026-01-01 00:00:00 UTC; it is stopped at 00:30:00 (data-mover-stall-timeout)"
    )
    told = transfer.replace(
        status=transfer.status.with_condition(Condition(type="Stalled", status="True", message=note.stalled))
    )
    assert step(told, silent, after=11 * MINUTE) == Wait(THEN + 30 * MINUTE)
    spoke = silent.replace(heard_at=THEN + 11 * MINUTE)
    assert step(told, spoke, after=11 * MINUTE) == Note(uploading.replace(updated_at=THEN + 11 * MINUTE), stalled="")


def test_the_time_that_a_mover_waited_to_be_let_go_is_no_stall():
    late_start = a_case(P.IN_PROGRESS).with_status(start_timestamp=THEN + 5 * HOUR)

    assert step(late_start, MOVING, after=5 * HOUR) == Wait(THEN + 5 * HOUR + 10 * MINUTE)


def test_progress_is_written_at_most_once_a_second():
    some = TransferProgress(stage="uploading", bytes_done=5)
    moving = mover(MoverState.MOVING, progress=some)
    second = timedelta(seconds=1)

    assert step(a_case(P.IN_PROGRESS), moving, after=second / 2) == Wait(THEN + second)
    assert step(a_case(P.IN_PROGRESS), moving, after=second) == Note(some.replace(updated_at=THEN), "")
    written = a_case(P.IN_PROGRESS, progress=some.replace(bytes_done=4, updated_at=THEN + second))
    assert step(written, moving, after=second) == Wait(THEN + 2 * second)


MOVERS = st.none() | st.builds(
    mover,
    st.sampled_from([MoverState.STARTING, MoverState.READY, MoverState.MOVING]),
    heard=st.timedeltas(timedelta(), 5 * HOUR),
    clears=st.booleans(),
)
REASONS = st.none() | st.sampled_from([Reason.DEPENDENCY, Reason.TARGET_UNAVAILABLE])


@given(
    phase=st.sampled_from([P.ACCEPTED, P.PREPARED, P.IN_PROGRESS, P.CANCELING]),
    cancel=st.booleans(),
    known=MOVERS,
    reason=REASONS,
    kind=st.sampled_from([DataUpload, DataDownload]),
    after=st.timedeltas(timedelta(), 6 * HOUR),
)
def test_whoever_waits_is_looked_at_again_and_cancelling_is_never_waited_with(
    *, phase, cancel, known, reason, kind, after
):
    transfer = a_case(phase, cancel=cancel, kind=kind)
    if reason is not None:
        transfer = transfer.replace(status=transfer.status.waiting(reason, "m", since=THEN))

    due = step(transfer, known, after=after)

    if isinstance(due, Wait):
        assert due.until is not None
        assert due.until > THEN + after
        assert not cancel or (phase is P.CANCELING and known.clears)
    if isinstance(due, StopMover | ForgetMover):
        assert due.again > THEN + after


@given(st.sampled_from(list(P)), MOVERS, st.timedeltas(timedelta(), 6 * HOUR))
def test_no_transfer_ends_while_its_mover_may_still_move_bytes(phase, known, after):
    due = step(a_case(phase, cancel=True), known, after=after)

    if isinstance(due, End) and known is not None and phase is not P.NEW:
        assert phase is P.CANCELING
        assert after >= CANCEL_GRACE


def test_the_last_words_of_a_mover_are_told_with_what_to_do_about_them():
    words = ErrorReport(code="DestinationUnusable", message="/x is in use by vi", hint="stop that first, or force it")
    ended = mover(MoverState.ENDED, words=words)

    told = step(a_case(P.IN_PROGRESS), ended)

    assert (told.phase, told.message) == (P.FAILED, "/x is in use by vi; stop that first, or force it")


LEFT = "what it had written may be left in /srv/.db.tidegate-*; the next restore to /srv/db removes it"


def test_a_restore_whose_mover_is_killed_tells_where_its_leftovers_are_and_ends_at_once_if_it_was_cancelled():
    moving = a_case(P.IN_PROGRESS, kind=DataDownload).with_spec(path="/srv/db", volume_kind=VolumeKind.IMAGE)
    stopping = a_case(P.CANCELING, cancel=True, kind=DataDownload).with_spec(
        path="/srv/db", volume_kind=VolumeKind.IMAGE
    )

    assert step(moving, said(DEAD)) == End(P.FAILED, f"{DEAD.message}; {LEFT}", MOVER_DIED)
    assert step(stopping, said(DEAD)) == End(P.CANCELED, f"cancelled on request; {LEFT}")


def test_a_device_has_no_leftovers_beside_it_but_is_half_written():
    moving = a_case(P.IN_PROGRESS, kind=DataDownload).with_spec(path="/dev/sdb", volume_kind=VolumeKind.DEVICE)

    assert step(moving, said(DEAD)).message == f"{DEAD.message}; /dev/sdb is half written"


def test_what_an_upload_left_in_the_store_is_removed_as_soon_as_its_mover_was_killed():
    assert step(a_case(P.IN_PROGRESS), said(DEAD)) == End(P.FAILED, DEAD.message, MOVER_DIED)
    assert step(a_case(P.CANCELING, cancel=True), said(DEAD)) == ForgetMover(THEN)
    assert step(a_case(P.CANCELING, cancel=True), said(DEAD, clears=True)) == ForgetMover(AGAIN)


def test_a_mover_that_hangs_until_it_is_too_late_and_must_be_killed_is_told_to_be_late():
    assert step(a_case(P.ACCEPTED), said(DEAD), after=HOUR) == End(P.FAILED, UNPREPARED)


LOCKED = ErrorReport(code="StoreLockHeld", message="another client deletes from volume v", lock="lock-a then")


@pytest.mark.parametrize("phase", [P.ACCEPTED, P.PREPARED, P.IN_PROGRESS])
def test_a_transfer_whose_volume_another_client_has_locked_waits_without_a_slot(phase):
    assert step(a_case(phase), said(LOCKED)) == WaitForLock(LOCKED.message, THEN + LOCK_AGAIN)
    assert step(a_case(phase, cancel=True), said(LOCKED)).phase is P.CANCELED


def test_it_tries_again_later_and_not_for_ever():
    waits = a_case(P.NEW, retry_at=THEN + MINUTE, waits_for_lock_since=THEN)
    assert step(waits) == Wait(THEN + MINUTE)
    assert step(waits, after=MINUTE) == TryAgain()
    assert step(waits.with_spec(cancel=True)).phase is P.CANCELED

    late = a_case(P.IN_PROGRESS, waits_for_lock_since=THEN - waits.spec.timeout)
    assert step(late, said(LOCKED)) == End(P.FAILED, LOCKED.message, error_code="StoreLockHeld")


def test_a_lost_lock_is_no_reason_to_begin_anew_for_something_was_written():
    lost = ErrorReport(code="StoreLocked", message="the lock was lost")

    assert step(a_case(P.IN_PROGRESS), said(lost)).phase is P.FAILED

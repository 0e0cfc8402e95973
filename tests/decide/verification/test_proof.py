"""Whose turn it is, whether there is room, and what downloads prove."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.verification.proof import (
    after_look,
    cleaned_up,
    is_recorded,
    recorded,
    room_problem,
    waiting,
    whose_turn,
)
from tidegate.model.backups.verification_record import VerificationRecord
from tidegate.model.resource import Metadata
from tidegate.model.transfers.transfer import PodVolumeRestore, TransferPhase, TransferResult
from tidegate.model.verification.verification import (
    CheckCommand,
    Verification,
    VerificationPhase,
    VerificationProgress,
    VerificationSpec,
    VerificationStatus,
)
from tidegate.testing.resources.builders import THEN, a_transfer

PHASES = st.sampled_from(VerificationPhase)


def a_verification(name="v", phase=VerificationPhase.NEW, *, asked=0, check=None, cancel=False, **status):
    return Verification(
        metadata=Metadata(name=name, uid=f"uid-of-{name}", creation_timestamp=THEN + timedelta(seconds=asked)),
        spec=VerificationSpec(backup_name="b", check=check, cancel=cancel),
        status=VerificationStatus(phase=phase, start_timestamp=THEN, **status),
    )


def a_download(name, phase, size=0):
    download = a_transfer(name, phase, kind=PodVolumeRestore, message="it is damaged")
    return download.with_status(result=TransferResult(size=size) if size else None)


@given(st.lists(st.tuples(PHASES, st.integers(0, 3)), max_size=8))
def test_never_two_at_a_time_and_the_first_begins_once_nobody_is_under_way(found):
    line = [a_verification(f"v{n}", phase, asked=asked) for n, (phase, asked) in enumerate(found)]
    turn = whose_turn(line)
    new = [one for one in line if one.status.phase is VerificationPhase.NEW]
    running = [one for one in line if one.status.phase.under_way]

    assert (turn.start is not None) == (bool(new) and not running)
    if turn.start is not None:
        assert turn.start == min(new, key=lambda one: (one.metadata.creation_timestamp, one.name)).name
    assert {name for name, _ in turn.wait} == {one.name for one in new} - {turn.start}


def test_who_waits_is_told_for_whom():
    turn = whose_turn([a_verification("a", asked=1), a_verification("b", VerificationPhase.CLEANING_UP)])

    assert turn.wait == (("a", "verification b comes first"),)
    assert waiting(a_verification(), turn.wait[0][1], now=THEN).status.condition("Waiting").reason == "ConcurrencyLimit"


@pytest.mark.parametrize(("needed", "free", "fits"), [(0, 0, True), (10, 10, True), (11, 10, False)])
def test_what_does_not_fit_is_refused_with_both_numbers(needed, free, fits):
    problem = room_problem(needed, free)

    assert (problem is None) == fits
    if problem:
        assert f"needs {needed} bytes and {free} are free" in problem


DONE, FAILED, MOVING, STOPPED = (
    TransferPhase.COMPLETED,
    TransferPhase.FAILED,
    TransferPhase.IN_PROGRESS,
    TransferPhase.CANCELED,
)
CHECK = CheckCommand(command=("look",))


@pytest.mark.parametrize(
    ("phases", "wishes", "phase", "outcome"),
    [
        ((DONE, MOVING), {}, "InProgress", None),
        ((DONE, DONE), {}, "CleaningUp", "Completed"),
        ((DONE, DONE), {"check": CHECK}, "Checking", None),
        ((DONE, FAILED), {"check": CHECK}, "CleaningUp", "Failed"),
        ((DONE, STOPPED), {}, "CleaningUp", "Failed"),
        ((DONE, STOPPED), {"cancel": True}, "CleaningUp", "Canceled"),
    ],
)
def test_all_volumes_together_decide(phases, wishes, phase, outcome):
    downloads = [a_download(f"d{n}", one, size=7 if one is DONE else 0) for n, one in enumerate(phases)]
    after = after_look(a_verification(phase=VerificationPhase.IN_PROGRESS, **wishes), downloads, now=THEN).status

    assert (str(after.phase), after.outcome) == (phase, outcome)
    assert after.progress.bytes_verified == 7 * phases.count(DONE)


def test_a_failure_names_the_volume():
    found = after_look(a_verification(), [a_download("d", FAILED)], now=THEN)

    assert found.status.failure_reason == "ns/volume: it is damaged"


def test_what_stays_on_the_disk_is_a_warning_and_no_other_verdict():
    verification = a_verification(phase=VerificationPhase.CLEANING_UP, outcome="Completed", scratch="/s/x")
    ended = cleaned_up(verification, left_over="/s/x cannot be removed", now=THEN).status

    assert (str(ended.phase), ended.warnings, ended.scratch) == ("Completed", 1, "/s/x")
    assert cleaned_up(verification, left_over=None, now=THEN).status.scratch is None


def test_a_backup_is_told_once_and_only_by_what_ran_to_an_end():
    progress = VerificationProgress(total_items=1, items_verified=1, bytes_verified=5)
    good = a_verification(outcome=VerificationPhase.COMPLETED, progress=progress)
    record = recorded(None, good, now=THEN)

    assert record == VerificationRecord(verified_at=THEN, verified_by="v", volumes=1, bytes=5)
    assert is_recorded(record, good)
    namesake_of_today = good.with_status(start_timestamp=THEN + timedelta(days=1))
    assert not is_recorded(record, namesake_of_today)
    called_off = a_verification(outcome=VerificationPhase.CANCELED, progress=progress)
    assert recorded(record, called_off, now=THEN) is record

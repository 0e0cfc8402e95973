"""What restores and verifications tell of their lives."""

import pytest

from tidegate.decide.jobs.events import with_events
from tidegate.model.reasons import Reason
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import Restore, RestorePhase, RestoreSpec
from tidegate.model.verification.verification import Verification, VerificationPhase, VerificationSpec
from tidegate.testing.resources.builders import THEN, a_backup

R, V = RestorePhase, VerificationPhase


def a_restore(phase=R.NEW, **status):
    restore = Restore(metadata=Metadata(name="r"), spec=RestoreSpec(backup_name="nightly"))
    return restore.with_status(phase=phase, **status)


def a_verification(phase=V.NEW, **status):
    verification = Verification(metadata=Metadata(name="v"), spec=VerificationSpec(backup_name="nightly"))
    return verification.with_status(phase=phase, **status)


def waiting(restore, reason, message):
    return restore.replace(status=restore.status.waiting(reason, message, since=THEN))


def events_of(before, after):
    events = with_events(before, after, now=THEN).status.events
    return [f"{event.type} {event.reason}: {event.message}" for event in events]


NEW, RUNS = a_restore(), a_restore(R.IN_PROGRESS)
STEPS = [
    ("settled", NEW, a_restore(target_volumes=("a/b",)), ["Normal Settled: reads backup nightly; writes to 1 volume"]),
    ("begins", NEW, RUNS, ["Normal Started: began to restore"]),
    ("refused", NEW, a_restore(R.FAILED_VALIDATION, validation_errors=("no", "nor")), ["Warning FailedValidation: no"]),
    ("fails", RUNS, a_restore(R.FAILED, failure_reason="full"), ["Warning Failed: full"]),
    ("waits", NEW, waiting(NEW, Reason.PAUSED, "paused"), ["Normal Waiting: Paused: paused"]),
    ("not looked at", NEW, waiting(NEW, Reason.PENDING_EVALUATION, "not looked at yet"), []),
    (
        "waits for another",
        waiting(NEW, Reason.PAUSED, "one"),
        waiting(NEW, Reason.PAUSED, "two"),
        ["Normal Waiting: Paused: two"],
    ),
    ("counts down", waiting(RUNS, Reason.PAUSED, "2 left"), waiting(RUNS, Reason.PAUSED, "1 left"), []),
]


@pytest.mark.parametrize(("before", "after", "events"), [step[1:] for step in STEPS], ids=[s[0] for s in STEPS])
def test_a_restore_tells_each_step_and_each_new_wait(before, after, events):
    assert events_of(before, after) == events


@pytest.mark.parametrize(
    ("before", "after", "events"),
    [
        (V.NEW, a_verification(V.IN_PROGRESS), ["Normal Started: it restores into its scratch place"]),
        (V.CLEANING_UP, a_verification(V.COMPLETED), ["Normal Completed: the backup restores"]),
        (V.CLEANING_UP, a_verification(V.FAILED), ["Warning Failed: it failed"]),
        (V.CLEANING_UP, a_verification(V.FAILED, failure_reason="damaged"), ["Warning Failed: damaged"]),
        (V.NEW, a_verification(V.FAILED_VALIDATION, validation_errors=("a", "b")), ["Warning FailedValidation: a; b"]),
        (V.CHECKING, a_verification(V.CHECKING, errors=1), []),
    ],
)
def test_a_verification_tells_each_step(before, after, events):
    assert events_of(a_verification(before), after) == events


def test_events_lead_from_a_resource_to_itself_only():
    with pytest.raises(TypeError, match="a Backup does not become a Restore"):
        with_events(a_backup("b"), NEW, now=THEN)

"""What a backup tells of its own life."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.jobs.events import MOST_EVENTS, with_events
from tidegate.model.backups.backup import BackupPhase, EventType
from tidegate.model.reasons import Reason
from tidegate.testing.resources.builders import THEN, a_backup


def told(backup):
    return [(event.type, event.reason, event.message, event.count) for event in backup.status.events]


def test_a_life_is_told_step_by_step():
    backup = a_backup("nightly")
    steps = [
        (BackupPhase.QUEUED, {"queued_at": THEN}),
        (BackupPhase.READY_TO_START, {}),
        (BackupPhase.IN_PROGRESS, {}),
        (BackupPhase.FINALIZING_PARTIALLY_FAILED, {}),
        (BackupPhase.PARTIALLY_FAILED, {"failure_reason": "shop/db: gone"}),
    ]
    for minutes, (phase, more) in enumerate(steps):
        after = backup.with_status(phase=phase, **more)
        backup = with_events(backup, after, now=THEN + timedelta(minutes=minutes))

    assert told(backup) == [
        (EventType.NORMAL, "Queued", "joined the queue", 1),
        (EventType.NORMAL, "LeftQueue", "may start, after 60 s in the queue", 1),
        (EventType.NORMAL, "Started", "began to back up", 1),
        (EventType.WARNING, "PartiallyFailed", "shop/db: gone", 1),
    ]


def test_who_is_passed_over_tells_why_and_counts_repetitions():
    backup = a_backup("nightly", phase=BackupPhase.QUEUED)
    reasons = ["backup a is running and shares namespace x", "backup b is running and shares namespace x"]
    for minutes in range(4):
        status = backup.status.waiting(Reason.NAMESPACE_OVERLAP_RUNNING, reasons[minutes % 2], since=THEN)
        backup = with_events(backup, backup.replace(status=status), now=THEN + timedelta(minutes=minutes))

    assert [(reason, message.split(": ")[1], count) for _, reason, message, count in told(backup)] == [
        ("PassedOver", reasons[0], 2),
        ("PassedOver", reasons[1], 2),
    ]
    assert backup.status.events[1].first_timestamp == THEN + timedelta(minutes=1)
    assert backup.status.events[1].last_timestamp == THEN + timedelta(minutes=3)


def test_a_change_of_neither_phase_nor_reason_tells_nothing():
    backup = a_backup("nightly", phase=BackupPhase.IN_PROGRESS)
    after = backup.with_status(errors=1)

    assert with_events(backup, after, now=THEN) is after


@given(st.lists(st.sampled_from(BackupPhase), max_size=60))
def test_however_long_a_life_is_only_the_newest_events_are_kept(phases):
    backup = a_backup("nightly")
    for number, phase in enumerate(phases):
        after = backup.with_status(phase=phase, failure_reason=f"reason {number}")
        backup = with_events(backup, after, now=THEN + timedelta(seconds=number))

    times = [event.last_timestamp for event in backup.status.events]
    assert len(times) <= MOST_EVENTS
    assert times == sorted(times)

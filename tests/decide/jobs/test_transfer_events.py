"""What a transfer tells of its life."""

from datetime import timedelta

from tidegate.decide.jobs.events import MOST_EVENTS_OF_A_TRANSFER, with_events
from tidegate.model.reasons import Reason
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.testing.resources.builders import THEN, a_transfer

P = TransferPhase


def told(transfer):
    return [f"{event.type} {event.reason}: {event.message}" for event in transfer.status.events]


def waiting(transfer, reason, message):
    return transfer.replace(status=transfer.status.waiting(reason, message, since=THEN))


def test_steps_and_reasons_are_told_in_order_and_a_new_message_alone_is_not():
    history = [
        a_transfer("t"),
        waiting(a_transfer("t"), Reason.RESTORE_LIMIT, "5/5, position 2"),
        waiting(a_transfer("t"), Reason.RESTORE_LIMIT, "5/5, position 1"),
        a_transfer("t", P.ACCEPTED, node="node-a"),
        a_transfer("t", P.FAILED, message="the store is full"),
    ]
    now = history[0]
    for number, after in enumerate(history[1:]):
        kept = after.with_status(events=now.status.events)
        now = with_events(now, kept, now=THEN + timedelta(seconds=number))

    assert told(now) == [
        "Normal RestoreLimit: 5/5, position 2",
        "Normal Accepted: may be prepared on node-a",
        "Warning Failed: the store is full",
    ]


def test_one_that_begins_anew_tells_why_once_and_then_its_steps():
    why = "the server stopped while this was in progress; it begins anew"
    anew = a_transfer("t", message=why)

    now = anew
    for phase in (P.ACCEPTED, P.PREPARED, P.IN_PROGRESS, P.FAILED):
        now = with_events(now, now.with_status(phase=phase), now=THEN)

    assert told(now) == [
        f"Normal Accepted: {why}",
        "Normal Prepared: is ready to move",
        "Normal InProgress: began to move",
        f"Warning Failed: {why}",
    ]


def test_nothing_is_told_where_nothing_happened():
    moving = a_transfer("t", P.IN_PROGRESS)

    assert with_events(moving, moving, now=THEN) == moving


def test_one_that_waits_for_weeks_stays_small():
    now = a_transfer("t")
    for number in range(3 * MOST_EVENTS_OF_A_TRANSFER):
        reason = Reason.PREPARE_QUEUE_FULL if number % 2 else Reason.NODE_LOAD
        now = with_events(now, waiting(now, reason, f"word {number}"), now=THEN)

    assert len(now.status.events) == MOST_EVENTS_OF_A_TRANSFER
    assert now.status.events[-1].message == f"word {3 * MOST_EVENTS_OF_A_TRANSFER - 1}"

"""When a sync is due, by table and over a simulated hour."""

from datetime import UTC, datetime, timedelta

import pytest

from tidegate.decide.stores.sync_schedule import (
    LONGEST_LOOK,
    SyncReason,
    SyncState,
    forecast,
    look_delay,
    plan_sync,
    retry_delay,
    same_message,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
FIVE = timedelta(minutes=5)


def ago(**delay):
    return NOW - timedelta(**delay)


@pytest.mark.parametrize(
    ("state", "due", "reason", "again"),
    [
        ({"available": False}, False, SyncReason.UNAVAILABLE, None),
        ({}, True, SyncReason.NEVER_SYNCED, None),
        ({"synced_at": ago(minutes=1)}, False, SyncReason.UP_TO_DATE, timedelta(minutes=4)),
        ({"synced_at": ago(minutes=5)}, True, SyncReason.INTERVAL, None),
        ({"synced_at": ago(minutes=-9)}, True, SyncReason.INTERVAL, None),
        ({"synced_at": ago(minutes=1), "same_place": False}, True, SyncReason.NEVER_SYNCED, None),
        (
            {"synced_at": ago(minutes=1), "requested_at": ago(minutes=2)},
            False,
            SyncReason.UP_TO_DATE,
            timedelta(minutes=4),
        ),
        ({"synced_at": ago(minutes=2), "requested_at": ago(minutes=1)}, True, SyncReason.REQUESTED, None),
        ({"poll_interval": timedelta(), "synced_at": ago(days=9)}, False, SyncReason.NO_TIMER, None),
        ({"poll_interval": timedelta()}, True, SyncReason.NEVER_SYNCED, None),
        (
            {"poll_interval": timedelta(), "synced_at": ago(days=9), "requested_at": NOW},
            True,
            SyncReason.REQUESTED,
            None,
        ),
        ({"failures": 1, "failed_at": ago(seconds=10)}, False, SyncReason.BACKING_OFF, timedelta(seconds=20)),
        ({"failures": 1, "failed_at": ago(seconds=30)}, True, SyncReason.RETRY, None),
        ({"failures": 3, "failed_at": ago(seconds=30)}, False, SyncReason.BACKING_OFF, timedelta(seconds=90)),
        (
            {"failures": 3, "failed_at": ago(seconds=30), "requested_at": ago(seconds=1)},
            True,
            SyncReason.NEVER_SYNCED,
            None,
        ),
        (
            {"failures": 9, "failed_at": ago(minutes=5), "synced_at": ago(minutes=5), "partial": True},
            True,
            SyncReason.INTERVAL,
            None,
        ),
        (
            {
                "poll_interval": timedelta(),
                "failures": 1,
                "failed_at": ago(minutes=1),
                "synced_at": ago(minutes=1),
                "partial": True,
            },
            True,
            SyncReason.RETRY,
            None,
        ),
        # Somebody asks again: a pause after what was asked for, but none before what comes anyway.
        (
            {"synced_at": ago(seconds=9), "requested_at": ago(seconds=1), "forced_at": ago(seconds=4)},
            False,
            SyncReason.TOO_SOON,
            timedelta(seconds=6),
        ),
        (
            {"synced_at": ago(seconds=15), "requested_at": ago(seconds=1), "forced_at": ago(seconds=10)},
            True,
            SyncReason.REQUESTED,
            None,
        ),
        (
            {"synced_at": ago(minutes=5), "requested_at": ago(seconds=1), "forced_at": ago(seconds=4)},
            True,
            SyncReason.INTERVAL,
            None,
        ),
        (
            {"synced_at": ago(seconds=9), "requested_at": NOW, "forced_at": ago(seconds=4), "confirmed": True},
            True,
            SyncReason.REQUESTED,
            None,
        ),
        (
            {"synced_at": ago(seconds=9), "requested_at": NOW, "forced_at": ago(seconds=4), "same_place": False},
            True,
            SyncReason.NEVER_SYNCED,
            None,
        ),
        (
            {"failures": 9, "failed_at": ago(seconds=4), "requested_at": NOW, "forced_at": ago(seconds=4)},
            False,
            SyncReason.TOO_SOON,
            timedelta(seconds=6),
        ),
        ({"synced_at": ago(seconds=9), "forced_at": ago(hours=-1), "requested_at": NOW}, True, "Requested", None),
        # A clock that was set back, or a request for later: neither a storm nor a wait until it has caught up.
        (
            {"poll_interval": timedelta(), "synced_at": ago(minutes=1), "requested_at": ago(minutes=-9)},
            False,
            SyncReason.NO_TIMER,
            timedelta(minutes=9),
        ),
        (
            {"synced_at": ago(minutes=1), "requested_at": ago(minutes=-9)},
            False,
            SyncReason.UP_TO_DATE,
            timedelta(minutes=4),
        ),
        (
            {"poll_interval": timedelta(), "synced_at": ago(days=-9), "requested_at": ago(seconds=1)},
            True,
            SyncReason.REQUESTED,
            None,
        ),
        ({"failures": 3, "failed_at": ago(days=-9)}, True, SyncReason.NEVER_SYNCED, None),
        # Another place did not fail.
        (
            {"failures": 9, "failed_at": ago(seconds=1), "failed_here": False, "same_place": False},
            True,
            SyncReason.NEVER_SYNCED,
            None,
        ),
    ],
)
def test_a_sync_is_due_for_a_reason(state, due, reason, again):
    decision = plan_sync(SyncState(**{"available": True, "poll_interval": FIVE, **state}), NOW)

    assert (decision.due, decision.reason, decision.again_after) == (due, reason, again)


@pytest.mark.parametrize(
    ("state", "running", "due_at", "word"),
    [
        ({"requested_at": NOW}, False, NOW, "it begins now"),
        ({"requested_at": NOW}, True, None, "once more when that has ended"),
        ({"requested_at": NOW, "available": False}, False, None, "when the target answers"),
        ({"requested_at": NOW, "forced_at": ago(seconds=3)}, False, NOW + timedelta(seconds=7), "10 seconds after"),
        ({}, False, NOW + timedelta(minutes=4), "nothing was asked for"),
    ],
)
def test_whoever_asks_is_told_when_it_begins(state, running, due_at, word):
    asked = SyncState(**{"available": True, "poll_interval": FIVE, "synced_at": ago(minutes=1), **state})

    told = forecast(plan_sync(asked, NOW), NOW, running=running)

    assert (told.due_at, word in told.message) == (due_at, True)


def test_a_store_that_fails_for_a_day_is_tried_ever_more_seldom():
    now, failures, failed_at, tries = NOW, 0, None, 0
    while now < NOW + timedelta(days=1):
        state = SyncState(available=True, poll_interval=FIVE, failures=failures, failed_at=failed_at)
        decision = plan_sync(state, now)
        if decision.due:
            tries, failures, failed_at = tries + 1, failures + 1, now
        now += decision.again_after or timedelta(seconds=1)

    assert tries < 40
    assert retry_delay(10_000) == timedelta(hours=1)
    assert look_delay(10_000) == LONGEST_LOOK


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("request 4F2A99C0D1E2 refused at 12:00:01", "request 00FF12AB34CD refused at 12:07:59", True),
        ("no answer from host:9000", "no answer from host:9001", True),
        ("no answer", "wrong key", False),
        ("", "no answer", False),
    ],
)
def test_messages_that_differ_only_in_numbers_say_the_same(old, new, same):
    assert same_message(old, new) is same

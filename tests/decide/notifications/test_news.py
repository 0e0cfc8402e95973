"""What is news, to whom, and when it is tried again."""

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.notifications.news import (
    KEPT_FOR,
    NEWS_FOR,
    TRIED_FOR,
    delivered,
    deliveries_of,
    news_of_end,
    news_of_schedule,
    not_delivered,
    pause_after,
    time_until_due,
)
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.notifications.notification import (
    EVERY_EVENT,
    DeliveryPhase,
    Notification,
    NotificationEvent,
    NotificationSpec,
)
from tidegate.model.resource import Condition, Metadata
from tidegate.model.restores.restore import RestorePhase
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, SKIPPED_CONDITION, SkipReason
from tidegate.model.verification.verification import (
    Verification,
    VerificationPhase,
    VerificationSpec,
    VerificationStatus,
)
from tidegate.testing.resources.builders import THEN, a_backup, a_restore, a_schedule, emptied

HOUR = timedelta(hours=1)


def a_rule(name="ops", *, made=THEN, events=EVERY_EVENT):
    metadata = Metadata(name=name, uid=f"uid-of-{name}", creation_timestamp=made)
    return Notification(metadata=metadata, spec=NotificationSpec(secret="s", events=events))


def ended(name, phase, *, hours=1, why="the disk is full"):
    backup = a_backup(name, phase=phase).with_metadata(labels={SCHEDULE_LABEL: "nightly"})
    return backup.with_status(completion_timestamp=THEN + hours * HOUR, failure_reason=why)


@pytest.mark.parametrize("phase", BackupPhase)
def test_only_a_bad_end_of_a_backup_is_news(phase):
    news = news_of_end(ended("b", phase))

    bad = {"Failed", "PartiallyFailed", "FailedValidation"}
    assert (news is not None) == (phase in bad)
    if news:
        assert (news.title, news.message) == (f"Backup b is {phase}", "the disk is full")


def test_a_restore_that_failed_is_news_and_one_that_was_called_off_is_not():
    failed = a_restore("r", phase=RestorePhase.FAILED)

    assert news_of_end(failed).event is NotificationEvent.FAILURE
    assert news_of_end(a_restore("r", phase=RestorePhase.CANCELED)) is None


def test_a_verification_that_failed_tells_which_backup_is_in_doubt():
    verification = Verification(
        metadata=Metadata(name="v", creation_timestamp=THEN),
        spec=VerificationSpec(backup_name="b"),
        status=VerificationStatus(phase=VerificationPhase.FAILED, failure_reason="block 7 is damaged"),
    )
    news = news_of_end(verification)

    assert (news.event, news.title) == (NotificationEvent.VERIFICATION_FAILURE, "Backup b was not proven")
    assert news.message == "verification v: block 7 is damaged"


GOOD, BAD, OFF = BackupPhase.COMPLETED, BackupPhase.FAILED, BackupPhase.CANCELED


@given(st.lists(st.sampled_from([GOOD, BAD, OFF, BackupPhase.PARTIALLY_FAILED]), max_size=8))
def test_a_success_is_told_exactly_when_the_last_verdict_before_it_was_bad(phases):
    backups = [ended(f"b{n}", phase, hours=n) for n, phase in enumerate(phases)]
    verdicts = [backup for backup in backups if backup.status.phase is not OFF]
    expected = [
        after.name
        for before, after in pairwise(verdicts)
        if after.status.phase is GOOD and before.status.phase is not GOOD
    ]

    news = news_of_schedule(a_schedule("nightly", "@daily"), reversed(backups))

    assert [one.subject.name for one in news] == expected


def test_a_run_that_may_be_empty_and_is_says_nothing_about_its_schedule():
    """Nothing is safe by it, so it does not recover; nothing went wrong, so what follows does not recover from it."""
    empty = emptied(ended("b2", GOOD, hours=2))
    runs = [ended("b1", BAD), empty]

    assert news_of_schedule(a_schedule("nightly", "@daily"), runs) == []
    recovered = news_of_schedule(a_schedule("nightly", "@daily"), [*runs, ended("b3", GOOD, hours=3)])
    assert [(one.subject.name, one.message) for one in recovered] == [("b3", "the one before it, b1, was Failed")]


def skipping(reason):
    schedule = a_schedule("nightly", "@daily")
    condition = Condition(type=SKIPPED_CONDITION, status="True", reason=reason, message="it was skipped")
    return schedule.replace(status=schedule.status.with_condition(condition).replace(last_skipped=THEN + HOUR))


@pytest.mark.parametrize("reason", SkipReason)
def test_a_skipped_time_is_news_unless_somebody_wished_it(reason):
    news = news_of_schedule(skipping(reason), [])

    assert bool(news) == (reason not in {SkipReason.PAUSED, SkipReason.SKIP_IMMEDIATELY})


def test_times_without_a_server_are_news_once_per_absence():
    schedule = a_schedule("nightly", "@daily").with_status(missed_runs=3, last_missed_at=THEN + HOUR)
    once = deliveries_of(news_of_schedule(schedule, []), [a_rule()], now=THEN + 2 * HOUR)
    again = schedule.with_status(last_backup=THEN + 5 * HOUR)
    later = schedule.with_status(missed_runs=4, last_missed_at=THEN + 9 * HOUR)

    assert [one.spec.event for one in once] == [NotificationEvent.MISSED_SCHEDULE]
    assert deliveries_of(news_of_schedule(again, []), [a_rule()], now=THEN + 6 * HOUR) == once
    assert deliveries_of(news_of_schedule(later, []), [a_rule()], now=THEN + 9 * HOUR)[0].name != once[0].name


def test_who_is_told():
    news = [news_of_end(ended("b", BAD))]
    rules = [
        a_rule("all"),
        a_rule("others", events=(NotificationEvent.RECOVERY,)),
        a_rule("made-later", made=THEN + 2 * HOUR),
        a_rule("leaving").with_metadata(deletion_timestamp=THEN),
    ]

    assert [one.spec.notification for one in deliveries_of(news, rules, now=THEN + HOUR)] == ["all"]
    assert deliveries_of(news, rules, now=THEN + HOUR + NEWS_FOR + HOUR) == []


def test_a_record_stays_for_longer_than_its_news_are_news():
    assert KEPT_FOR > NEWS_FOR


def a_delivery():
    delivery = deliveries_of([news_of_end(ended("b", BAD))], [a_rule()], now=THEN + HOUR)[0]
    return delivery.with_metadata(creation_timestamp=THEN)


def test_pauses_grow_to_an_hour_and_end_after_a_day():
    delivery, now, pauses = a_delivery(), THEN, []
    while not delivery.status.phase.final:
        delivery = not_delivered(delivery, "away", now=now)
        pauses.append(time_until_due(delivery, now=now))
        now += pauses[-1]

    assert delivery.status.phase is DeliveryPhase.GIVEN_UP
    assert pauses[:4] == [timedelta(seconds=s) for s in (10, 20, 40, 80)]
    assert max(pauses[:-1]) == HOUR
    assert now - KEPT_FOR - THEN <= TRIED_FOR
    assert 24 < delivery.status.attempts < 40


def test_what_was_taken_stays_for_a_while_and_is_not_tried_again():
    taken = delivered(a_delivery(), now=THEN)

    assert (taken.status.phase, taken.status.attempts) == (DeliveryPhase.DELIVERED, 1)
    assert time_until_due(taken, now=THEN) == KEPT_FOR


@given(st.integers(1, 10**6))
def test_no_pause_is_ever_longer_than_an_hour(attempts):
    assert timedelta(seconds=10) <= pause_after(attempts) <= HOUR

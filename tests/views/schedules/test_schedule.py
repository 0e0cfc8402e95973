"""Schedules in words and rows."""

from datetime import UTC, datetime, timedelta

import pytest

from tidegate.model.resource import Condition
from tidegate.model.schedules.retention import Retention
from tidegate.model.schedules.schedule import SchedulePhase
from tidegate.testing.resources.builders import THEN, a_schedule
from tidegate.views.reader import Reader
from tidegate.views.schedules.cron_words import cron_words
from tidegate.views.schedules.schedule import SCHEDULES, creation_sentence, describe_schedule, retention_words

READER = Reader(now=THEN + timedelta(hours=1))

IN_WORDS = [
    ("30 2 * * *", "every day at 02:30"),
    ("@daily", "every day at 00:00"),
    ("0 6,18 * * *", "every day at 06:00 and 18:00"),
    ("0 * * * *", "every hour"),
    ("5 * * * *", "every hour at minute 5"),
    ("* * * * *", "every minute"),
    ("*/15 * * * *", "every 15 minutes"),
    ("0 */4 * * *", "every 4 hours"),
    ("30 2 * * 1", "every Monday at 02:30"),
    ("30 2 * * mon,FRI", "every Monday and Friday at 02:30"),
    ("30 2 * * 7", "every Sunday at 02:30"),
    ("30 2 * * 1-5", "Monday to Friday at 02:30"),
    ("0 3 1 * *", "on day 1 of every month at 03:00"),
    # What nobody says in a few words stays as it is: wrong words would be worse.
    ("*/7 * * * *", "*/7 * * * *"),
    ("0 3 1 * 1", "0 3 1 * 1"),
    ("0 3 * * 1#2", "0 3 * * 1#2"),
    ("nonsense", "nonsense"),
]


@pytest.mark.parametrize(("cron", "words"), IN_WORDS)
def test_simple_schedules_are_said_in_words_with_their_zone(cron, words):
    assert cron_words(cron, "Europe/Berlin") == f"{words} Europe/Berlin"


def row(schedule):
    titles = [column.title for column in SCHEDULES.shown(wide=True)]
    return {title: cell.text for title, cell in zip(titles, SCHEDULES.row(schedule, READER, wide=True), strict=True)}


def test_a_row_shows_the_next_time_and_why_one_was_skipped():
    skipped = Condition(type="Skipped", status="True", reason="EarlierBackupNotFinal", message="n-1 is still Queued")
    schedule = a_schedule("nightly", "30 2 * * *", "shop", retention=Retention(keep_last=3, keep_daily=7))
    schedule = schedule.with_status(phase=SchedulePhase.ENABLED, conditions=(skipped,))

    assert row(schedule) == {
        "NAME": "nightly",
        "STATUS": "Enabled",
        "SCHEDULE": "every day at 02:30 UTC",
        "NEXT": "1h30m",
        "LAST BACKUP": "",
        "SKIPPED": "EarlierBackupNotFinal",
        "AGE": "1h",
        "CRON": "30 2 * * *",
        "NAMESPACES": "shop",
        "TARGET": "store",
        "KEEPS": "last 3, daily 7",
        "MESSAGE": "n-1 is still Queued",
    }


def test_a_schedule_that_cannot_be_read_is_still_shown():
    broken = a_schedule("lost", "0 0 * * *", timezone="Mars/Olympus").with_status(
        phase=SchedulePhase.FAILED_VALIDATION, validation_errors=("no such zone",)
    )

    assert (row(broken)["STATUS"], row(broken)["NEXT"]) == ("FailedValidation", "")
    assert ("Invalid", "no such zone") in describe_schedule(broken, [], {}, READER)[-1].lines


def test_a_description_lists_the_next_five_times_unless_paused():
    def shown(schedule):
        (times,) = [part for part in describe_schedule(schedule, [], {}, READER) if part.heading == "Times"]
        return [value for label, value in times.lines if label == "Next"]

    nightly = a_schedule("nightly", "30 2 * * *", timezone="Europe/Berlin")
    assert shown(nightly)[0] == "Thu 2026-01-01 02:30:00+01:00"
    assert len(shown(nightly)) == 5
    assert shown(nightly.with_spec(paused=True)) == []


def test_a_new_schedule_is_announced_with_its_first_time():
    reader = Reader(now=datetime(2026, 1, 1, tzinfo=UTC))
    nightly = a_schedule("nightly", "30 2 * * *")

    assert (
        creation_sentence(nightly, reader) == "It runs every day at 02:30 UTC, next on Thu 2026-01-01 02:30:00+00:00."
    )
    assert "paused" in creation_sentence(nightly.with_spec(paused=True), reader)
    assert retention_words(None) == ""

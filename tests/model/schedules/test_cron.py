"""When schedules run: also on the two days of the year on which the clocks lie."""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.model.schedules.cron import Cron, read_fields, read_zone
from tidegate.testing.resources.builders import THEN

BERLIN = ZoneInfo("Europe/Berlin")


def times(text, start, count):
    cron = Cron.read(text, "Europe/Berlin")
    return [f"{time:%d %H:%M%z}" for time in islice(cron.after(start), count)]


SPRING = datetime(2027, 3, 28, 0, 30, tzinfo=BERLIN)  # at 02:00 it is 03:00
AUTUMN = datetime(2027, 10, 31, 0, 30, tzinfo=BERLIN)  # at 03:00 it is 02:00 again

CHANGES_OF_THE_CLOCKS = [
    # A time that does not exist runs right after the gap, and only once.
    ("30 2 * * *", SPRING, ["28 03:00+0200", "29 02:30+0200"]),
    ("0 2-3 * * *", SPRING, ["28 03:00+0200", "29 02:00+0200"]),
    ("15 1,2,3 * * *", SPRING, ["28 01:15+0100", "28 03:00+0200", "28 03:15+0200"]),
    ("*/30 2 * * *", SPRING, ["28 03:00+0200", "29 02:00+0200"]),
    ("30 */2 * * *", SPRING, ["28 03:00+0200", "28 04:30+0200"]),
    # A time that exists twice runs once.
    ("30 2 * * *", AUTUMN, ["31 02:30+0200", "01 02:30+0100"]),
    ("*/30 2 * * *", AUTUMN, ["31 02:00+0200", "31 02:30+0200", "01 02:00+0100"]),
    ("30 */2 * * *", AUTUMN, ["31 02:30+0200", "31 04:30+0100"]),
    # Every hour means every hour, however the wall calls it.
    ("0 * * * *", SPRING, ["28 01:00+0100", "28 03:00+0200", "28 04:00+0200"]),
    ("0 * * * *", AUTUMN, ["31 01:00+0200", "31 02:00+0200", "31 02:00+0100", "31 03:00+0100"]),
    ("0 0-23 * * *", AUTUMN, ["31 01:00+0200", "31 02:00+0200", "31 02:00+0100", "31 03:00+0100"]),
]


@pytest.mark.parametrize(("text", "start", "expected"), CHANGES_OF_THE_CLOCKS)
def test_times_around_a_change_of_the_clocks_in_berlin(text, start, expected):
    assert times(text, start, len(expected)) == expected


def test_a_time_that_ran_before_the_clocks_went_back_does_not_come_again_after():
    cron = Cron.read("30 2 * * *", "Europe/Berlin")
    in_the_second_two_o_clock = datetime(2027, 10, 31, 1, 10, tzinfo=UTC)  # 02:10 for the second time

    assert cron.first_after(in_the_second_two_o_clock) == datetime(2027, 11, 1, 2, 30, tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("short", "fields"), [("@daily", "0 0 * * *"), (" @Hourly ", "0 * * * *"), ("@weekly", "0 0 * * 0")]
)
def test_short_forms_are_written_out(short, fields):
    assert " ".join(read_fields(short)) == fields


@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "0 0 * * * *", "61 * * * *", "@often", "0 0 30 2 *", "a b c d e", "1 " * 300],
)
def test_what_is_no_cron_expression_is_refused_with_a_sentence(text):
    with pytest.raises(ValueError, match=r"cron expression"):
        read_fields(text)


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "Europe", "../../etc/passwd", "/etc/localtime", "a\0b"])
def test_what_is_no_time_zone_is_refused_with_a_sentence(name):
    with pytest.raises(ValueError, match="is not a known time zone"):
        read_zone(name)


@given(st.text(alphabet="0123456789*/,-#LWa@ ", max_size=40))
def test_any_text_is_read_or_refused_but_never_a_crash(text):
    try:
        fields = read_fields(text)
    except ValueError:
        return
    assert len(fields) == 5


MINUTES = st.sampled_from(["0", "30", "*/20", "5,35", "*/7", "59"])
HOURS = st.sampled_from(["2", "*", "1-3", "*/2", "0,2,3", "23"])
ZONES = st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC", "America/Sao_Paulo"])
MOMENTS = st.timedeltas(timedelta(), timedelta(days=730)).map(lambda offset: THEN + offset)
NEAR_CHANGES = st.timedeltas(timedelta(hours=-30), timedelta(hours=30)).flatmap(
    lambda offset: st.sampled_from(
        [
            datetime(2027, 3, 28, 1, tzinfo=UTC),
            datetime(2027, 10, 31, 1, tzinfo=UTC),
            datetime(2027, 11, 7, 6, tzinfo=UTC),
        ]
    ).map(lambda change: change + offset)
)


@given(MINUTES, HOURS, ZONES, MOMENTS | NEAR_CHANGES)
@settings(deadline=None)
def test_times_only_go_forward_and_none_has_the_wall_time_of_another(minute, hour, zone, start):
    cron = Cron.read(f"{minute} {hour} * * *", zone)
    found = list(islice(cron.after(start), 60))

    assert all(earlier.astimezone(UTC) < later.astimezone(UTC) for earlier, later in pairwise([start, *found]))
    walls = [time.replace(tzinfo=None) for time in found]
    if not cron.keeps_rhythm:
        assert len(set(walls)) == len(walls)


@given(MINUTES, HOURS, ZONES, MOMENTS | NEAR_CHANGES, st.integers(0, 30))
@settings(deadline=None)
def test_the_times_do_not_depend_on_where_one_begins_to_count(minute, hour, zone, start, steps):
    cron = Cron.read(f"{minute} {hour} * * *", zone)
    found = list(islice(cron.after(start), steps + 2))

    assert cron.first_after(found[steps]) == found[steps + 1]


@given(MINUTES, HOURS, ZONES, MOMENTS | NEAR_CHANGES, st.timedeltas(timedelta(), timedelta(days=8)))
@settings(deadline=None)
def test_the_latest_time_of_a_span_is_the_last_one_that_counting_finds(minute, hour, zone, start, span):
    cron = Cron.read(f"{minute} {hour} * * *", zone)
    counted = None
    for time in cron.after(start):
        if time.astimezone(UTC) > start + span:
            break
        counted = time

    assert cron.last_between(start, start + span) == counted

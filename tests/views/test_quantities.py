"""Bytes, rates and times in words."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.backups.byte_progress import percent, time_left
from tidegate.model.duration import parse_duration
from tidegate.views.quantities import human_bytes, human_duration, human_rate, human_span, new_in_store, ordinal_of

WHY = "because a volume is stored in whole blocks, and a tree with a list of its files"
COUNTS = st.integers(min_value=0, max_value=2**63)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (1024 * 1024 - 1, "1.0 MiB"),
        (int(1.5 * 1024**3), "1.5 GiB"),
        (250 * 1024**2, "250 MiB"),
        (2**62, "4.0 EiB"),
    ],
)
def test_bytes_in_the_largest_unit_that_leaves_a_whole(count, text):
    assert human_bytes(count) == text
    assert human_bytes(count, exact=True) == str(count)


@given(COUNTS)
def test_no_number_of_bytes_reaches_the_next_unit(count):
    number, _, unit = human_bytes(count).partition(" ")

    assert float(number) < 1024
    assert unit


@given(COUNTS, COUNTS)
def test_more_bytes_never_look_like_fewer(one, other):
    units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    def value(count):
        number, _, unit = human_bytes(count).partition(" ")
        return float(number) * 1024 ** units.index(unit)

    assert value(min(one, other)) <= value(max(one, other))


@pytest.mark.parametrize(
    ("rate", "text"), [(None, "unknown"), (0.0, "0 B/s"), (1536.4, "1.5 KiB/s"), (-1.0, "unknown")]
)
def test_a_rate_that_nobody_measured_is_unknown(rate, text):
    assert human_rate(rate) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (-5, "0s"),
        (59.9, "59s"),
        (60, "1m"),
        (192, "3m12s"),
        (3600, "1h"),
        (3605, "1h"),
        (7500, "2h5m"),
        (273_600, "3d4h"),
        (86_400 * 400, "400d"),
    ],
)
def test_durations_have_at_most_two_units(seconds, text):
    assert human_duration(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("36499d23h", "100 years"),
        ("36500d", "100 years"),
        ("89d23h", "90d"),
        ("30d", "30d"),
        ("1h30m", "1h30m"),
        ("1095d", "3 years"),
        ("800d", "2 years 2 months"),
    ],
)
def test_a_span_is_told_as_a_person_says_it(text, told):
    assert human_span(parse_duration(text)) == told


@pytest.mark.parametrize(
    ("fresh", "size", "text"),
    [
        (
            16_384,
            11,
            f"16.0 KiB, more than the 11 B backed up, {WHY}",
        ),
        (512, 1024, "512 B, 50 % of the 1.0 KiB backed up"),
        (1, 1024, "1 B, less than 1 % of the 1.0 KiB backed up"),
        (0, 1024, "nothing, all of it was there already"),
        (0, 0, "nothing"),
    ],
)
def test_what_is_new_in_the_store_is_told_with_a_reason_if_it_is_more_than_what_was_backed_up(fresh, size, text):
    assert new_in_store(fresh, size) == text


@given(st.integers(0, 10**9))
def test_a_duration_is_never_told_longer_than_it_is_nor_off_by_more_than_its_unit(seconds):
    told = parse_duration(human_duration(timedelta(seconds=seconds))).total_seconds()

    assert told <= seconds
    assert seconds - told < max(60, seconds / 24)


@pytest.mark.parametrize(
    ("done", "total", "share"),
    [(0, 10, 0), (999, 1000, 99), (10, 10, 100), (11, 10, 100), (5, None, None), (0, 0, None)],
)
def test_percent_is_rounded_down_and_never_over_a_hundred(done, total, share):
    assert percent(done, total) == share


@given(COUNTS, st.none() | COUNTS)
def test_percent_stays_between_zero_and_a_hundred_and_a_hundred_means_done(done, total):
    share = percent(done, total)

    assert share is None or 0 <= share <= 100
    assert share != 100 or done >= total


@pytest.mark.parametrize(
    ("done", "total", "rate", "left"),
    [
        (50, 100, 10.0, timedelta(seconds=5)),
        (100, 100, 10.0, timedelta()),
        (120, 100, 10.0, timedelta()),
        (50, None, 10.0, None),
        (50, 100, None, None),
        (50, 100, 0.0, None),
        (0, 10**18, 1.0, None),
    ],
)
def test_the_time_left_is_unknown_rather_than_a_guess(done, total, rate, left):
    assert time_left(done, total, rate) == left


@given(COUNTS, st.none() | COUNTS, st.none() | st.floats(allow_nan=False))
def test_the_time_left_is_never_negative_and_never_fails(done, total, rate):
    left = time_left(done, total, rate)

    assert left is None or left >= timedelta()


def test_a_count_never_exceeds_the_whole():
    assert ordinal_of(4, 3) == "3 of 3"

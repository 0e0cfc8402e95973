from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.access.login_limit import MOST_FAILURES, WINDOW, wait_before_login

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ages = st.lists(st.integers(0, 300), max_size=40)


def failures(seconds_ago):
    return [NOW - timedelta(seconds=age) for age in sorted(seconds_ago, reverse=True)]


def test_a_person_who_mistypes_does_not_wait():
    assert wait_before_login(failures([1] * (MOST_FAILURES - 1)), NOW) is None


def test_one_more_waits_until_the_oldest_of_them_is_forgotten():
    assert wait_before_login(failures([50, *[1] * (MOST_FAILURES - 1)]), NOW) == timedelta(seconds=10)


@given(ages)
def test_after_the_wait_a_try_is_always_allowed_and_never_before(seconds_ago):
    past = failures(seconds_ago)
    wait = wait_before_login(past, NOW)

    if wait is not None:
        assert timedelta() < wait <= WINDOW
        assert wait_before_login(past, NOW + wait) is None
        assert wait_before_login(past, NOW + wait - timedelta(microseconds=1)) is not None


@given(ages)
def test_no_window_ever_holds_more_failures_than_allowed(seconds_ago):
    allowed = []
    for failure in failures(seconds_ago):
        if wait_before_login(allowed, failure) is None:
            allowed.append(failure)

    for start in allowed:
        assert sum(start <= one < start + WINDOW for one in allowed) <= MOST_FAILURES

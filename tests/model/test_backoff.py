"""Waits double with each failure in a row, and stay in their bounds."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.backoff import Doubling

SECOND = timedelta(seconds=1)
WAITS = Doubling(first=SECOND, longest=10 * SECOND)


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (10**9, 10)]
)
def test_a_wait_doubles_up_to_the_longest(failures, seconds):
    assert WAITS.after(failures) == seconds * SECOND


@given(failures=st.integers(0, 10**6), share=st.floats(0, 1))
def test_a_jittered_wait_is_between_half_and_all_of_it(failures, share):
    assert WAITS.after(failures) / 2 <= WAITS.jittered(failures, share) <= WAITS.after(failures)

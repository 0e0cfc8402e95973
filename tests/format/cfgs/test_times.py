"""Times of files as a calendar shows them."""

from datetime import UTC, datetime

import pytest

from tidegate.format.cfgs.times import moment_of


@pytest.mark.parametrize(
    ("time_ns", "shown"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        (10_413_792_000 * 10**9, datetime(2300, 1, 1, tzinfo=UTC)),
        (2**63 * 10**9, datetime.max.replace(tzinfo=UTC)),
        (-(2**63) * 10**9, datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_every_time_of_a_file_is_shown_within_the_calendar(time_ns, shown):
    assert moment_of(time_ns) == shown

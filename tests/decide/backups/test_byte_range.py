"""Which bytes a client asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.backups.byte_range import asked_range


@pytest.mark.parametrize(
    ("header", "size", "asked"),
    [
        ("bytes=0-4", 10, range(5)),
        ("bytes=5-", 10, range(5, 10)),
        ("bytes=-3", 10, range(7, 10)),
        ("bytes=-30", 10, range(10)),
        ("BYTES = 2 - 3", 10, range(2, 4)),
        ("bytes=9-100", 10, range(9, 10)),
        ("bytes=10-", 10, range(0)),
        ("bytes=0-", 0, range(0)),
        ("bytes=5-2", 10, None),
        ("bytes=-", 10, None),
        ("bytes=0-1,3-4", 10, None),
        ("lines=0-1", 10, None),
        ("bytes=a-b", 10, None),
        ("", 10, None),
    ],
)
def test_one_range_of_bytes_is_understood_and_all_else_asks_for_the_whole(header, size, asked):
    found = asked_range(header, size)

    assert (found is None) == (asked is None)
    assert list(found or ()) == list(asked or ())


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_range_is_always_within_the_file(first, last, size):
    for header in (f"bytes={first}-{last}", f"bytes={first}-", f"bytes=-{last}"):
        found = asked_range(header, size)
        assert found is None or not found or 0 <= found.start < found.stop <= size

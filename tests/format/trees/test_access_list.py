"""What a file's mode is to be where its access list cannot be kept."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from tidegate.format.trees.access_list import mode_without


def access_list(**rights):
    tags = {"owner": 1, "user": 2, "group": 4, "other_group": 8, "mask": 16, "others": 32}
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", tags[tag], given, 0) for tag, given in rights.items())


def test_the_group_has_what_the_list_gives_it_and_the_mask_allows():
    assert mode_without(access_list(owner=7, user=7, group=5, mask=7, others=0), 0o770) == 0o750
    assert mode_without(access_list(owner=7, user=7, group=6, mask=4, others=0), 0o740) == 0o740
    assert mode_without(access_list(owner=6, group=4, others=4), 0o644) == 0o644


@given(st.binary(max_size=60) | st.binary(max_size=60).map(lambda rest: b"\x02\0\0\0" + rest), st.integers(0, 0o7777))
def test_whatever_the_list_is_nothing_but_the_rights_of_the_group_changes(body, mode):
    assert mode_without(body, mode) & ~0o070 == mode & ~0o070

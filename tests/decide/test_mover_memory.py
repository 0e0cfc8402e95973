"""How much a mover may have in its hands: measured with real movers in tests/app/test_mover_memory.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.mover_memory import DEFAULT_MEMORY, MIB, Allowance, allowance, least_memory
from tidegate.errors import Refused

GIB = 1024 * MIB


@pytest.mark.parametrize(
    ("memory", "block_mib", "wanted", "threads"),
    [
        (128 * MIB, 16, 16, 1),
        (256 * MIB, 16, 16, 3),
        (512 * MIB, 16, 16, 6),
        (512 * MIB, 2, 16, 16),
        (64 * MIB, 2, 16, 1),
        (128 * MIB, 2, 4, 4),
        (None, 16, 16, 6),
    ],
)
def test_more_memory_is_more_threads_up_to_what_the_store_needs(memory, block_mib, wanted, threads):
    found = allowance(memory, block_size=block_mib * MIB, volume_size=GIB, wanted=wanted)

    assert found.threads == threads


def test_with_the_least_memory_one_block_after_the_other_is_moved():
    least = least_memory(16 * MIB, GIB)

    assert allowance(least, block_size=16 * MIB, volume_size=GIB, wanted=16) == Allowance(1, 1, 1)


def test_too_little_memory_is_refused_with_the_least_that_would_do():
    with pytest.raises(Refused, match=r"limit of 64 MiB is too small .* blocks of 16 MiB; the least is 126 MiB"):
        allowance(64 * MIB, block_size=16 * MIB, volume_size=GIB, wanted=4)


def test_where_nobody_set_a_limit_even_the_largest_volume_is_moved():
    size = 20 * 1024 * GIB
    assert least_memory(2 * MIB, size) > DEFAULT_MEMORY

    assert allowance(None, block_size=2 * MIB, volume_size=size, wanted=16).threads == 1


@pytest.mark.parametrize(
    ("memory", "block_mib", "wanted", "makers"),
    [(96 * MIB, 2, 4, 0), (110 * MIB, 2, 4, 1), (128 * MIB, 2, 4, 2), (None, 2, 16, 2), (128 * MIB, 16, 4, 0)],
)
def test_processes_that_make_files_get_what_the_threads_leave(memory, block_mib, wanted, makers):
    assert allowance(memory, block_size=block_mib * MIB, volume_size=GIB, wanted=wanted).makers == makers


@given(
    memory=st.integers(1, 4 * GIB),
    block_size=st.sampled_from([2 * MIB, 16 * MIB]),
    volume_size=st.integers(1, 4 * 1024 * GIB),
    wanted=st.integers(1, 64),
)
def test_what_is_allowed_fits_and_is_never_nothing(memory, block_size, volume_size, wanted):
    least = least_memory(block_size, volume_size)
    if memory < least:
        with pytest.raises(Refused):
            allowance(memory, block_size=block_size, volume_size=volume_size, wanted=wanted)
        return
    found = allowance(memory, block_size=block_size, volume_size=volume_size, wanted=wanted)

    assert 1 <= found.threads <= wanted
    helpers = found.makers * (16 * MIB + 2 * block_size)
    assert least + (found.threads - 1) * 4 * block_size + helpers <= memory + MIB
    assert 1 <= found.ahead <= 8
    assert 1 <= found.readers <= found.threads

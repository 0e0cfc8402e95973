"""How much a mover may have in its hands: measured with real movers in tests/app/processes/test_mover_memory.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.transfers.mover_memory import (
    DEFAULT_MEMORY,
    MIB,
    DownloadHands,
    UploadHands,
    download_hands,
    least_memory,
    upload_hands,
)
from tidegate.errors import Refused

GIB = 1024 * MIB


@pytest.mark.parametrize(
    ("memory", "block_mib", "wanted", "threads"),
    [
        (128 * MIB, 16, 16, 1),
        (256 * MIB, 16, 16, 3),
        (512 * MIB, 16, 16, 6),
        (512 * MIB, 2, 16, 12),
        (64 * MIB, 2, 16, 1),
        (128 * MIB, 2, 4, 4),
        (None, 16, 16, 6),
    ],
)
def test_more_memory_is_more_threads_up_to_what_the_store_needs(memory, block_mib, wanted, threads):
    found = download_hands(memory, block_size=block_mib * MIB, volume_size=GIB, wanted=wanted, checked_at_once=8)

    assert found.threads == threads


def test_with_the_least_memory_one_block_after_the_other_is_moved():
    least = least_memory(16 * MIB, GIB)

    found = download_hands(least, block_size=16 * MIB, volume_size=GIB, wanted=16, checked_at_once=8)

    assert found == DownloadHands(1, 1, 1)


def test_too_little_memory_is_refused_with_the_least_that_would_do():
    with pytest.raises(Refused, match=r"limit of 64 MiB is too small .* blocks of 16 MiB; the least is 126 MiB"):
        download_hands(64 * MIB, block_size=16 * MIB, volume_size=GIB, wanted=4, checked_at_once=8)


def test_where_nobody_set_a_limit_even_the_largest_volume_is_moved():
    size = 20 * 1024 * GIB
    assert least_memory(2 * MIB, size) > DEFAULT_MEMORY

    assert download_hands(None, block_size=2 * MIB, volume_size=size, wanted=16, checked_at_once=8).threads == 1


@pytest.mark.parametrize(
    ("memory", "block_mib", "wanted", "makers"),
    [(96 * MIB, 2, 4, 0), (110 * MIB, 2, 4, 1), (128 * MIB, 2, 4, 2), (None, 2, 16, 2), (128 * MIB, 16, 4, 0)],
)
def test_processes_that_make_files_get_what_the_threads_leave(memory, block_mib, wanted, makers):
    found = download_hands(memory, block_size=block_mib * MIB, volume_size=GIB, wanted=wanted, checked_at_once=8)

    assert found.makers == makers


@pytest.mark.parametrize(
    ("memory", "block_mib", "wanted", "checked_at_once", "at_once"),
    [
        (None, 2, 4, 8, 7),
        (None, 2, 1, 8, 8),
        (None, 2, 4, 1, 1),
        (None, 2, 24, 8, 1),  # twelve threads with a few each would hold more and gain nothing
        (None, 16, 4, 8, 1),
        (128 * MIB, 2, 4, 8, 1),  # the makers of files come first
        (96 * MIB, 2, 4, 8, 1),
    ],
)
def test_blocks_are_fetched_to_be_checked_together_where_there_is_room(
    memory, block_mib, wanted, checked_at_once, at_once
):
    found = download_hands(
        memory, block_size=block_mib * MIB, volume_size=GIB, wanted=wanted, checked_at_once=checked_at_once
    )

    assert found.fetched_at_once == at_once


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
            download_hands(memory, block_size=block_size, volume_size=volume_size, wanted=wanted, checked_at_once=8)
        return
    found = download_hands(memory, block_size=block_size, volume_size=volume_size, wanted=wanted, checked_at_once=8)

    assert 1 <= found.threads <= wanted
    helpers = found.makers * (16 * MIB + 2 * block_size)
    assert least + (found.threads - 1) * 4 * block_size + helpers <= memory + MIB
    assert 1 <= found.ahead <= 8
    assert 1 <= found.readers <= found.threads


@pytest.mark.parametrize(
    ("memory", "block_mib", "in_flight", "named_at_once", "hands"),
    [
        (None, 2, 24, 8, UploadHands(readers=4, blocks=20, packers=2, named_at_once=8, senders=24)),
        (None, 2, 4, 1, UploadHands(readers=4, blocks=10, packers=2, named_at_once=1, senders=4)),
        (None, 2, 4, 8, UploadHands(readers=4, blocks=24, packers=2, named_at_once=8, senders=4)),
        (128 * MIB, 2, 24, 8, UploadHands(readers=4, blocks=10, packers=2, named_at_once=5, senders=11)),
        (512 * MIB, 16, 24, 8, UploadHands(readers=4, blocks=7, packers=2, named_at_once=4, senders=9)),
        (128 * MIB, 16, 24, 8, UploadHands(readers=1, blocks=1, packers=1, named_at_once=1, senders=1)),
    ],
)
def test_an_upload_has_as_many_hands_as_fit_into_its_memory(memory, block_mib, in_flight, named_at_once, hands):
    found = upload_hands(
        memory, block_size=block_mib * MIB, volume_size=GIB, in_flight=in_flight, named_at_once=named_at_once
    )

    assert found == hands


@pytest.mark.parametrize(("tebibytes", "blocks", "senders"), [(0.25, 18, 21), (0.5, 15, 19), (1, 10, 14), (2, 4, 8)])
def test_the_more_an_upload_must_know_of_its_volume_the_less_it_has_in_hand(tebibytes, blocks, senders):
    found = upload_hands(
        None, block_size=2 * MIB, volume_size=int(tebibytes * 1024 * GIB), in_flight=24, named_at_once=8
    )

    assert (found.blocks, found.senders) == (blocks, senders)


def test_an_upload_with_too_little_memory_is_refused_like_any_transfer():
    with pytest.raises(Refused, match=r"limit of 64 MiB is too small .* the least is 126 MiB"):
        upload_hands(64 * MIB, block_size=16 * MIB, volume_size=GIB, in_flight=4, named_at_once=8)


@given(
    extra=st.integers(0, 4 * GIB),
    block_size=st.sampled_from([2 * MIB, 16 * MIB]),
    volume_size=st.integers(1, 4 * 1024 * GIB),
    in_flight=st.integers(1, 64),
    named_at_once=st.sampled_from([1, 8]),
)
def test_what_an_upload_has_in_hand_fits_and_is_never_nothing(extra, block_size, volume_size, in_flight, named_at_once):
    least = least_memory(block_size, volume_size)
    found = upload_hands(
        least + extra,
        block_size=block_size,
        volume_size=volume_size,
        in_flight=in_flight,
        named_at_once=named_at_once,
    )

    assert min(found.readers, found.blocks, found.packers, found.named_at_once, found.senders) >= 1
    assert found.senders <= in_flight
    assert found.named_at_once <= named_at_once
    # Beside what the process takes: all blocks as they were read, one of each packer, and two and a bit of each sender.
    in_hand = (found.blocks + found.packers) * block_size + found.senders * (2 * block_size + MIB)
    assert least - (4 * block_size + MIB) + in_hand <= least + extra + MIB

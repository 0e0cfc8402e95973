"""Writing a backup's blocks into an open image or device: anew, or onto what an earlier backup left there."""

import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from tidegate.disk.direct_writer import DirectWriter, write_at
from tidegate.disk.file_system import begin_writing_out
from tidegate.ports.volume_data import BackupContent
from tidegate.volumes.images.holes import data_ranges

_PIECE = 4 * 1024 * 1024


def fill(
    handle: int, content: BackupContent, on_bytes: Callable[[int], None], *, sparse: bool, begin_at: int = 0
) -> None:
    """Everything from `begin_at` on, into a file that reads as zeros so far. With `sparse`, zeros stay holes."""
    zeros = bytes(content.block_size)
    with DirectWriter(handle) as writer:

        def write(some: Sequence[Stretch]) -> None:
            blocks = iter(content.fetch_blocks([stretch.offset for stretch in some if stretch.is_block]))
            for stretch in some:
                if not stretch.is_block:
                    for begin, size in _pieces(stretch.offset, stretch.length):
                        writer.write_at(bytes(size), begin)
                    continue
                block = next(blocks)
                if block != zeros or not sparse:
                    writer.write_at(memoryview(block)[: stretch.length], stretch.offset)
                on_bytes(len(block))

        row = stretches(content, with_gaps=not sparse, begin_at=begin_at)
        content.in_parallel(iter(lambda: [*islice(row, content.fetched_at_once)], []), write)


def bring_up_to_date(handle: int, content: BackupContent, on_bytes: Callable[[int], None], *, begin_at: int = 0) -> int:
    """Make what holds an earlier backup hold this one; returns how many kept blocks were not what they should be.

    Each block that should be there already is compared with its checksum and fetched if somebody changed it. What no
    block covers becomes zeros.
    """
    kept = content.kept or frozenset()
    changed: list[int] = []

    def mend(stretch: Stretch) -> None:
        offset, length, is_block = stretch
        if not is_block:
            clear(handle, offset, length)
            return
        if offset not in kept or not content.is_block(offset, os.pread(handle, length, offset)):
            if offset in kept:
                changed.append(offset)
            write_at(handle, memoryview(content.fetch_block(offset))[:length], offset)
            begin_writing_out(handle, offset, length)
        on_bytes(content.block_size)

    content.in_parallel(stretches(content, with_gaps=True, begin_at=begin_at), mend)
    return len(changed)


class Stretch(NamedTuple):
    """A part of an image that one thread sees to: a block, or a gap between blocks, which reads as zeros."""

    offset: int
    length: int
    is_block: bool


def stretches(content: BackupContent, *, with_gaps: bool, begin_at: int = 0) -> Iterator[Stretch]:
    """Every block and, if wanted, every gap, in order and up to the size of the image, where a block may be cut.

    `begin_at` is where a block begins, or the end.
    """
    done = begin_at
    for offset in content.block_offsets[bisect_left(content.block_offsets, begin_at) :]:
        if with_gaps and offset > done:
            yield Stretch(done, offset - done, is_block=False)
        # The last block of an odd image is padded in the store.
        done = min(offset + content.block_size, content.size)
        yield Stretch(offset, done - offset, is_block=True)
    if with_gaps and content.size > done:
        yield Stretch(done, content.size - done, is_block=False)


def clear(handle: int, offset: int, length: int) -> None:
    """Let a range read as zeros, writing only where it does not."""
    for begin_data, length_data in data_ranges(handle, offset + length, begin_at=offset):
        for begin, size in _pieces(begin_data, length_data):
            if os.pread(handle, size, begin).strip(b"\0"):
                write_zeros(handle, begin, size)


def write_zeros(handle: int, offset: int, length: int) -> None:
    """Zeros that take space."""
    for begin, size in _pieces(offset, length):
        write_at(handle, bytes(size), begin)


def copy_sparsely(source: int, to: int) -> None:
    """The same bytes and holes in another, empty file: shared by the file system where it can, else copied."""
    size = os.fstat(source).st_size
    os.ftruncate(to, size)
    for offset, length in data_ranges(source, size):
        _copy(source, to, offset, length)


def _copy(source: int, to: int, offset: int, length: int) -> None:
    while length > 0:
        try:
            copied = os.copy_file_range(source, to, min(length, 1 << 30), offset, offset)
        except OSError:  # this file system cannot
            copied = 0
        if not copied:
            piece = os.pread(source, min(length, _PIECE), offset)
            if not piece:
                return
            write_at(to, piece, offset)
            copied = len(piece)
        offset, length = offset + copied, length - copied


def _pieces(offset: int, length: int) -> Iterator[tuple[int, int]]:
    while length > 0:
        yield offset, min(length, _PIECE)
        offset, length = offset + _PIECE, length - _PIECE

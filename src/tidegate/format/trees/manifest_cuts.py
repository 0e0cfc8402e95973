"""Cutting a manifest into blocks where its own lines say so.

If the lines simply followed each other, one more file at the beginning would shift all of them, and every block of the
manifest would be a new one. So a block ends behind a line that looks like an end, and the next begins on a new block;
where lines stay the same, the same blocks come out again soon behind any change. The gap is filled with empty lines.
"""

import zlib
from collections.abc import Iterable, Iterator

# One line in so many looks like an end. A manifest has thousands of lines per block, so the last quarter of nearly
# every block has one.
_ONE_IN = 1024


def cut_manifest(lines: Iterable[bytes], block_size: int) -> Iterator[bytes]:
    """The lines in order, and between some of them what fills a block up. A line longer than a block crosses blocks."""
    filled = 0
    for line in lines:
        if filled and filled + len(line) > block_size:
            yield b"\n" * (block_size - filled)
            filled = 0
        yield line
        filled = (filled + len(line)) % block_size
        if filled * 4 >= block_size * 3 and zlib.crc32(line) % _ONE_IN == 0:
            yield b"\n" * (block_size - filled)
            filled = 0


def in_pieces(lines: Iterable[bytes], length: int) -> Iterator[bytes]:
    """The same bytes, at least `length` at a time: hashing and writing line by line would take longer than all else."""
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= length:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)

"""Where a file holds data and where it only has holes."""

import errno
import os
from collections.abc import Iterator

_NO_ANSWER = frozenset({errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTTY})


def data_ranges(handle: int, size: int, *, begin_at: int = 0) -> Iterator[tuple[int, int]]:
    """(offset, length) of what may hold data from `begin_at` on, ascending.

    A file system that does not know says: all of it.
    """
    offset = begin_at
    while offset < size:
        try:
            begin = os.lseek(handle, offset, os.SEEK_DATA)
            end = os.lseek(handle, begin, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole from here to the end
                return
            if error.errno in _NO_ANSWER:
                yield offset, size - offset
                return
            raise
        if begin >= size:
            return
        yield begin, min(end, size) - begin
        offset = end


def coalesced(ranges: list[tuple[int, int]], *, most: int) -> list[tuple[int, int]]:
    """The same data in at most `most` ranges: the smallest holes are taken for data, which costs only zeros."""
    gap = 4096
    while len(ranges) > most:
        joined = ranges[:1]
        for offset, length in ranges[1:]:
            begin, before = joined[-1]
            if offset - (begin + before) <= gap:
                joined[-1] = (begin, offset + length - begin)
            else:
                joined.append((offset, length))
        ranges, gap = joined, gap * 4
    return ranges

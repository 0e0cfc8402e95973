"""Which bytes of which file lie where in a packed image, for millions of files in little memory."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from heapq import merge
from typing import NamedTuple


class Run(NamedTuple):
    """Some bytes of one file. `line` is where the spool has the file's line."""

    image_offset: int
    length: int
    file_offset: int
    line: int


class FileRuns:
    """Runs by their place in the image. Small ones and large ones are each added in ascending order."""

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self._small, self._large = _Table(), _Table()

    def add(self, run: Run) -> None:
        """No two runs overlap."""
        (self._small if run.length < self._block_size else self._large).append(run)

    def between(self, begin: int, end: int) -> Iterator[Run]:
        """Every run that has bytes in this range of the image, ascending. One by one: a block may have 300,000."""
        return merge(self._small.between(begin, end), self._large.between(begin, end))


class _Table:
    """Columns of numbers: a tuple for each run would take ten times the memory."""

    def __init__(self) -> None:
        self._columns = tuple(array("Q") for _ in Run._fields)

    def append(self, run: Run) -> None:
        for column, value in zip(self._columns, run, strict=True):
            column.append(value)

    def between(self, begin: int, end: int) -> Iterator[Run]:
        offsets, lengths, file_offsets, lines = self._columns
        for index in range(max(0, bisect_right(offsets, begin) - 1), len(offsets)):
            if offsets[index] >= end:
                return
            if offsets[index] + lengths[index] > begin:
                yield Run(offsets[index], lengths[index], file_offsets[index], lines[index])

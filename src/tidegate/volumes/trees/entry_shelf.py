"""Entries of a tree that are wanted later: in a temporary file, because a million of them would fill the memory."""

import tempfile
from array import array
from collections.abc import Iterable, Iterator

from tidegate.format.trees.entry import TreeEntry

_ANYWHERE = 2**63 - 1
_POSITION_BITS = 64


class EntryShelf:
    """First everything is put, then it is looked at, in one order or another. Used as a context manager."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed by our own end
        self._positions = array("Q")
        self._ranks = array("Q")
        self._end = 0

    def put(self, entry: TreeEntry, rank: int = 0) -> None:
        """Keep one."""
        self._positions.append(self._end)
        self._ranks.append(rank)
        self._end += self._file.write(entry.encode())

    def as_put(self) -> Iterator[TreeEntry]:
        """The first one first."""
        return self._at(self._positions)

    def last_first(self) -> Iterator[TreeEntry]:
        """The other way round."""
        return self._at(reversed(self._positions))

    def by_rank(self) -> Iterator[TreeEntry]:
        """The lowest rank first, of equal ones the first that was put."""
        # One number for rank and position: pairs would take three times the memory.
        places = zip(self._ranks, self._positions, strict=True)
        joined = sorted(rank << _POSITION_BITS | position for rank, position in places)
        return self._at(number & (1 << _POSITION_BITS) - 1 for number in joined)

    def __enter__(self) -> "EntryShelf":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _at(self, positions: Iterable[int]) -> Iterator[TreeEntry]:
        for position in positions:
            self._file.seek(position)
            # What was put had been checked when it was read from the backup.
            yield TreeEntry.decode(self._file.readline(), content_end=_ANYWHERE)

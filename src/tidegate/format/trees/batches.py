"""The files of a tree, gathered by the block that holds their bytes, so that a block is read once and not per file.

A tree that was packed in one go is read in the order of its image. Where unchanged files keep their old places, paths
and places are in different orders; then the files that are out of line wait, and come at the end by their places.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, Protocol

from tidegate.format.trees.entry import Extent, TreeEntry

# Gaps that deleted files left are no reason to wait; what was appended to the image since is farther away.
_NEAR_BLOCKS = 64
# Bounds the memory for blocks full of tiny files; beyond, the block is read once more.
_MOST_FILES = 4096
# And for long paths and large attributes.
_MOST_WEIGHT = 16 * 1024 * 1024


class Pack(NamedTuple):
    """Files that have all their bytes in one block, together."""

    offset: int
    files: list[TreeEntry]


@dataclass(frozen=True, eq=False)
class SplitFile:
    """A file that has blocks for itself. Two of them are never equal, even if an enemy gave them the same path."""

    entry: TreeEntry
    parts: int


class Part(NamedTuple):
    """What one block has of a file that is not in a pack. Parts of one file may be written in any order."""

    offset: int
    file: SplitFile
    extents: tuple[Extent, ...]


class Waiting(Protocol):
    """Files that wait for their turn."""

    def put(self, entry: TreeEntry, rank: int) -> None:
        """Keep one."""
        ...

    def by_rank(self) -> Iterator[TreeEntry]:
        """All of them, the lowest rank first."""
        ...


def batches(files: Iterable[TreeEntry], waiting: Waiting, *, block_size: int) -> Iterator[Pack | Part]:
    """Every file once, whole or in parts. Those that are out of line go to `waiting` and come from there at the end."""
    yield from _gathered(_in_line(files, waiting, block_size), block_size)
    yield from _gathered(waiting.by_rank(), block_size)


def together(rows: Iterable[Pack | Part], count: int) -> Iterator[list[Pack | Part]]:
    """So many of them at once, or as many as bring no more files than one may: files take memory, too."""
    some, files, weight = list[Pack | Part](), 0, 0
    for row in rows:
        brought = row.files if isinstance(row, Pack) else [row.file.entry]
        heavy = sum(map(_weight, brought))
        if some and (len(some) == count or files + len(brought) > _MOST_FILES or weight + heavy > _MOST_WEIGHT):
            yield some
            some, files, weight = [], 0, 0
        some.append(row)
        files += len(brought)
        weight += heavy
    if some:
        yield some


def _in_line(files: Iterable[TreeEntry], waiting: Waiting, block_size: int) -> Iterator[TreeEntry]:
    pack = frontier = 0
    for entry in files:
        first, last = _blocks(entry, block_size)
        if not _is_packed(entry, first, last, block_size):
            # Shares its blocks with hardly anybody, so it need not wait wherever it is.
            if first <= frontier + _NEAR_BLOCKS:
                frontier = max(frontier, last + 1)
            yield entry
        elif pack <= first <= frontier + _NEAR_BLOCKS:
            # Large files lie between packs: a pack may go on behind the frontier, but a new one begins there.
            pack, frontier = first, max(frontier, first + 1)
            yield entry
        else:
            waiting.put(entry, rank=first)


def _gathered(files: Iterable[TreeEntry], block_size: int) -> Iterator[Pack | Part]:
    block, pack, weight = -1, list[TreeEntry](), 0
    for entry in files:
        first, last = _blocks(entry, block_size)
        if not _is_packed(entry, first, last, block_size):
            yield from _parts(entry, block_size)
            continue
        if first != block or len(pack) == _MOST_FILES or weight > _MOST_WEIGHT:
            if pack:
                yield Pack(block * block_size, pack)
            block, pack, weight = first, [], 0
        pack.append(entry)
        weight += _weight(entry)
    if pack:
        yield Pack(block * block_size, pack)


def _parts(entry: TreeEntry, block_size: int) -> Iterator[Part]:
    # Counted by cutting twice: the parts of a huge file are many more than should be kept.
    file = SplitFile(entry, sum(1 for _ in _by_block(entry, block_size)))
    for offset, extents in _by_block(entry, block_size):
        yield Part(offset, file, extents)


def _by_block(entry: TreeEntry, block_size: int) -> Iterator[tuple[int, tuple[Extent, ...]]]:
    pieces = (piece for extent in sorted(entry.extents) for piece in _cut(extent, block_size))
    for offset, group in groupby(pieces, lambda piece: piece.image_offset // block_size * block_size):
        yield offset, tuple(group)


def _cut(extent: Extent, block_size: int) -> Iterator[Extent]:
    begin, length, file_offset = extent
    while length > 0:
        size = min(length, block_size - begin % block_size)
        yield Extent(begin, size, file_offset)
        begin, length, file_offset = begin + size, length - size, file_offset + size


def _weight(entry: TreeEntry) -> int:
    return len(entry.path) + (sum(map(len, entry.xattrs.values())) if entry.xattrs else 0)


def _is_packed(entry: TreeEntry, first: int, last: int, block_size: int) -> bool:
    """Whether it shares one block with others; a file of exactly one block has that for itself."""
    return first == last and entry.extents[0].length < block_size


def _blocks(entry: TreeEntry, block_size: int) -> tuple[int, int]:
    """The numbers of the first and the last block that hold its bytes; it must have some."""
    if len(entry.extents) == 1:
        begin, length, _ = entry.extents[0]
        return begin // block_size, (begin + length - 1) // block_size
    first = min(extent.image_offset for extent in entry.extents)
    last = max(extent.image_offset + extent.length - 1 for extent in entry.extents)
    return first // block_size, last // block_size

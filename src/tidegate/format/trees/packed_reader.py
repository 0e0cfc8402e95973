"""Reading a packed tree out of a backup's blocks: any range of its image, and its manifest as entries."""

import hashlib
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Protocol

from tidegate.errors import DamagedMetadata
from tidegate.format.blocks.checksum import CHECKSUM_DIGITS
from tidegate.format.trees.entry import TreeEntry
from tidegate.format.trees.manifest import decode_manifest, split_lines
from tidegate.format.trees.packed_tree import TreeMark

# An open pack of small files and the large files between them; a tree is read nearly in the order of its image.
_KEPT_BLOCKS = 4
_PIECE = 1024 * 1024

Entries = Callable[[], Iterator[TreeEntry]]


class Blocks(Protocol):
    """The blocks of one backup; BackupContent is one."""

    @property
    def block_size(self) -> int:
        """Bytes per block."""
        ...

    @property
    def block_offsets(self) -> Sequence[int]:
        """Where blocks with data begin, ascending."""
        ...

    def read_block(self, offset: int) -> bytes:
        """One whole block, checked."""
        ...


class ImageBytes:
    """Any range of a backup's content. `on_bytes` hears of each block once, however often it is looked at."""

    def __init__(self, content: Blocks, *, on_bytes: Callable[[int], None] = lambda _: None) -> None:
        self._content = content
        self._on_bytes = on_bytes
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._seen: set[int] = set()

    def pieces(self, offset: int, length: int) -> Iterator[tuple[int, memoryview | None]]:
        """The range as (bytes, content) in order; no content stands for a hole of so many zeros."""
        block_size, end = self._content.block_size, offset + length
        while offset < end:
            begin = offset // block_size * block_size
            until = min(end, begin + block_size)
            block = self._block(begin, keep=until - offset < block_size)
            yield until - offset, None if block is None else memoryview(block)[offset - begin : until - begin]
            offset = until

    def _block(self, offset: int, *, keep: bool) -> bytes | None:
        if offset in self._kept:
            self._kept.move_to_end(offset)
            return self._kept[offset]
        offsets = self._content.block_offsets
        index = bisect_left(offsets, offset)
        if index == len(offsets) or offsets[index] != offset:
            return None
        block = self._content.read_block(offset)
        if keep:  # what was wanted whole is not wanted again: it would only drive out packs of small files
            self._kept[offset] = block
        if len(self._kept) > _KEPT_BLOCKS:
            self._kept.popitem(last=False)
        if offset not in self._seen:
            self._seen.add(offset)
            self._on_bytes(len(block))
        return block


def file_bytes(entry: TreeEntry, image: ImageBytes) -> Iterator[bytes]:
    """What a file holds, from its beginning to its end, holes as zeros. In pieces of bounded size."""
    done = 0
    for extent in entry.extents:
        yield from zeros(extent.file_offset - done)
        for length, content in image.pieces(extent.image_offset, extent.length):
            yield bytes(length) if content is None else bytes(content)
        done = extent.file_offset + extent.length
    yield from zeros(entry.size - done)


def zeros(length: int) -> Iterator[bytes]:
    """So many zeros, in pieces of bounded size."""
    while length > 0:
        yield bytes(min(length, _PIECE))
        length -= _PIECE


def read_manifest(image: ImageBytes, mark: TreeMark, spool: IO[bytes]) -> Entries:
    """The tree's entries, as often as they are asked for, parents before children.

    All of the manifest is written to `spool` and compared with its checksum before this returns.
    """
    digest = hashlib.sha512()
    for length, content in image.pieces(mark.manifest_offset, mark.manifest_length):
        piece = bytes(length) if content is None else content
        digest.update(piece)
        spool.write(piece)
    if digest.hexdigest()[:CHECKSUM_DIGITS] != mark.manifest_checksum:
        raise DamagedMetadata("the tree's manifest does not match its checksum")

    def entries() -> Iterator[TreeEntry]:
        spool.seek(0)
        return decode_manifest(split_lines(iter(lambda: spool.read(_PIECE), b"")), content_end=mark.manifest_offset)

    return entries

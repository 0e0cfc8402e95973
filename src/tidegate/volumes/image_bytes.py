"""Reading any range of a backup's image, block by block, for a tree that is unpacked from it."""

import hashlib
import tempfile
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator

from tidegate.errors import DamagedMetadata
from tidegate.format.checksum import CHECKSUM_DIGITS
from tidegate.format.packed_tree import TreeMark
from tidegate.ports.volume_data import BackupContent

# An open pack of small files and the large files between them; a tree is read nearly in the order of its image.
_KEPT_BLOCKS = 4


class ImageBytes:
    """Any range of a backup's content. `on_bytes` hears of each block once, however often it is looked at."""

    def __init__(self, content: BackupContent, *, on_bytes: Callable[[int], None]) -> None:
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


def manifest_pieces(image: ImageBytes, mark: TreeMark) -> Iterator[bytes]:
    """The manifest in pieces, all of it compared with its checksum before the first piece is given out."""
    with tempfile.TemporaryFile() as spool:
        digest = hashlib.sha512()
        for length, content in image.pieces(mark.manifest_offset, mark.manifest_length):
            piece = bytes(length) if content is None else content
            digest.update(piece)
            spool.write(piece)
        if digest.hexdigest()[:CHECKSUM_DIGITS] != mark.manifest_checksum:
            raise DamagedMetadata("the tree's manifest does not match its checksum")
        spool.seek(0)
        while piece := spool.read(1024 * 1024):
            yield piece

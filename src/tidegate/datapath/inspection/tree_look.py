"""Looks into a backup's tree by a server that stays: everything happens in the thread that asks.

A restore reads ahead with threads of its own, and its process ends with them. A server could not end while one of them
hangs in a store that is gone; so here nobody reads ahead, and nothing is left behind but the thread that asked.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidegate.datapath.downloads.download import StoredContent, open_backup
from tidegate.datapath.inspection.browse import mark_of
from tidegate.datapath.inspection.tree_index import TreeIndex
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.format.trees.entry import TreeEntry
from tidegate.format.trees.packed_reader import ImageBytes, file_bytes, read_manifest


@dataclass(frozen=True)
class _NothingAhead:
    """Blocks one at a time, when they are asked for."""

    content: StoredContent

    @property
    def block_size(self) -> int:
        return self.content.block_size

    @property
    def block_offsets(self) -> Sequence[int]:
        return self.content.block_offsets

    def read_block(self, offset: int) -> bytes:
        return self.content.fetch_block(offset)


def index_tree(volume: StoredVolume, backup: str) -> TreeIndex:
    """All paths of a finished backup; raises Refused if it holds an image, and what `open_backup` raises."""
    with open_backup(volume, backup) as content, tempfile.TemporaryFile() as spool:
        entries = read_manifest(ImageBytes(_NothingAhead(content)), mark_of(content, backup), spool)
        return TreeIndex(entries())


def read_file(volume: StoredVolume, backup: str, entry: TreeEntry) -> Iterator[bytes]:
    """The bytes of a file that the index has told of, in pieces no larger than a block."""
    with open_backup(volume, backup) as content:
        yield from file_bytes(entry, ImageBytes(_NothingAhead(content)))

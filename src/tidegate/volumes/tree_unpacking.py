"""The order in which a tree is unpacked: what has no bytes, then files block by block, then links, then directories."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from tidegate.format.tree_batches import Pack, Part, batches
from tidegate.format.tree_entry import EntryType, TreeEntry
from tidegate.ports.volume_data import BackupContent
from tidegate.volumes.entry_shelf import EntryShelf
from tidegate.volumes.tree_writer import TreeWriter

_BETWEEN_LOOKS = 1000


def unpack(
    entries: Iterable[TreeEntry], content: BackupContent, writer: TreeWriter, *, on_bytes: Callable[[int], None]
) -> None:
    """Make every entry. Each block is fetched, checked and written out by one of several threads."""
    counted = _CountedOnce(content, on_bytes)
    with EntryShelf() as waiting, EntryShelf() as links, EntryShelf() as directories:

        def files() -> Iterator[TreeEntry]:
            for entry in _looking_up(entries, on_bytes):
                if entry.extents:
                    yield entry
                elif entry.type is EntryType.HARD_LINK:
                    links.put(entry)
                else:
                    if entry.type is EntryType.DIRECTORY:
                        directories.put(entry)
                    writer.make(entry)

        def write(batch: Pack | Part) -> None:
            block = content.fetch_block(batch.offset) if _has(content.block_offsets, batch.offset) else None
            if isinstance(batch, Pack):
                writer.write_pack(batch, block)
            else:
                writer.write_part(batch, block)
            counted.add(batch.offset)

        content.in_parallel(batches(files(), waiting, block_size=content.block_size), write)
        for link in _looking_up(links.as_put(), on_bytes):
            writer.make(link)
        writer.finish(_looking_up(directories.last_first(), on_bytes))


def _looking_up(entries: Iterable[TreeEntry], on_bytes: Callable[[int], None]) -> Iterator[TreeEntry]:
    """The same, asking now and then whether they are still wanted: a tree may have a million entries without bytes."""
    for number, entry in enumerate(entries):
        if number % _BETWEEN_LOOKS == 0:
            on_bytes(0)
        yield entry


class _CountedOnce:
    """Tells of the bytes of a block once, though the block may be used for several files."""

    def __init__(self, content: BackupContent, on_bytes: Callable[[int], None]) -> None:
        self._block_size = content.block_size
        self._on_bytes = on_bytes
        self._seen = bytearray(content.size // content.block_size + 1)

    def add(self, offset: int) -> None:
        number = offset // self._block_size
        seen, self._seen[number] = self._seen[number], 1
        self._on_bytes(0 if seen else self._block_size)


def _has(offsets: Sequence[int], offset: int) -> bool:
    index = bisect_left(offsets, offset)
    return index < len(offsets) and offsets[index] == offset

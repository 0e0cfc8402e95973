"""The order in which a tree is unpacked: what has no bytes, then files block by block, then links, then directories."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tidegate.format.trees.batches import Pack, Part, batches, together
from tidegate.format.trees.entry import EntryType, TreeEntry
from tidegate.ports.volume_data import BackupContent
from tidegate.volumes.trees.entry_shelf import EntryShelf
from tidegate.volumes.trees.file_makers import FileMakers
from tidegate.volumes.trees.writer import TreeWriter

_BETWEEN_LOOKS = 1000


def unpack(
    entries: Iterable[TreeEntry],
    content: BackupContent,
    writer: TreeWriter,
    *,
    on_bytes: Callable[[int], None],
    makers: int = 0,
) -> None:
    """Make every entry. Each block is fetched and checked by one of several threads.

    With `makers` so many processes make the small files meanwhile.
    """
    counted = CountedOnce(content, on_bytes)
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

        rows = batches(files(), waiting, block_size=content.block_size)
        with FileMakers(
            writer, processes=makers, block_size=content.block_size, on_wait=lambda: on_bytes(0)
        ) as file_makers:
            for batch in _written(rows, content, writer, file_makers):
                counted.add(batch.offset)
            file_makers.finish()
        for link in _looking_up(links.as_put(), on_bytes):
            writer.make(link)
        writer.finish(_looking_up(directories.last_first(), on_bytes))


def _written(
    rows: Iterable[Pack | Part], content: BackupContent, writer: TreeWriter, makers: FileMakers
) -> Iterator[Pack | Part]:
    """Each batch once its files are written, or handed to the makers.

    Large files are written by the threads that fetch. Small ones are not: between two threads that make many short
    calls the interpreter would change hands at each one.
    """

    def prepare(some: Sequence[Pack | Part]) -> Mapping[int, bytes]:
        offsets = [batch.offset for batch in some if has_block(content.block_offsets, batch.offset)]
        blocks = dict(zip(offsets, content.fetch_blocks(offsets), strict=True))
        for batch in some:
            if isinstance(batch, Part):
                writer.write_part(batch, blocks.get(batch.offset))
        return blocks

    at_once = content.fetched_at_once
    for some, blocks in content.ahead(together(rows, at_once), prepare, blocks=at_once):
        for batch in some:
            if isinstance(batch, Pack):
                makers.write_pack(batch, blocks.get(batch.offset))
            yield batch


def _looking_up(entries: Iterable[TreeEntry], on_bytes: Callable[[int], None]) -> Iterator[TreeEntry]:
    """The same, asking now and then whether they are still wanted: a tree may have a million entries without bytes."""
    for number, entry in enumerate(entries):
        if number % _BETWEEN_LOOKS == 0:
            on_bytes(0)
        yield entry


class CountedOnce:
    """Tells of the bytes of a block once, though the block may be used for several files."""

    def __init__(self, content: BackupContent, on_bytes: Callable[[int], None]) -> None:
        self._block_size = content.block_size
        self._on_bytes = on_bytes
        self._seen = bytearray(content.size // content.block_size + 1)

    def add(self, offset: int) -> None:
        """The block there was used."""
        number = offset // self._block_size
        seen, self._seen[number] = self._seen[number], 1
        self._on_bytes(0 if seen else self._block_size)


def has_block(offsets: Sequence[int], offset: int) -> bool:
    """Whether a block begins at `offset`; else there are zeros."""
    index = bisect_left(offsets, offset)
    return index < len(offsets) and offsets[index] == offset

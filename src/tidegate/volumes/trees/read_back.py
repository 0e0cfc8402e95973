"""Reading a restored tree again, to see that the disk gives back what the backup holds.

Files are gathered by their blocks, as they were when they were unpacked: what lies on the disk gives the block again,
and its checksum proves it without a byte from the store. Where files left the tree since the block was packed, the
block holds more than the disk; then it is fetched, and what the files have of it is compared.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from tidegate.errors import RestoredDataDiffers
from tidegate.format.trees.batches import Pack, Part, batches
from tidegate.format.trees.entry import ROOT_PATH, EntryType, Extent, TreeEntry
from tidegate.format.trees.shown_path import shown_path
from tidegate.ports.volume_data import BackupContent
from tidegate.volumes.images.read_back import forget_cached, is_zero, unreadable
from tidegate.volumes.trees.beneath import DIRECTORY, Beneath
from tidegate.volumes.trees.entry_shelf import EntryShelf
from tidegate.volumes.trees.unpacking import CountedOnce, has_block

_BETWEEN_LOOKS = 1000
# Not to wait for a writer, should a pipe be where a file was.
_FILE = os.O_RDONLY | os.O_NONBLOCK
_TYPES: dict[EntryType, Callable[[int], bool]] = {
    EntryType.FILE: stat.S_ISREG,
    EntryType.HARD_LINK: lambda mode: not stat.S_ISDIR(mode),
    EntryType.DIRECTORY: stat.S_ISDIR,
    EntryType.SYMLINK: stat.S_ISLNK,
    EntryType.FIFO: stat.S_ISFIFO,
}


def compare_tree(
    path: str, entries: Iterable[TreeEntry], content: BackupContent, *, on_bytes: Callable[[int], None]
) -> None:
    """Kind, size, bytes and links of every entry. Raises RestoredDataDiffers that names the first that differs."""
    root = os.open(path, DIRECTORY | os.O_CLOEXEC)
    tree, counted = _Tree(root, content), CountedOnce(content, on_bytes)
    try:
        with EntryShelf() as waiting:
            files = _files(tree, entries, on_bytes)
            for batch, _ in content.ahead(batches(files, waiting, block_size=content.block_size), tree.compare):
                counted.add(batch.offset)
    finally:
        tree.close()
        os.close(root)


def _files(tree: "_Tree", entries: Iterable[TreeEntry], on_bytes: Callable[[int], None]) -> Iterator[TreeEntry]:
    """Those that have bytes; the others are looked at on the way."""
    for number, entry in enumerate(entries):
        if number % _BETWEEN_LOOKS == 0:
            on_bytes(0)
        tree.look_at(entry)
        if entry.extents:
            yield entry


class _Tree:
    """What is below a directory now."""

    def __init__(self, root: int, content: BackupContent) -> None:
        self._beneath = Beneath(root)
        self._content = content

    def close(self) -> None:
        """Give its handles back; the root stays open."""
        self._beneath.close()

    def look_at(self, entry: TreeEntry) -> None:
        """Everything about it but the bytes that the backup has."""
        if entry.path == ROOT_PATH:
            return
        found = self._stat(entry.path)
        if not _TYPES[entry.type](found.st_mode):
            raise RestoredDataDiffers(f"{shown_path(entry.path)} is not a {entry.type} after the restore")
        match entry.type:
            case EntryType.SYMLINK:
                self._check_target(entry)
            case EntryType.HARD_LINK:
                self._check_shared(entry, found)
            case EntryType.FILE:
                self._check_size(entry, found)
                self._check_holes(entry)

    def compare(self, batch: Pack | Part) -> None:
        """The bytes of these files, or of this part of one, with the block that holds them."""
        block = bytearray(self._content.block_size)
        pieces = list(_pieces(batch))
        for path, extents in pieces:
            self._read_into(block, path, extents, batch.offset)
        known = has_block(self._content.block_offsets, batch.offset)
        if known and self._content.is_block(batch.offset, bytes(block)):
            return
        wanted = self._content.fetch_block(batch.offset) if known else bytes(len(block))
        for path, extents in pieces:
            for image_offset, length, file_offset in extents:
                at = image_offset - batch.offset
                if block[at : at + length] != wanted[at : at + length]:
                    raise RestoredDataDiffers(f"{shown_path(path)} reads back differently from byte {file_offset} on")

    def _read_into(self, block: bytearray, path: str, extents: Iterable[Extent], begin: int) -> None:
        view = memoryview(block)
        with self._opened(path, _FILE) as handle:
            forget_cached(handle)
            for image_offset, length, file_offset in extents:
                at = image_offset - begin
                os.preadv(handle, [view[at : at + length]], file_offset)

    def _check_size(self, entry: TreeEntry, found: os.stat_result) -> None:
        if found.st_size != entry.size:
            raise RestoredDataDiffers(
                f"{shown_path(entry.path)} has {found.st_size} bytes after the restore; the backup has {entry.size}"
            )

    def _check_holes(self, entry: TreeEntry) -> None:
        """What no extent covers must read as zeros; nearly every file is covered whole, and is not opened for this."""
        gaps = list(_gaps(entry))
        if not gaps:
            return
        with self._opened(entry.path, _FILE) as handle:
            for offset, length in gaps:
                if not is_zero(handle, offset, length):
                    raise RestoredDataDiffers(f"{shown_path(entry.path)} holds something in its hole at byte {offset}")

    def _check_target(self, entry: TreeEntry) -> None:
        with self._opened(entry.parent, DIRECTORY) as parent:
            target = os.readlink(entry.name, dir_fd=parent)
        if target != entry.target:
            raise RestoredDataDiffers(f"{shown_path(entry.path)} leads to another place than in the backup")

    def _check_shared(self, entry: TreeEntry, found: os.stat_result) -> None:
        other = self._stat(entry.target)
        if (found.st_dev, found.st_ino) != (other.st_dev, other.st_ino):
            raise RestoredDataDiffers(
                f"{shown_path(entry.path)} is no longer the same file as {shown_path(entry.target)}"
            )

    def _stat(self, path: str) -> os.stat_result:
        directory, _, name = path.rpartition("/")
        with self._opened(directory or ROOT_PATH, DIRECTORY) as parent:
            try:
                return os.stat(name, dir_fd=parent, follow_symlinks=False)
            except OSError as error:
                raise unreadable(path, error) from error

    @contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int]:
        try:
            handle = self._beneath.open(path, flags)
            try:
                yield handle
            finally:
                os.close(handle)
        except OSError as error:
            raise unreadable(path, error) from error


def _pieces(batch: Pack | Part) -> Iterator[tuple[str, tuple[Extent, ...]]]:
    if isinstance(batch, Part):
        yield batch.file.entry.path, batch.extents
    else:
        yield from ((entry.path, entry.extents) for entry in batch.files)


def _gaps(entry: TreeEntry) -> Iterator[tuple[int, int]]:
    done = 0
    for _, length, file_offset in entry.extents:
        if file_offset > done:
            yield done, file_offset - done
        done = file_offset + length
    if entry.size > done:
        yield done, entry.size - done

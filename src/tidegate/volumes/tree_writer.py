"""Making the entries of a tree, one by one, below a directory that nobody else can enter yet."""

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial

from tidegate.errors import DamagedMetadata
from tidegate.format.packed_reader import ImageBytes
from tidegate.format.tree_entry import ROOT_PATH, EntryType, TreeEntry
from tidegate.volumes.beneath import DIRECTORY, open_beneath

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_WARNINGS = 1000


class TreeWriter:
    """Writes entries in the order of their manifest; `finish` gives the directories their rights and times.

    What the file system or our rights do not allow (owners, extended attributes) is left out with a warning.
    """

    def __init__(self, root: str, image: ImageBytes) -> None:
        self._root = os.open(root, DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._image = image
        self._parent = (ROOT_PATH, os.dup(self._root))
        self._directories: list[TreeEntry] = []
        self._gives_owners = os.geteuid() == 0
        self._owners_left_out = False
        self.warnings: list[str] = []

    def write(self, entry: TreeEntry) -> None:
        """Make the entry. It must not exist yet: a manifest that names a path twice is damaged."""
        if entry.path == ROOT_PATH:
            self._directories.append(entry)
            return
        try:
            self._make(entry, self._directory_of(entry))
        except FileExistsError as error:
            raise DamagedMetadata(
                f"{entry.path!r} comes twice in the tree",
                hint="or the destination's file system does not tell upper from lower case",
            ) from error

    def finish(self) -> None:
        """Children first: making something in a directory changes its time, and some may not be written to."""
        for entry in reversed(self._directories):
            with self._opened(entry.path) as handle:
                self._give(entry, handle)
        if self._owners_left_out:
            self._warn("the owners of the files were not restored: only root can")

    def close(self) -> None:
        """Give the handles back."""
        os.close(self._parent[1])
        os.close(self._root)

    def _make(self, entry: TreeEntry, parent: int) -> None:
        match entry.type:
            case EntryType.DIRECTORY:
                os.mkdir(entry.name, 0o700, dir_fd=parent)
                self._directories.append(entry)
            case EntryType.FILE:
                self._make_file(entry, parent)
            case EntryType.SYMLINK:
                os.symlink(entry.target, entry.name, dir_fd=parent)
                self._give_symlink(entry, parent)
            case EntryType.FIFO:
                os.mkfifo(entry.name, 0o600, dir_fd=parent)
                # Opened without waiting for a writer at its other end.
                with _closing(
                    os.open(entry.name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=parent)
                ) as handle:
                    self._give(entry, handle)
            case EntryType.HARD_LINK:
                directory, _, name = entry.target.rpartition("/")
                with self._opened(directory or ROOT_PATH) as other:
                    os.link(name, entry.name, src_dir_fd=other, dst_dir_fd=parent, follow_symlinks=False)

    def _make_file(self, entry: TreeEntry, parent: int) -> None:
        with _closing(os.open(entry.name, _NEW_FILE, 0o600, dir_fd=parent)) as handle:
            os.ftruncate(handle, entry.size)
            for extent in entry.extents:
                offset = extent.file_offset
                for length, content in self._image.pieces(extent.image_offset, extent.length):
                    if content is not None:
                        _write(handle, content, offset)
                    offset += length
            self._give(entry, handle)

    def _give(self, entry: TreeEntry, handle: int) -> None:
        """In this order: a new owner clears capabilities and set-uid bits, and any of it changes the time."""
        if self._gives_owners:
            self._try(entry, "owner", partial(os.fchown, handle, entry.uid, entry.gid))
        elif (entry.uid, entry.gid) != (os.geteuid(), os.getegid()):
            self._owners_left_out = True
        for name in entry.xattrs:
            self._try(entry, f"attribute {name}", partial(os.setxattr, handle, name, entry.xattrs[name]))
        self._try(entry, "mode", partial(os.fchmod, handle, entry.mode))
        self._try(entry, "time", lambda: os.utime(handle, ns=(entry.mtime_ns, entry.mtime_ns)))

    def _give_symlink(self, entry: TreeEntry, parent: int) -> None:
        times = (entry.mtime_ns, entry.mtime_ns)
        if self._gives_owners:
            owner = (entry.uid, entry.gid)
            self._try(entry, "owner", lambda: os.chown(entry.name, *owner, dir_fd=parent, follow_symlinks=False))
        self._try(entry, "time", lambda: os.utime(entry.name, ns=times, dir_fd=parent, follow_symlinks=False))

    def _try(self, entry: TreeEntry, what: str, action: Callable[[], None]) -> None:
        try:
            action()
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._warn(f"{entry.path}: its {what} could not be restored: {reason}")

    def _warn(self, sentence: str) -> None:
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(sentence)

    def _directory_of(self, entry: TreeEntry) -> int:
        """The handle of the entry's directory; kept, because the next entry most likely lies there too."""
        if self._parent[0] != entry.parent:
            handle = open_beneath(self._root, entry.parent, DIRECTORY)
            os.close(self._parent[1])
            self._parent = (entry.parent, handle)
        return self._parent[1]

    def _opened(self, path: str) -> contextlib.AbstractContextManager[int]:
        return _closing(open_beneath(self._root, path, DIRECTORY))


@contextlib.contextmanager
def _closing(handle: int) -> Iterator[int]:
    try:
        yield handle
    finally:
        os.close(handle)


def _write(handle: int, piece: memoryview, offset: int) -> None:
    while piece:
        written = os.pwrite(handle, piece, offset)
        piece, offset = piece[written:], offset + written

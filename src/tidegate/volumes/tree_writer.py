"""Making the entries of a tree below a directory that nobody else can enter yet."""

import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tidegate.disk.direct_writer import DirectWriter, write_at
from tidegate.errors import DamagedMetadata
from tidegate.format.tree_batches import Pack, Part, SplitFile
from tidegate.format.tree_entry import ROOT_PATH, EntryType, TreeEntry
from tidegate.volumes.beneath import DIRECTORY, open_beneath

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PERMISSIONS = 0o777
_MOST_WARNINGS = 1000
_MOST_DIRECTORIES = 64

Notes = tuple[Sequence[str], bool]


@dataclass
class _OpenFile:
    handle: int
    parts_left: int
    writer: DirectWriter

    def close(self) -> None:
        self.writer.close()
        os.close(self.handle)


class TreeWriter:
    """Makes directories before what lies in them; `finish` gives them their rights and times. For many threads.

    What the file system or our rights do not allow (owners, extended attributes) is left out with a warning.
    """

    def __init__(self, root: str, *, block_size: int) -> None:
        self._root = os.open(root, DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._block_size = block_size
        self._born = _newborn(self._root)
        self._born_owner = (self._born.st_uid, self._born.st_gid)
        self._directories: OrderedDict[str, int] = OrderedDict()
        self._split: dict[SplitFile, _OpenFile] = {}
        # Small files are made by one thread at a time: two would only wait for the interpreter and the directory.
        self._making = threading.Lock()
        self._gives_owners = os.geteuid() == 0
        self._our_owner = (os.geteuid(), os.getegid())
        self._owners_left_out = False
        self.warnings: list[str] = []

    def make(self, entry: TreeEntry) -> None:
        """Make what has no bytes in the image. It must not exist yet: a manifest that names a path twice is damaged."""
        if entry.path == ROOT_PATH:
            return
        with self._making:
            try:
                self._make(entry, self._directory(entry.parent))
            except FileExistsError as error:
                raise _twice(entry) from error

    def write_pack(self, pack: Pack, block: bytes | memoryview | None) -> None:
        """Make files whose bytes are all in `block`; without a block they are zeros."""
        view = None if block is None else memoryview(block)
        with self._making:
            for entry in pack.files:
                self._make_file(entry, view, pack.offset)

    def write_part(self, part: Part, block: bytes | None) -> None:
        """Write what `block` has of a file; the first part makes the file, the last one gives it rights and time."""
        with self._making:
            file = self._split.get(part.file) or self._begin(part.file)
        if block is not None:
            view = memoryview(block)
            for image_offset, length, file_offset in part.extents:
                at = image_offset - part.offset
                file.writer.write_at(view[at : at + length], file_offset)
        with self._making:
            file.parts_left -= 1
            if file.parts_left == 0:
                self._give_new(part.file.entry, file.handle)
                self._split.pop(part.file).close()

    def finish(self, directories: Iterable[TreeEntry]) -> None:
        """Children come first: making something in a directory changes its time, and some may not be written to."""
        for entry in directories:
            with _closing(open_beneath(self._root, entry.path, DIRECTORY)) as handle:
                self._give(entry, handle)
        if self._owners_left_out:
            self._warn("the owners of the files were not restored: only root can")

    @property
    def notes(self) -> Notes:
        """What there is to tell so far: warnings, and whether owners were left out."""
        return self.warnings, self._owners_left_out

    def take_over(self, notes: Notes) -> None:
        """Tell also what another writer of the same tree would tell."""
        warnings, owners_left_out = notes
        for sentence in warnings:
            self._warn(sentence)
        self._owners_left_out |= owners_left_out

    def close(self) -> None:
        """Give the handles back."""
        for file in self._split.values():
            file.close()
        for handle in self._directories.values():
            os.close(handle)
        os.close(self._root)

    def _make(self, entry: TreeEntry, parent: int) -> None:
        match entry.type:
            case EntryType.DIRECTORY:
                os.mkdir(entry.name, 0o700, dir_fd=parent)
            case EntryType.FILE:
                self._make_file(entry, None, 0)
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
                with _closing(open_beneath(self._root, directory or ROOT_PATH, DIRECTORY)) as other:
                    os.link(name, entry.name, src_dir_fd=other, dst_dir_fd=parent, follow_symlinks=False)

    def _make_file(self, entry: TreeEntry, view: memoryview | None, begin: int) -> None:
        handle = self._create(entry)
        try:
            extents = entry.extents
            if view is not None:
                for image_offset, length, file_offset in extents:
                    at = image_offset - begin
                    write_at(handle, view[at : at + length], file_offset)
            # A hole at the end is made; others are where nothing is written.
            if view is None or extents[-1].file_offset + extents[-1].length != entry.size:
                os.ftruncate(handle, entry.size)
            self._give_new(entry, handle)
        finally:
            os.close(handle)

    def _begin(self, file: SplitFile) -> _OpenFile:
        handle = self._create(file.entry)
        begun = self._split[file] = _OpenFile(handle, file.parts, DirectWriter(handle))
        os.ftruncate(handle, file.entry.size)
        return begun

    def _create(self, entry: TreeEntry) -> int:
        directory, _, name = entry.path.rpartition("/")
        # Its own mode at once saves a call; but whoever is not root must be able to write attributes.
        mode = 0o600 if entry.xattrs else entry.mode & _PERMISSIONS
        try:
            return os.open(name, _NEW_FILE, mode, dir_fd=self._directory(directory or ROOT_PATH))
        except FileExistsError as error:
            raise _twice(entry) from error

    def _give_new(self, entry: TreeEntry, handle: int) -> None:
        """What `_give` does, but only where a file is not born as it should be: seldom, among a million files."""
        if (entry.uid, entry.gid) != self._born_owner or entry.xattrs:
            self._give(entry, handle)
            return
        if entry.mode != entry.mode & _PERMISSIONS & self._born.st_mode:
            self._try(entry, "mode", partial(os.fchmod, handle, entry.mode))
        try:
            os.utime(handle, ns=(entry.mtime_ns, entry.mtime_ns))
        except (OSError, OverflowError) as error:
            self._warn_left_out(entry, "time", error)

    def _give(self, entry: TreeEntry, handle: int) -> None:
        """In this order: a new owner clears capabilities and set-uid bits, and any of it changes the time."""
        if self._gives_owners:
            self._try(entry, "owner", partial(os.fchown, handle, entry.uid, entry.gid))
        elif (entry.uid, entry.gid) != self._our_owner:
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
            self._warn_left_out(entry, what, error)

    def _warn_left_out(self, entry: TreeEntry, what: str, error: OSError | OverflowError) -> None:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        self._warn(f"{entry.path}: its {what} could not be restored: {reason}")

    def _warn(self, sentence: str) -> None:
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(sentence)

    def _directory(self, path: str) -> int:
        """A handle of the directory; some are kept, because the next entries most likely lie there too."""
        handle = self._directories.get(path)
        if handle is None:
            handle = self._directories[path] = open_beneath(self._root, path, DIRECTORY)
            if len(self._directories) > _MOST_DIRECTORIES:
                os.close(self._directories.popitem(last=False)[1])
        return handle


def _newborn(directory: int) -> os.stat_result:
    """What a new file gets by itself: its owner (the directory may give its group) and the permissions it may have."""
    name = ".newborn"
    with _closing(os.open(name, _NEW_FILE, _PERMISSIONS, dir_fd=directory)) as handle:
        os.unlink(name, dir_fd=directory)
        return os.fstat(handle)


def _twice(entry: TreeEntry) -> DamagedMetadata:
    return DamagedMetadata(
        f"{entry.path!r} comes twice in the tree",
        hint="or the destination's file system does not tell upper from lower case",
    )


@contextlib.contextmanager
def _closing(handle: int) -> Iterator[int]:
    try:
        yield handle
    finally:
        os.close(handle)

"""One walk over a file tree: what there is, in an order that is the same every time."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tidegate.disk.capabilities import sees_trusted_attributes
from tidegate.errors import SourceUnreadable
from tidegate.format.trees.entry import LONGEST_PATH, MOST_EXTENTS, ROOT_PATH, EntryType, TreeEntry
from tidegate.format.trees.globs import TreeGlobs
from tidegate.format.trees.shown_path import shown_path
from tidegate.volumes.images.holes import coalesced, data_ranges
from tidegate.volumes.trees.attributes import xattrs_in
from tidegate.volumes.trees.beneath import DIRECTORY, Beneath
from tidegate.volumes.trees.file_identity import identity_of
from tidegate.volumes.trees.known_tree import KnownFile, KnownTree, nothing_known

_READ = os.O_RDONLY | os.O_NONBLOCK
_SECTOR = 512
_KINDS = {
    stat.S_IFREG: EntryType.FILE,
    stat.S_IFDIR: EntryType.DIRECTORY,
    stat.S_IFLNK: EntryType.SYMLINK,
    stat.S_IFIFO: EntryType.FIFO,
}


@dataclass(frozen=True, slots=True)
class Scanned:
    """An entry that has no place in the image yet, and where its file holds data: (offset, length)."""

    entry: TreeEntry
    data: tuple[tuple[int, int], ...] = ()


class TreeScan:
    """Walks the tree once: a directory's entries sorted by name, then each of its directories in turn.

    No file is read, so whether it may be is seen later. What cannot be looked at is left out with a warning that names
    it; so are sockets and devices. `still_wanted` is called at every entry and may raise to end the walk.
    """

    def __init__(
        self,
        root: int,
        *,
        excludes: TreeGlobs | None = None,
        warn: Callable[[str], None],
        still_wanted: Callable[[], None],
    ) -> None:
        self._root = root
        self._beneath = Beneath(root)
        self._excludes = excludes
        self._known = nothing_known()
        self._warn = warn
        self._still_wanted = still_wanted
        self._links = _Links()
        self._is_blind = not sees_trusted_attributes()
        self.lost_attributes = self._is_blind
        """Whether files may have attributes that could not be read."""
        self.unreadable: list[str] = []
        """Paths of files and directories that are there but could not be looked at."""

    def walk(self, known: KnownTree) -> Iterator[Scanned | KnownFile]:
        """The root first, parents before children. A file that is known, and unchanged, is told as such."""
        self._known = known
        if self._is_blind:
            self._warn("without CAP_SYS_ADMIN no trusted.* attribute is seen: if files have any, they were left out")
        root = os.fstat(self._root)
        yield Scanned(_entry(ROOT_PATH, EntryType.DIRECTORY, root, self._xattrs(self._root, ".", ROOT_PATH)))
        waiting = [ROOT_PATH]
        while waiting:
            path = waiting.pop()
            below: list[str] = []
            for found in self._level(path):
                if isinstance(found, Scanned) and found.entry.type is EntryType.DIRECTORY:
                    below.append(found.entry.path)
                yield found
            waiting.extend(reversed(below))

    def look_again(self, path: str) -> Scanned | None:
        """A regular file as it is now; None if it is none any more. Raises OSError."""
        parent, _, name = path.rpartition("/")
        directory = self._beneath.open(parent or ROOT_PATH, DIRECTORY)
        try:
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
            return self._file(directory, name, path, found) if stat.S_ISREG(found.st_mode) else None
        finally:
            os.close(directory)

    def close(self) -> None:
        """Give its handles back; the root stays open."""
        self._beneath.close()

    def _level(self, path: str) -> Iterator[Scanned | KnownFile]:
        try:
            directory = self._beneath.open(path, DIRECTORY)
        except FileNotFoundError:
            self._vanished(path)
            return
        except OSError as error:
            self._leave_out(path, f"the directory could not be read, what is in it was left out: {error.strerror}")
            return
        self._known.enter(path)
        before = "" if path == ROOT_PATH else f"{path}/"
        try:
            for name in sorted({*os.listdir(directory)}):  # a broken file system may tell a name twice
                self._still_wanted()
                try:
                    found = self._look(directory, name, before + name)
                except FileNotFoundError:
                    self._vanished(before + name)
                except OSError as error:
                    self._leave_out(before + name, f"could not be read and was left out: {error.strerror}")
                else:
                    if found is not None:
                        yield found
        except OSError as error:
            # An unreadable half of a directory must not look like a small directory.
            raise SourceUnreadable(f"{shown_path(path)} cannot be listed: {error.strerror}") from error
        finally:
            os.close(directory)

    def _look(self, directory: int, name: str, path: str) -> Scanned | KnownFile | None:
        if self._excludes is not None and self._excludes.match(path):
            return None
        if len(path) > LONGEST_PATH:
            self._leave_out(path, f"its path is longer than {LONGEST_PATH} characters, so it was left out")
            return None
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if stat.S_IFMT(found.st_mode) not in _KINDS:
            self._warn(f"{shown_path(path)}: sockets and devices are not backed up")
            return None
        return self._look_at(directory, name, path, found)

    def _look_at(self, directory: int, name: str, path: str, found: os.stat_result) -> Scanned | KnownFile:
        kind = _KINDS[stat.S_IFMT(found.st_mode)]
        if kind is EntryType.DIRECTORY:
            return Scanned(_entry(path, kind, found, self._xattrs(directory, name, path)))
        if found.st_nlink > 1 and (first := self._links.first_path(found, path)) != path:
            return Scanned(_entry(path, EntryType.HARD_LINK, found, {}, first))
        try:
            if kind is EntryType.FILE:
                return self._look_at_file(directory, name, path, found)
            target = _target(directory, name) if kind is EntryType.SYMLINK else ""
            return Scanned(_entry(path, kind, found, self._xattrs(directory, name, path), target))
        except OSError:
            self._links.forget(found)  # or its other names would be links to something that the backup does not have
            raise

    def _look_at_file(self, directory: int, name: str, path: str, found: os.stat_result) -> Scanned | KnownFile:
        known = self._known.find(name)
        same = known if known is not None and known.identity == identity_of(found) else None
        # Its times tell of every change of an attribute, but not of those that the last backup could not read.
        if same is not None and (self._is_blind or not self._known.lacks_attributes):
            return same
        scanned = self._file(directory, name, path, found)
        return same if same is not None and same.xattrs == scanned.entry.xattrs else scanned

    def _file(self, directory: int, name: str, path: str, found: os.stat_result) -> Scanned:
        entry = TreeEntry(
            path=path,
            type=EntryType.FILE,
            mode=stat.S_IMODE(found.st_mode),
            uid=found.st_uid,
            gid=found.st_gid,
            mtime_ns=found.st_mtime_ns,
            ctime_ns=found.st_ctime_ns,
            inode=found.st_ino,
            size=found.st_size,
            xattrs=self._xattrs(directory, name, path),
        )
        return Scanned(entry, _data(directory, name, found))

    def _xattrs(self, directory: int, name: str, path: str) -> dict[str, bytes]:
        def lost(what: str) -> None:
            self.lost_attributes = True
            self._warn(f"{shown_path(path)}: {what}")

        return xattrs_in(directory, name, lost)

    def _vanished(self, path: str) -> None:
        self._warn(f"{shown_path(path)}: vanished while the tree was read")

    def _leave_out(self, path: str, why: str) -> None:
        self.unreadable.append(shown_path(path))
        self._warn(f"{shown_path(path)}: {why}")


class _Links:
    """The first path of each file that has several; forgotten when all of them were seen."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, int], tuple[str, int]] = {}

    def first_path(self, found: os.stat_result, path: str) -> str:
        key = found.st_dev, found.st_ino
        first, left = self._open.pop(key, (path, found.st_nlink))
        if left > 1:
            self._open[key] = (first, left - 1)
        return first

    def forget(self, found: os.stat_result) -> None:
        """Let the next path that the file has be its first."""
        self._open.pop((found.st_dev, found.st_ino), None)


def _target(directory: int, name: str) -> str:
    target = os.readlink(name, dir_fd=directory)
    if not target:
        raise OSError(errno.ENODATA, "the symbolic link leads nowhere")
    return target


def _data(directory: int, name: str, found: os.stat_result) -> tuple[tuple[int, int], ...]:
    if found.st_size == 0:
        return ()
    if found.st_blocks * _SECTOR >= found.st_size:
        return ((0, found.st_size),)
    handle = os.open(name, _READ | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        return tuple(coalesced(list(data_ranges(handle, found.st_size)), most=MOST_EXTENTS))
    finally:
        os.close(handle)


def _entry(path: str, kind: EntryType, found: os.stat_result, xattrs: dict[str, bytes], target: str = "") -> TreeEntry:
    return TreeEntry(
        path=path,
        type=kind,
        mode=stat.S_IMODE(found.st_mode),
        uid=found.st_uid,
        gid=found.st_gid,
        mtime_ns=found.st_mtime_ns,
        target=target,
        xattrs=xattrs,
    )

"""One walk over a file tree: what there is, in an order that is the same every time."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tidegate.errors import SourceUnreadable
from tidegate.format.tree_entry import MOST_EXTENTS, ROOT_PATH, EntryType, TreeEntry
from tidegate.volumes.beneath import DIRECTORY, open_beneath
from tidegate.volumes.holes import coalesced, data_ranges

_READ = os.O_RDONLY | os.O_NONBLOCK
_SECTOR = 512


@dataclass(frozen=True)
class Scanned:
    """An entry that has no place in the image yet, and where its file holds data: (offset, length)."""

    entry: TreeEntry
    data: tuple[tuple[int, int], ...] = ()
    inode: int = 0


class TreeScan:
    """Walks the tree once: a directory's entries sorted by name, then each of its directories in turn.

    What may not be read is left out with a warning that names it. Sockets and devices are left out too.
    `still_wanted` is called at every entry and may raise to end the walk.
    """

    def __init__(self, root: int, *, warn: Callable[[str], None], still_wanted: Callable[[], None]) -> None:
        self._root = root
        self._warn = warn
        self._still_wanted = still_wanted
        self._linked: dict[tuple[int, int], str] = {}

    def __iter__(self) -> Iterator[Scanned]:
        """The root first, parents before children."""
        yield Scanned(_entry(ROOT_PATH, EntryType.DIRECTORY, os.fstat(self._root), xattrs=_xattrs(self._root)))
        waiting = [ROOT_PATH]
        while waiting:
            path = waiting.pop()
            below: list[str] = []
            for scanned in self._level(path):
                if scanned.entry.type is EntryType.DIRECTORY:
                    below.append(scanned.entry.path)
                yield scanned
            waiting.extend(reversed(below))

    def _level(self, path: str) -> Iterator[Scanned]:
        try:
            directory = open_beneath(self._root, path, DIRECTORY)
        except OSError as error:
            self._warn(f"{path}: the directory could not be read, what is in it was left out: {error.strerror}")
            return
        try:
            for name in sorted(os.listdir(directory)):
                self._still_wanted()
                inner = name if path == ROOT_PATH else f"{path}/{name}"
                try:
                    scanned = self._look(directory, name, inner)
                except FileNotFoundError:
                    self._warn(f"{inner}: vanished while the tree was read")
                except OSError as error:
                    self._warn(f"{inner}: could not be read and was left out: {error.strerror}")
                else:
                    if scanned is not None:
                        yield scanned
        except OSError as error:
            # An unreadable half of a directory must not look like a small directory.
            raise SourceUnreadable(f"{path} cannot be listed: {error.strerror}") from error
        finally:
            os.close(directory)

    def _look(self, directory: int, name: str, path: str) -> Scanned | None:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        kind = stat.S_IFMT(found.st_mode)
        if kind == stat.S_IFDIR:
            handle = os.open(name, DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
            try:
                return Scanned(_entry(path, EntryType.DIRECTORY, os.fstat(handle), xattrs=_xattrs(handle)))
            finally:
                os.close(handle)
        if kind == stat.S_IFLNK:
            entry = _entry(path, EntryType.SYMLINK, found)
            return Scanned(replace(entry, target=os.readlink(name, dir_fd=directory)))
        if kind == stat.S_IFIFO:
            return Scanned(_entry(path, EntryType.FIFO, found))
        if kind != stat.S_IFREG:
            self._warn(f"{path}: sockets and devices are not backed up")
            return None
        return self._file(directory, name, path)

    def _file(self, directory: int, name: str, path: str) -> Scanned | None:
        handle = os.open(name, _READ | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise FileNotFoundError(path)
            if found.st_nlink > 1:
                first = self._linked.setdefault((found.st_dev, found.st_ino), path)
                if first != path:
                    return Scanned(replace(_entry(path, EntryType.HARD_LINK, found), target=first))
            entry = replace(_entry(path, EntryType.FILE, found, xattrs=_xattrs(handle)), size=found.st_size)
            return Scanned(entry, _data(handle, found), found.st_ino)
        finally:
            os.close(handle)


def _data(handle: int, found: os.stat_result) -> tuple[tuple[int, int], ...]:
    if found.st_size == 0:
        return ()
    if found.st_blocks * _SECTOR >= found.st_size:
        return ((0, found.st_size),)
    return tuple(coalesced(list(data_ranges(handle, found.st_size)), most=MOST_EXTENTS))


def _entry(path: str, kind: EntryType, found: os.stat_result, *, xattrs: dict[str, bytes] | None = None) -> TreeEntry:
    return TreeEntry(
        path=path,
        type=kind,
        mode=stat.S_IMODE(found.st_mode),
        uid=found.st_uid,
        gid=found.st_gid,
        mtime_ns=found.st_mtime_ns,
        xattrs=xattrs or {},
    )


def _xattrs(handle: int) -> dict[str, bytes]:
    """The attributes that we may see; a file system without them has none."""
    try:
        return {name: os.getxattr(handle, name) for name in os.listxattr(handle)}
    except OSError:
        return {}

"""Files that were not what they should be when their bytes were read."""

import errno
import threading
from collections.abc import Mapping, Sequence

from tidegate.errors import SourceUnreadable
from tidegate.format.trees.shown_path import shown_path

# The file, or the way to it, is not what it was. Anything else (too many open files) is not about this file.
_ABOUT_THE_FILE = frozenset(
    {
        errno.ENOENT,
        errno.ENOTDIR,
        errno.ELOOP,
        errno.EACCES,
        errno.EPERM,
        errno.EIO,
        errno.ESTALE,
        errno.ENXIO,
        errno.EISDIR,
        # A damaged file system, and a file that is encrypted with a key that is not there.
        errno.EUCLEAN,
        errno.EBADMSG,
        errno.ENOKEY,
        errno.EKEYREJECTED,
    }
)
_VANISHED = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ESTALE, errno.ENXIO, errno.EISDIR})
# A tree in which more files change is not at rest; reading them all again would not help.
_MOST_CHANGED = 10_000


class FileWatch:
    """Files that changed after the walk saw them, and files that could not be read. For many threads.

    A file is known by where its line begins in the spool, and told by its path.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed: dict[int, str] = {}
        self._changed_in_all = 0
        self._lost: dict[int, str] = {}
        self._unreadable: dict[int, str] = {}

    def changed(self, line: int, path: str) -> None:
        """The file is not the one that the walk saw, or has fewer bytes; its bytes may be old and new ones mixed."""
        with self._lock:
            if line not in self._changed and line not in self._lost:
                self._changed_in_all += 1
                if len(self._changed) < _MOST_CHANGED:
                    self._changed[line] = path

    def lost(self, line: int, path: str, error: OSError) -> None:
        """The file cannot be read; raises SourceUnreadable if that is not about the file."""
        if error.errno not in _ABOUT_THE_FILE:
            raise SourceUnreadable(f"{shown_path(path)} cannot be read: {error.strerror}") from error
        gone = error.errno in _VANISHED
        what = "vanished while the tree was read" if gone else f"could not be read and was left out: {error.strerror}"
        with self._lock:
            if self._changed.pop(line, None) is not None:
                self._changed_in_all -= 1
            self._lost.setdefault(line, f"{shown_path(path)}: {what}")
            if not gone:
                self._unreadable[line] = shown_path(path)

    def take_changed(self) -> Mapping[int, str]:
        """The files that changed, line and path, to be read once more; from here on they count as unchanged."""
        with self._lock:
            taken, self._changed = self._changed, {}
            self._changed_in_all -= len(taken)
            return taken

    @property
    def unreadable(self) -> Sequence[str]:
        """Paths of files that are there but could not be read, sorted."""
        with self._lock:
            return sorted(self._unreadable.values())

    def is_lost(self, line: int) -> bool:
        """Whether the file could not be read."""
        return line in self._lost

    def changed_paths(self) -> Sequence[str]:
        """Paths of the files that changed and were not taken, sorted."""
        with self._lock:
            return sorted(self._changed.values())

    def warnings(self) -> Sequence[str]:
        """A sentence for each file."""
        with self._lock:
            told = sorted(
                [*self._lost.values()]
                + [
                    f"{shown_path(path)}: changed while it was read; the backup may mix old and new content"
                    for path in self._changed.values()
                ]
            )
            more = self._changed_in_all - len(self._changed)
            return [*told, f"and {more} more files that changed"] if more else told

"""Which files changed between the walk over their tree and the reading of their bytes."""

import errno
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from tidegate.errors import SourceUnreadable

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
    }
)
_MOST = 1000


@dataclass(frozen=True)
class FileState:
    """A file as the walk saw it."""

    path: str
    inode: int
    size: int
    mtime_ns: int


class FileWatch:
    """Remembers each file that was not what it should be, with the worst that was seen. For many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[str, str] = {}
        self._left_out = 0

    def compare(self, file: FileState, now: os.stat_result) -> None:
        """Look whether the file is still the one that the walk saw."""
        if (now.st_ino, now.st_size, now.st_mtime_ns) != (file.inode, file.size, file.mtime_ns):
            self._note(file, "changed while it was read; the backup may mix old and new content", worse=False)

    def shrank(self, file: FileState) -> None:
        """Bytes that the walk promised are not there."""
        self._note(file, "became shorter while it was read; the backup has zeros instead", worse=False)

    def lost(self, file: FileState, error: OSError) -> None:
        """The file cannot be read any more; raises SourceUnreadable if that is not about the file."""
        if error.errno not in _ABOUT_THE_FILE:
            raise SourceUnreadable(f"{file.path} cannot be read: {error.strerror}") from error
        self._note(file, f"could not be read any more ({error.strerror}); the backup has zeros instead", worse=True)

    def changed(self) -> Sequence[str]:
        """Paths of the files, sorted."""
        with self._lock:
            return sorted(self._found)

    def warnings(self) -> Sequence[str]:
        """A sentence for each file."""
        with self._lock:
            sentences = [f"{path}: {self._found[path]}" for path in sorted(self._found)]
            return [*sentences, f"and {self._left_out} more files that changed"] if self._left_out else sentences

    def _note(self, file: FileState, sentence: str, *, worse: bool) -> None:
        with self._lock:
            if file.path not in self._found and len(self._found) >= _MOST:
                self._left_out += 1
            elif worse or file.path not in self._found:
                self._found[file.path] = sentence

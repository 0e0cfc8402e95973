"""Reading the bytes of files that a walk has seen, from many threads, and noticing when they are not the same."""

import json
import os
import threading

from tidegate.format.trees.entry import ROOT_PATH
from tidegate.volumes.trees.beneath import DIRECTORY, Beneath
from tidegate.volumes.trees.file_identity import identity_of
from tidegate.volumes.trees.file_runs import Run
from tidegate.volumes.trees.file_watch import FileWatch
from tidegate.volumes.trees.spool import TreeSpool

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class FileReader:
    """Opens a file for each run and closes it again. Each thread keeps the directory that it read from last open."""

    def __init__(self, root: int, spool: TreeSpool, watch: FileWatch) -> None:
        self._beneath = Beneath(root)
        self._spool = spool
        self._watch = watch
        self._here = threading.local()
        self._lock = threading.Lock()
        self._directories: set[int] = set()

    def read(self, run: Run, begin: int, length: int) -> bytes:
        """So many bytes of the file from `begin` on; zeros for what is not there, and then the watch knows."""
        line = json.loads(str(self._spool.line(run.line), "ascii"))
        path = line["path"]
        try:
            parent, _, name = path.rpartition("/")
            handle = os.open(name, _READ, dir_fd=self._directory(parent))
            try:
                content = _read_all(handle, begin, length)
                found = os.fstat(handle)
            finally:
                os.close(handle)
        except OSError as error:
            self._watch.lost(run.line, path, error)
            return bytes(length)
        expected = (line["size"], line["mtime_ns"], line["ctime_ns"], line["inode"])
        if len(content) < length or identity_of(found) != expected:
            self._watch.changed(run.line, path)
        return content.ljust(length, b"\0")

    def close(self) -> None:
        """Give the handles back; nobody reads any more."""
        for handle in self._directories:
            os.close(handle)
        self._directories.clear()
        self._beneath.close()

    def _directory(self, path: str) -> int:
        """Neighbours lie in the same directory: the way to it is gone only once."""
        if getattr(self._here, "path", None) == path:
            handle: int = self._here.handle
            return handle
        handle = self._beneath.open(path or ROOT_PATH, DIRECTORY)
        with self._lock:
            self._directories.add(handle)
            before = getattr(self._here, "handle", None)
            if before is not None:
                self._directories.remove(before)
                os.close(before)
        self._here.path, self._here.handle = path, handle
        return handle


def _read_all(handle: int, offset: int, length: int) -> bytes:
    """These bytes, or as many as there are."""
    content = os.pread(handle, length, offset)
    while len(content) < length:
        piece = os.pread(handle, length - len(content), offset + len(content))
        if not piece:
            break
        content += piece
    return content

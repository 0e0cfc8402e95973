"""A fair lock between the processes that write to one database: those that write much, and those that write a row."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class WriterLock:
    """Held by one process at a time, until it lets go or ends.

    A database gives its lock to the process that happens to ask in the right moment, so one that writes all the time
    would keep the others out. Therefore each takes this lock first. A process that writes much lets go once its
    transaction has begun, and must queue for the next one; a process with a row to write keeps it until it is written.
    """

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for the lock, and keep it inside."""
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go for good. Closing twice is harmless: by then the number may be another file's."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

"""A gate between processes that write to the same file, for those who write much and those who write a word."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Turnstile:
    """Held by one at a time, until it is let go or its process ends.

    A database gives its lock to whoever happens to ask in the right moment: who writes all the time would keep all
    others out. So each asks here first. Who writes much lets go once it has begun, and must come back for the next
    turn; who has but a word to write stays in until it is written.
    """

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Waits for its turn."""
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def close(self) -> None:
        """For when nothing more is written. Closing twice is harmless: by then the number may be another file's."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

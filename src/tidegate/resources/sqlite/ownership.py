"""One process per database: two would not hear of each other's changes."""

import fcntl
import os
from pathlib import Path

from tidegate.errors import AlreadyRunning, UserError


class Ownership:
    """A lock file beside the database. The kernel lets go of it when the process dies, however it dies.

    Not on the database itself: closing any handle of it would drop the locks that SQLite has there.
    """

    def __init__(self, path: Path) -> None:
        self._lock_path = path.with_name(f"{path.name}.lock")
        try:
            self._handle = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UserError(f"{self._lock_path} cannot be opened for writing: {error.strerror}") from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._handle)
            raise AlreadyRunning(
                f"another server works on {path}", hint="Stop it, or give this one another data directory."
            ) from error

    def release(self) -> None:
        """Let another process have it. The file stays: removing it would race with whoever waits for it."""
        os.close(self._handle)

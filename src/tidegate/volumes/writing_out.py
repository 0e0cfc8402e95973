"""Letting the disk begin while there is still more to write.

What is restored must be durable before it is swapped in. If the disk began only then, it would have to make room for a
hundred thousand files at once while everybody else waits: a fifth of the time of a restore.
"""

import os
import threading
from collections.abc import Callable

from tidegate.disk.file_system import sync_file_system

_SECONDS_BETWEEN = 0.5


class WritingOut:
    """While it is open, what is written to the file system of `place` is synced every now and then, by a thread.

    It promises no durability: whoever needs that syncs at the end. But a sync that failed is raised when it is left,
    because the system tells of a lost write only once. After another error nobody waits for the disk.
    """

    def __init__(
        self,
        place: str,
        *,
        seconds_between: float = _SECONDS_BETWEEN,
        sync: Callable[[int], None] = sync_file_system,
    ) -> None:
        self._place = place
        self._seconds_between = seconds_between
        self._sync = sync
        self._over = threading.Event()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="writing out", daemon=True)

    def __enter__(self) -> "WritingOut":
        self._handle = os.open(self._place, os.O_RDONLY | os.O_CLOEXEC)
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._over.set()
        if kind is not None:
            return
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            while not self._over.wait(self._seconds_between):
                self._sync(self._handle)
        except OSError as error:
            self._error = error
        finally:
            os.close(self._handle)

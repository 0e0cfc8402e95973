"""One thread at a time per key."""

import contextlib
import threading
from collections.abc import Iterator


class KeyLocks:
    """Holds nothing for keys that nobody works on."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: set[str] = set()

    @contextlib.contextmanager
    def hold(self, key: str) -> Iterator[None]:
        """Wait until nobody else holds `key`, then hold it inside the `with`."""
        with self._changed:
            self._changed.wait_for(lambda: key not in self._held)
            self._held.add(key)
        try:
            yield
        finally:
            with self._changed:
                self._held.discard(key)
                self._changed.notify_all()

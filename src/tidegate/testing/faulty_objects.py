"""A store that fails when told to: one call at a time, or for ever after so many writes."""

import threading
from collections import defaultdict, deque
from collections.abc import Iterator

from tidegate.ports.object_store import Listing, ObjectInfo, ObjectStore


class ProcessDied(Exception):
    """Stands for a kill: from here on nothing reaches the store any more, no clean-up either."""


class FaultyObjects:
    """Passes everything on to a real store, except for what a test asked to fail."""

    def __init__(self, inner: ObjectStore, *, dies_after_writes: int | None = None) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self._faults: defaultdict[str, deque[Exception]] = defaultdict(deque)
        self._writes_left = dies_after_writes
        self.calls: list[tuple[str, str]] = []

    def fail(self, method: str, error: Exception, *, times: int = 1) -> None:
        """Let the next calls of `method` raise `error` instead of doing anything."""
        self._faults[method].extend([error] * times)

    @property
    def requests_in_flight(self) -> int:
        """See ObjectStore."""
        return self._inner.requests_in_flight

    @property
    def lists_at_once(self) -> bool:
        """See ObjectStore."""
        return self._inner.lists_at_once

    def get(self, key: str, *, at_most: int) -> bytes:
        """See ObjectStore."""
        self._enter("get", key)
        return self._inner.get(key, at_most=at_most)

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """See ObjectStore."""
        self._enter("put", key, writes=True)
        self._inner.put(key, body, lazily=lazily)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore."""
        self._enter("put_if_absent", key, writes=True)
        return self._inner.put_if_absent(key, body, lazily=lazily)

    def flush(self) -> None:
        """See ObjectStore."""
        self._enter("flush", "")
        self._inner.flush()

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore."""
        self._enter("head", key)
        return self._inner.head(key)

    def list_level(self, prefix: str) -> Listing:
        """See ObjectStore."""
        self._enter("list_level", prefix)
        return self._inner.list_level(prefix)

    def list_all(self, prefix: str) -> Iterator[ObjectInfo]:
        """See ObjectStore."""
        self._enter("list_all", prefix)
        yield from self._inner.list_all(prefix)

    def delete(self, key: str) -> None:
        """See ObjectStore."""
        self._enter("delete", key, writes=True)
        self._inner.delete(key)

    def _enter(self, method: str, key: str, *, writes: bool = False) -> None:
        with self._lock:
            if self._writes_left is not None:
                if self._writes_left == 0:
                    raise ProcessDied(f"died before {method} {key}")
                self._writes_left -= writes
            self.calls.append((method, key))
            if self._faults[method]:
                raise self._faults[method].popleft()

"""A store that lasts as long as the process: for tests and for trying things out."""

import threading
from collections.abc import Iterator

from tidegate.errors import DamagedMetadata, NotFound
from tidegate.ports.clock import Clock
from tidegate.ports.object_store import Listing, ObjectInfo


class MemoryObjects:
    """Keeps the ObjectStore's promise but for outliving the process. Its own clock is the one that it is given."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._objects: dict[str, tuple[bytes, ObjectInfo]] = {}

    @property
    def requests_in_flight(self) -> int:
        """See ObjectStore."""
        return 2

    @property
    def lists_at_once(self) -> bool:
        """See ObjectStore."""
        return True

    def get(self, key: str, *, at_most: int) -> bytes:
        """See ObjectStore."""
        body, info = self._find(key)
        if info.size > at_most:
            raise DamagedMetadata(f"{key} has {info.size} bytes; at most {at_most} were expected")
        return body

    def get_part(self, key: str, *, start: int, length: int) -> tuple[bytes, ObjectInfo]:
        """At most `length` bytes from `start`, and what there is to know of the object they are from."""
        body, info = self._find(key)
        return body[start : start + length], info

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:  # noqa: ARG002  nothing here outlives us
        """See ObjectStore."""
        with self._lock:
            self._store(key, body)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:  # noqa: ARG002  the same
        """See ObjectStore."""
        with self._lock:
            if key in self._objects:
                return False
            self._store(key, body)
            return True

    def flush(self) -> None:
        """See ObjectStore."""

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore."""
        return self._find(key)[1]

    def list_level(self, prefix: str) -> Listing:
        """See ObjectStore."""
        start = f"{prefix}/" if prefix else ""
        objects, prefixes = [], set()
        for info in self.list_all(prefix):
            name, deeper, _ = info.key.removeprefix(start).partition("/")
            if deeper:
                prefixes.add(start + name)
            else:
                objects.append(info)
        return Listing(tuple(sorted(objects, key=lambda info: info.key)), tuple(sorted(prefixes)))

    def list_all(self, prefix: str) -> Iterator[ObjectInfo]:
        """See ObjectStore."""
        start = f"{prefix}/" if prefix else ""
        with self._lock:
            found = [info for key, (_, info) in self._objects.items() if key.startswith(start)]
        yield from found

    def delete(self, key: str) -> None:
        """See ObjectStore."""
        with self._lock:
            self._objects.pop(key, None)

    def _find(self, key: str) -> tuple[bytes, ObjectInfo]:
        with self._lock:
            found = self._objects.get(key)
        if found is None:
            raise NotFound(f"{key} is not in the store")
        return found

    def _store(self, key: str, body: bytes) -> None:
        self._objects[key] = (bytes(body), ObjectInfo(key, len(body), self._clock.now()))

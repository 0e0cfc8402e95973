"""What every store in front of another one does with whatever it has nothing to say about."""

from collections.abc import Iterator

from tidegate.ports.object_store import Listing, ObjectInfo, ObjectStore


class PassThrough:
    """Passes everything on to the store behind it. Who stands in front of one overrides what it adds to."""

    def __init__(self, inner: ObjectStore) -> None:
        self._inner = inner

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
        return self._inner.get(key, at_most=at_most)

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """See ObjectStore."""
        self._inner.put(key, body, lazily=lazily)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore."""
        return self._inner.put_if_absent(key, body, lazily=lazily)

    def flush(self) -> None:
        """See ObjectStore."""
        self._inner.flush()

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore."""
        return self._inner.head(key)

    def list_level(self, prefix: str) -> Listing:
        """See ObjectStore."""
        return self._inner.list_level(prefix)

    def list_all(self, prefix: str) -> Iterator[ObjectInfo]:
        """See ObjectStore."""
        return self._inner.list_all(prefix)

    def delete(self, key: str) -> None:
        """See ObjectStore."""
        self._inner.delete(key)

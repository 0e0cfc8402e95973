"""A store that lists late: what others wrote is listed, and what they removed is not listed any more, after a while.

A share behaves so while its client's cache is good. What a client did itself it sees at once, and so is everything that
is asked for by name. `Lateness` is what the clients of one store share.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tidegate.errors import NotFound
from tidegate.objects.pass_through import PassThrough
from tidegate.ports.clock import Clock
from tidegate.ports.object_store import Listing, ObjectInfo, ObjectStore


@dataclass(frozen=True)
class _Change:
    at: datetime
    client: int
    before: ObjectInfo | None


@dataclass
class Lateness:
    """How late listings are, and what happened lately."""

    clock: Clock
    delay: timedelta
    clients: int = 0
    changes: dict[str, list[_Change]] = field(default_factory=dict)


class LateObjects(PassThrough):
    """One client of a store that lists late."""

    def __init__(self, inner: ObjectStore, lateness: Lateness) -> None:
        super().__init__(inner)
        self._lateness = lateness
        lateness.clients += 1
        self._client = lateness.clients

    @property
    def lists_at_once(self) -> bool:
        """See ObjectStore."""
        return False

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """See ObjectStore."""
        self._note(key)
        self._inner.put(key, body, lazily=lazily)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore."""
        self._note(key)
        return self._inner.put_if_absent(key, body, lazily=lazily)

    def list_level(self, prefix: str) -> Listing:
        """See ObjectStore."""
        start = f"{prefix}/" if prefix else ""
        seen = sorted(self.list_all(prefix), key=lambda info: info.key)
        below = [(info, *info.key.removeprefix(start).partition("/")[:2]) for info in seen]
        prefixes = dict.fromkeys(start + name for _, name, deeper in below if deeper)
        return Listing(tuple(info for info, _, deeper in below if not deeper), tuple(prefixes))

    def list_all(self, prefix: str) -> Iterator[ObjectInfo]:
        """See ObjectStore, but for being late."""
        start = f"{prefix}/" if prefix else ""
        seen: dict[str, ObjectInfo | None] = {info.key: info for info in self._inner.list_all(prefix)}
        since = self._lateness.clock.now() - self._lateness.delay
        for key, changes in self._lateness.changes.items():
            lately = [change for change in changes if change.at > since]
            if key.startswith(start) and lately and all(change.client != self._client for change in lately):
                seen[key] = lately[0].before
        yield from [info for info in seen.values() if info is not None]

    def delete(self, key: str) -> None:
        """See ObjectStore."""
        self._note(key)
        self._inner.delete(key)

    def _note(self, key: str) -> None:
        try:
            before = self._inner.head(key)
        except NotFound:
            before = None
        change = _Change(self._lateness.clock.now(), self._client, before)
        self._lateness.changes.setdefault(key, []).append(change)

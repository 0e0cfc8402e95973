"""The newest changes, kept in memory for those who watch.

One ring for all watchers. A watcher is a position in it, not a queue, so a slow one costs nothing: when the ring has
gone past its position it is told to list again. Used on one event loop only.
"""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterable, Sequence

from tidegate.errors import InvalidInput, WatchExpired
from tidegate.model.kinds import kind_name
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Event

# At about 10 KiB per event, the memory that watching may cost in all.
KEPT_EVENTS = 4096


class EventLog:
    """A bounded ring of events in version order; what is older than its oldest event is forgotten."""

    def __init__(self, *, last_version: int, kept_events: int = KEPT_EVENTS) -> None:
        self._ring: list[tuple[int, Event]] = []
        self._kept_events = kept_events
        self._published = 0
        """How many events there ever were; a position is a number between this and `_oldest`."""
        self._forgotten_version = last_version
        """Changes up to this version can no longer be told."""
        self._more = asyncio.Event()
        self._closed = False

    def publish(self, events: Iterable[Event]) -> None:
        """Append changes that are durable, in version order, and wake all watchers once."""
        for event in events:
            entry = (int(event.resource_version), event)
            if len(self._ring) < self._kept_events:
                self._ring.append(entry)
            else:
                slot = self._published % self._kept_events
                self._forgotten_version = self._ring[slot][0]
                self._ring[slot] = entry
            self._published += 1
        self._wake()

    def close(self) -> None:
        """Let every watcher end after the changes that are already there."""
        self._closed = True
        self._wake()

    async def watch(self, kinds: Sequence[type[Resource]], *, since: str) -> AsyncIterator[Event]:
        """As the ResourceStore promises; ends only when the log is closed.

        `since` may be a little ahead of the log: a reader can see a commit before the log is told of it.
        """
        seen_version = parse_version(since)
        names = frozenset(kind_name(kind) for kind in kinds)
        position = self._position_behind(seen_version)
        while True:
            while position < self._published:
                if position < self._oldest:
                    raise _expired(since)
                version, event = self._ring[position % self._kept_events]
                position += 1
                if version > seen_version and event.resource.kind in names:
                    yield event
            if self._closed:
                return
            # No await since the look at `_published`, so no change can slip in between unnoticed.
            await self._more.wait()

    @property
    def _oldest(self) -> int:
        return self._published - len(self._ring)

    def _position_behind(self, version: int) -> int:
        if version < self._forgotten_version:
            raise _expired(str(version))
        positions = range(self._oldest, self._published)
        return self._oldest + bisect_right(positions, version, key=lambda p: self._ring[p % self._kept_events][0])

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()


def parse_version(text: str) -> int:
    """Read a resource version of an embedded store, which is a decimal number."""
    if not (text.isascii() and text.isdigit()):
        raise InvalidInput(f"{text!r} is not a resource version; take one from a list", field="resourceVersion")
    return int(text)


def check_given_out(since: str, *, newest: int) -> None:
    """Refuse to wait for versions that another life of the store gave out: their changes would pass unseen."""
    if parse_version(since) > newest:
        raise WatchExpired(f"version {since} was never given out here, the newest is {newest}; list again")


def _expired(since: str) -> WatchExpired:
    return WatchExpired(f"the changes after version {since} are no longer kept; list again and watch from there")

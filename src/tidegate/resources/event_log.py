"""The newest changes of each kind, kept in memory for watchers.

A bounded ring per kind, shared by all its watchers. A watcher is a position in the ring, not a queue, so a slow one
costs nothing: when the ring has gone past its position, its watch expires and it lists again. A busy kind never pushes
out the changes of a quiet one. Used on one event loop only.
"""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterable

from tidegate.errors import WatchExpired
from tidegate.model.kinds import kind_name
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Event
from tidegate.resources.versions import DECIMAL, Versions

# At about 10 KiB per event, the memory that watching one busy kind may cost.
KEPT_EVENTS = 4096


class EventLog:
    """One ring of events per kind, each in version order; what is older than a ring's oldest event is forgotten."""

    def __init__(self, *, last_version: int, kept_events: int = KEPT_EVENTS, versions: Versions = DECIMAL) -> None:
        self._versions = versions
        self._first_version = last_version
        self._kept_events = kept_events
        self._rings: dict[str, _Ring] = {}
        self._closed = False

    def publish(self, events: Iterable[Event]) -> None:
        """Append changes that are durable, in version order, and wake the watchers of each kind once."""
        changed = {}
        for event in events:
            ring = self._ring(event.resource.kind)
            ring.append(self._versions.read(event.resource.kind, event.resource_version), event)
            changed[event.resource.kind] = ring
        for ring in changed.values():
            ring.wake()

    def close(self) -> None:
        """Let every watcher end after the changes that are already there."""
        self._closed = True
        for ring in self._rings.values():
            ring.wake()

    async def watch(self, kind: type[Resource], *, since: str) -> AsyncIterator[Event]:
        """As the ResourceStore promises; ends only when the log is closed.

        `since` may be a little ahead of the log: a reader can see a commit before the log hears of it.
        """
        seen_version = self._versions.read(kind_name(kind), since)
        ring = self._ring(kind_name(kind))
        position = ring.position_behind(seen_version)
        while True:
            while position < ring.published:
                if position < ring.oldest:
                    raise _expired(since)
                version, event = ring.at(position)
                position += 1
                if version > seen_version:
                    yield event
            if self._closed:
                return
            # No await since the look at `published`, so no change can slip in between unnoticed.
            await ring.more.wait()

    def _ring(self, kind: str) -> "_Ring":
        if kind not in self._rings:
            self._rings[kind] = _Ring(self._first_version, self._kept_events)
        return self._rings[kind]


class _Ring:
    """The newest changes of one kind."""

    def __init__(self, first_version: int, kept_events: int) -> None:
        self._entries: list[tuple[int, Event]] = []
        self._kept_events = kept_events
        self.published = 0
        """How many changes there ever were; a position is a number between this and `oldest`."""
        self._forgotten_version = first_version
        """Changes up to this version are no longer kept."""
        self.more = asyncio.Event()

    @property
    def oldest(self) -> int:
        return self.published - len(self._entries)

    def at(self, position: int) -> tuple[int, Event]:
        return self._entries[position % self._kept_events]

    def append(self, version: int, event: Event) -> None:
        entry = (version, event)
        if len(self._entries) < self._kept_events:
            self._entries.append(entry)
        else:
            slot = self.published % self._kept_events
            self._forgotten_version = self._entries[slot][0]
            self._entries[slot] = entry
        self.published += 1

    def wake(self) -> None:
        self.more.set()
        self.more = asyncio.Event()

    def position_behind(self, version: int) -> int:
        if version < self._forgotten_version:
            raise _expired(str(version))
        positions = range(self.oldest, self.published)
        return self.oldest + bisect_right(positions, version, key=lambda position: self.at(position)[0])


def check_given_out(version: int, *, newest: int) -> None:
    """Refuse to wait for versions that another life of the store gave out: their changes would pass unseen."""
    if version > newest:
        raise WatchExpired("this version was never given out here; list again")


def _expired(since: str) -> WatchExpired:
    return WatchExpired(f"the changes after version {since} are no longer kept; list again and watch from there")

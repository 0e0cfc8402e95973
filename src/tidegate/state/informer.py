"""Keeps the cache of one kind true: list, then watch, and again from the beginning when either fails."""

import asyncio
from random import Random
from typing import Any

import structlog

from tidegate.errors import NotFound, TidegateError, WatchExpired
from tidegate.model.kinds import kind_name
from tidegate.model.resource import Ref, Resource
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import Change, Event, Page
from tidegate.state.backoff import Backoff
from tidegate.state.cached_store import CachedStore
from tidegate.state.expectations import gone

log = structlog.get_logger(__name__)

# So many resources of a first list are taken in before others have a turn.
_AT_ONCE = 256


class Informer:
    """Runs for as long as the server does. A failed list is never an empty one: the cache stays as it was."""

    def __init__(self, kind: type[Resource], store: CachedStore, clock: Clock, random: Random) -> None:
        self.kind = kind
        self._store = store
        self._cache = store.cache(kind)
        self._expectations = store.expectations(kind)
        self._clock = clock
        self._backoff = Backoff(random)
        self._tried = asyncio.Event()
        self._key = Ref("Informer", kind_name(kind))

    async def until_tried(self) -> None:
        """Until the first list is done, or has failed."""
        await self._tried.wait()

    async def run(self) -> None:
        """List and watch, again and again; ends only when cancelled."""
        while True:
            try:
                await self._list()
                self._tried.set()
                async for event in self._store.behind.watch(self.kind, since=self._cache.version):
                    self._backoff.forget(self._key)
                    self._hear(event)
            except WatchExpired:
                log.info("the watch fell behind; listing again", kind=self._key.name)
                if self._backoff.failures(self._key) == 0:
                    self._backoff.next_delay(self._key)
                    continue  # at once, but not twice in a row
            except Exception as error:  # noqa: BLE001  # whatever it was, without the watch nothing moves
                self._say(error)
            self._tried.set()
            await self._clock.sleep(self._backoff.next_delay(self._key))

    async def _list(self) -> None:
        self._expectations.begin_list()
        page: Page[Any] = await self._store.behind.list(self.kind)
        missing = set(self._cache.refs()) | set(self._expectations.open_refs())
        unsure: list[tuple[Ref, Resource | None]] = []
        for number, resource in enumerate(page.items, start=1):
            missing.discard(resource.ref)
            if self._expectations.listed(resource.ref, resource.metadata.resource_version):
                self._cache.put(resource)
            else:
                unsure.append((resource.ref, resource))
            if not self._cache.loaded and number % _AT_ONCE == 0:
                await asyncio.sleep(0)
        for ref in missing:
            if self._expectations.listed(ref, None):
                self._cache.remove(ref)
            else:
                unsure.append((ref, None))
        for ref, listed in unsure:
            await self._settle(ref, listed)
        self._cache.listed(page.resource_version)

    async def _settle(self, ref: Ref, listed: Resource | None) -> None:
        """A write of our own was answered while the list was made: the store says which of them is newer."""
        try:
            found: Resource | None = await self._store.behind.get(self.kind, ref.name, ref.namespace)
        except NotFound:
            found = None
        if _version(found) != _version(listed):
            await self._store.confirm(ref)  # its change comes by the watch, behind the list
            return
        self._expectations.give_up(ref)
        if listed is None:
            self._cache.remove(ref)
        else:
            self._cache.put(listed)

    def _hear(self, event: Event) -> None:
        resource = event.resource
        self._cache.version = event.resource_version
        if event.change is Change.DELETED:
            if self._expectations.heard(resource.ref, gone(resource.metadata.uid)):
                self._cache.remove(resource.ref)
        elif self._expectations.heard(resource.ref, resource.metadata.resource_version):
            self._cache.put(resource)

    def _say(self, error: Exception) -> None:
        """Expected errors in one line; anything that is not of our tree is a bug and comes with its traceback."""
        expected = isinstance(error, TidegateError)
        log.warning(
            "the watch of a kind failed",
            kind=self._key.name,
            error=f"{type(error).__name__}: {error}",
            exc_info=None if expected else error,
        )


def _version(resource: Resource | None) -> str | None:
    return None if resource is None else resource.metadata.resource_version

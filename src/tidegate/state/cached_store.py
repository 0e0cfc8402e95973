"""The ResourceStore as controllers and API use it: it reads from the cache and writes to the store behind it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager
from itertools import islice
from typing import TypeVar, cast

from tidegate.errors import NotFound, StaleVersion, UserError
from tidegate.model.kinds import KIND_BY_NAME, KINDS, kind_name
from tidegate.model.labels import EVERYTHING, Selector
from tidegate.model.resource import Ref, Resource
from tidegate.ports.resource_store import Event, Page, ResourceStore
from tidegate.state.cache import KindCache, Listener
from tidegate.state.expectations import Expectations, Verdict, gone
from tidegate.state.paging import PlaceInList, check_limit, place_of

R = TypeVar("R", bound=Resource)
T = TypeVar("T")

# Errors after which the store is certainly as it was before.
_REFUSALS = (UserError, StaleVersion)
_NEVER_KNOWN = "never known"
"""Stands for the version of what the cache does not hold and the store does not have."""


class CachedStore:
    """Keeps the ResourceStore's promise for one server, but that reads lag behind what others write.

    A read after a write of our own sees it. Of a kind that is not loaded yet, reads go to the store: what the cache
    does not know is never taken for missing.
    """

    def __init__(self, store: ResourceStore) -> None:
        self.behind = store
        """The store itself, for the informer and for looks that must be certain."""
        self.listeners: list[Listener] = []
        self._caches = {kind_name(kind): KindCache(kind, self.listeners) for kind in KINDS}
        self._expectations = {kind_name(kind): Expectations() for kind in KINDS}
        self._unsure: set[Ref] = set()

    def cache(self, kind: type[R]) -> KindCache[R]:
        """What is held of one kind."""
        return cast("KindCache[R]", self._caches[kind_name(kind)])

    def expectations(self, kind: type[Resource]) -> Expectations:
        """Own writes of one kind that have not come back."""
        return self._expectations[kind_name(kind)]

    async def create(self, resource: R) -> R:
        """See ResourceStore."""
        return await self._write(resource.ref, "", lambda: self.behind.create(resource))

    async def get(self, kind: type[R], name: str, namespace: str = "") -> R:
        """See ResourceStore."""
        cache = self.cache(kind)
        if not cache.loaded:
            return await self.behind.get(kind, name, namespace)
        found = cache.get(name, namespace)
        if found is None:
            raise NotFound(f"there is no {Ref(kind_name(kind), name, namespace)}")
        return found

    async def list(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        selector: Selector = EVERYTHING,
        limit: int | None = None,
        marker: str | None = None,
    ) -> Page[R]:
        """See ResourceStore."""
        cache = self.cache(kind)
        if not cache.loaded:
            return await self.behind.list(kind, namespace=namespace, selector=selector, limit=limit, marker=marker)
        check_limit(limit)
        rows = cache.select(selector, namespace=namespace, behind=place_of(marker))
        items = tuple(rows if limit is None else islice(rows, limit))
        more = limit is not None and len(items) == limit and next(rows, None) is not None
        last = PlaceInList(items[-1].namespace, items[-1].name).to_marker() if more else None
        return Page(items, resource_version=cache.version, marker=last)

    def watch(self, kind: type[R], *, since: str) -> AsyncIterator[Event]:
        """See ResourceStore."""
        return self.behind.watch(kind, since=since)

    async def update(self, resource: R) -> R:
        """See ResourceStore."""
        version = resource.metadata.resource_version
        return await self._write(resource.ref, version, lambda: self.behind.update(resource))

    async def update_status(self, resource: R) -> R:
        """See ResourceStore."""
        version = resource.metadata.resource_version
        return await self._write(resource.ref, version, lambda: self.behind.update_status(resource))

    async def cancel(self, ref: Ref, *, uid: str | None = None) -> Resource:
        """See ResourceStore."""
        return await self._write(ref, "", lambda: self.behind.cancel(ref, uid=uid))

    async def delete(self, ref: Ref, *, uid: str | None = None) -> Resource | None:
        """See ResourceStore."""
        return await self._write(ref, "", lambda: self.behind.delete(ref, uid=uid))

    async def settle(self) -> None:
        """Look at what was written without an answer: until then it is open whether those writes were done.

        Raises when the store cannot say. To be called before a decision that counts what is under way.
        """
        for ref in sorted(self._unsure):
            await self.confirm(ref)

    async def confirm(self, ref: Ref) -> None:
        """Ask the store for one resource, and hold what it says if that is news."""
        with self._writing(ref):
            self._unsure.add(ref)
            await self._look(ref)
            self._unsure.discard(ref)

    async def _write(self, ref: Ref, version: str, write: Callable[[], Awaitable[T]]) -> T:
        with self._writing(ref):
            try:
                answer = await write()
                await self._take_answer(ref, version, answer)
            except _REFUSALS:
                raise
            except BaseException:
                self._unsure.add(ref)
                raise
        return answer

    def _writing(self, ref: Ref) -> AbstractContextManager[None]:
        return self._expectations[ref.kind].writing(ref, self._caches[ref.kind].version_of(ref))

    async def _take_answer(self, ref: Ref, before: str, answer: object) -> None:
        after = answer if isinstance(answer, Resource) and not _is_gone(answer) else None
        if after is not None and after.metadata.resource_version == before:
            return  # the write changed nothing, so no change will tell of it
        version = self._version(ref, after)
        if version == _NEVER_KNOWN:
            return
        match self._expectations[ref.kind].answered(ref, version):
            case Verdict.TAKE:
                self._hold(ref, after)
            case Verdict.LOOK:
                await self._look(ref)
            case Verdict.KNOWN:
                pass

    async def _look(self, ref: Ref) -> None:
        try:
            found: Resource | None = await self.behind.get(KIND_BY_NAME[ref.kind], ref.name, ref.namespace)
        except NotFound:
            found = None
        version = self._version(ref, found)
        if version != _NEVER_KNOWN and self._expectations[ref.kind].looked(ref, version):
            self._hold(ref, found)

    def _version(self, ref: Ref, resource: Resource | None) -> str:
        if resource is not None:
            return resource.metadata.resource_version
        uid = self._caches[ref.kind].uid_of(ref)
        return _NEVER_KNOWN if uid is None else gone(uid)

    def _hold(self, ref: Ref, resource: Resource | None) -> None:
        if resource is None:
            self._caches[ref.kind].remove(ref)
        else:
            self._caches[ref.kind].put(resource)


def _is_gone(answer: Resource) -> bool:
    """Whether the write removed it: the last finalizer of a deleted resource took it along."""
    return answer.deleting and not answer.metadata.finalizers

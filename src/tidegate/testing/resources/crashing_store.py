"""A store whose process dies after the n-th write: for looking at every moment between two steps."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from tidegate.errors import RetryableError
from tidegate.model.labels import EVERYTHING, Selector
from tidegate.model.resource import Ref, Resource
from tidegate.ports.resource_store import Event, Page, R, ResourceStore


@dataclass
class CrashingStore:
    """Passes everything on to `inner` until `writes_left` are used up; then nothing gets through any more.

    What was written before stays in `inner`, as it would on a disk.
    """

    inner: ResourceStore
    writes_left: int

    @property
    def dead(self) -> bool:
        """Whether the process has died."""
        return self.writes_left < 0

    def _spend(self, writes: int) -> None:
        if self.writes_left >= 0:
            self.writes_left -= writes
        if self.dead:
            raise RetryableError("the process is dead")

    async def create(self, resource: R) -> R:
        """Counts."""
        self._spend(1)
        return await self.inner.create(resource)

    async def get(self, kind: type[R], name: str, namespace: str = "") -> R:
        """Does not count."""
        self._spend(0)
        return await self.inner.get(kind, name, namespace)

    async def list(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        selector: Selector = EVERYTHING,
        limit: int | None = None,
        marker: str | None = None,
    ) -> Page[R]:
        """Does not count."""
        self._spend(0)
        return await self.inner.list(kind, namespace=namespace, selector=selector, limit=limit, marker=marker)

    def watch(self, kind: type[R], *, since: str) -> AsyncIterator[Event]:
        """Does not count."""
        return self.inner.watch(kind, since=since)

    async def update(self, resource: R) -> R:
        """Counts."""
        self._spend(1)
        return await self.inner.update(resource)

    async def update_status(self, resource: R) -> R:
        """Counts."""
        self._spend(1)
        return await self.inner.update_status(resource)

    async def cancel(self, ref: Ref, *, uid: str | None = None) -> Resource:
        """Counts."""
        self._spend(1)
        return await self.inner.cancel(ref, uid=uid)

    async def delete(self, ref: Ref, *, uid: str | None = None) -> Resource | None:
        """Counts."""
        self._spend(1)
        return await self.inner.delete(ref, uid=uid)

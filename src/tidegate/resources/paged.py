"""A ResourceStore whose resources stay small: rows of long fields are stored in pages, and read back with the resource.

The pages of a change are written before the resource that names them, so the write of the resource alone decides. What
a crash leaves behind is a page that nothing names.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self, TypeVar

from pydantic import ValidationError

from tidegate.decide.resources.row_pages import (
    Paged,
    Rows,
    page_names,
    parse_rows,
    plan_pages,
    with_rows,
    without_rows,
)
from tidegate.errors import AlreadyExists, DamagedMetadata, InvalidInput, NotFound, RetryableError, StaleVersion
from tidegate.model.kinds import KIND_BY_NAME, kind_name
from tidegate.model.labels import EVERYTHING, Selector
from tidegate.model.resource import OwnerReference, Ref, Resource
from tidegate.model.row_page import LongStatus, RowPage, RowRange
from tidegate.ports.resource_store import Change, Event, Page, ResourceStore

R = TypeVar("R", bound=Resource)

# Ranges whose rows are remembered: some 50 MiB at most, and as a rule none.
_MOST_REMEMBERED = 256
_PAGES_AT_ONCE = 64


class _PageGone(Exception):  # never leaves this module
    """A page that a resource names is not there: the resource was written since, or is gone."""


@dataclass
class PagedStore:
    """Keeps the ResourceStore's promise over one that keeps it, with one exception.

    A watcher that is behind sees newer rows than those of the change, and none of a resource that is gone.
    """

    inner: ResourceStore
    _remembered: OrderedDict[RowRange, Rows] = field(default_factory=OrderedDict)
    """Pages never change, so this is never out of date."""

    @classmethod
    async def over(cls, inner: ResourceStore) -> Self:
        """Over a store to which nothing else writes yet: what a crash left there is removed."""
        store = cls(inner)
        await store.remove_leftovers()
        return store

    async def create(self, resource: R) -> R:
        """See ResourceStore."""
        return await self.inner.create(resource)

    async def get(self, kind: type[R], name: str, namespace: str = "") -> R:
        """See ResourceStore."""
        return await self._whole(await self.inner.get(kind, name, namespace))

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
        page = await self.inner.list(kind, namespace=namespace, selector=selector, limit=limit, marker=marker)
        if not any(map(_is_paged, page.items)):
            return page
        items = []
        for item in page.items:
            with suppress(NotFound):  # gone since
                items.append(await self._whole(item))
        return Page(tuple(items), page.resource_version, page.marker)

    async def watch(self, kind: type[R], *, since: str) -> AsyncIterator[Event]:
        """See ResourceStore."""
        async for event in self.inner.watch(kind, since=since):
            if _is_paged(event.resource):
                yield Event(event.change, await self._as_far_as_known(event), event.resource_version)
            else:
                yield event

    async def update(self, resource: R) -> R:
        """See ResourceStore."""
        if not isinstance(resource.status, LongStatus) or not resource.status.row_pages:
            return await self.inner.update(resource)
        answer = await self.inner.update(resource.replace(status=without_rows(resource.status)))
        try:
            return await self._joined(answer)
        except _PageGone:  # with its last finalizer; the caller had the newest version
            return answer.replace(status=resource.status)

    async def update_status(self, resource: R) -> R:
        """See ResourceStore."""
        if not isinstance(resource.status, LongStatus):
            return await self.inner.update_status(resource)
        try:
            rows = await self._rows_of(resource.status)
        except _PageGone as gone:
            raise StaleVersion(f"{resource.ref} was written meanwhile; observe again") from gone
        plan = _planned(resource, rows)
        for kept in plan.ranges:
            self._remember(kept.range, kept.rows)  # watchers may hear of the write before we do
            rows[kept.range] = kept.rows
        await asyncio.gather(*map(self._add, plan.added))
        try:
            answer = await self.inner.update_status(resource.replace(status=plan.status))
        except (StaleVersion, NotFound):
            await self._remove_unnamed(resource, plan.added)
            raise
        await self._remove(plan.replaced)
        return answer.replace(status=with_rows(plan.status, rows))

    async def cancel(self, ref: Ref, *, uid: str | None = None) -> Resource:
        """See ResourceStore."""
        return await self._whole(await self.inner.cancel(ref, uid=uid))

    async def delete(self, ref: Ref, *, uid: str | None = None) -> Resource | None:
        """See ResourceStore. Its pages go with it, as everything does that it owns."""
        marked = await self.inner.delete(ref, uid=uid)
        if marked is not None:
            with suppress(NotFound):  # gone since
                return await self._whole(marked)
        return None

    async def remove_leftovers(self) -> None:
        """Remove pages that nothing names. Only while nothing else writes."""
        named: dict[OwnerReference, set[str]] = {}
        marker = None
        while True:
            found = await self.inner.list(RowPage, limit=_PAGES_AT_ONCE, marker=marker)
            for page in found.items:
                (owner,) = page.metadata.owner_references
                if owner not in named:
                    named[owner] = await self._named_by(KIND_BY_NAME[owner.kind], owner.name)
                if page.name not in named[owner]:
                    await self._remove([page.name])
            if (marker := found.marker) is None:
                return

    async def _whole(self, stored: R) -> R:
        """With its rows, or as it is by now; raises NotFound if it is gone by then."""
        while True:
            try:
                return await self._joined(stored)
            except _PageGone as gone:
                newer = await self.inner.get(type(stored), stored.name, stored.namespace)
                if newer.metadata.resource_version == stored.metadata.resource_version:
                    raise DamagedMetadata(f"{stored.ref} is damaged: RowPage {gone} is missing") from gone
                stored = newer

    async def _as_far_as_known(self, event: Event) -> Resource:
        try:
            return await self._joined(event.resource)
        except _PageGone:
            if event.change is not Change.DELETED:
                with suppress(NotFound):
                    return await self.get(type(event.resource), event.resource.name, event.resource.namespace)
            return event.resource

    async def _joined(self, stored: R) -> R:
        if not isinstance(stored.status, LongStatus) or not stored.status.row_pages:
            return stored
        return stored.replace(status=with_rows(stored.status, await self._rows_of(stored.status)))

    async def _rows_of(self, status: LongStatus) -> dict[RowRange, Rows]:
        named = [(name, one) for name, ranges in (status.row_pages or {}).items() for one in ranges]
        rows = await asyncio.gather(*(self._rows(type(status), name, one) for name, one in named))
        return {one: found for (_, one), found in zip(named, rows, strict=True)}

    async def _rows(self, kind: type[LongStatus], name: str, one: RowRange) -> Rows:
        known = self._remembered.get(one)
        if known is not None:
            self._remembered.move_to_end(one)
            return known
        try:
            pages = [await self.inner.get(RowPage, page) for page in one.pages]
        except NotFound as error:
            raise _PageGone(", ".join(one.pages)) from error
        try:
            rows = parse_rows(kind, name, "".join(page.spec.text for page in pages))
        except ValidationError as error:
            raise DamagedMetadata(f"RowPage {', '.join(one.pages)} is damaged: it holds no {name}") from error
        self._remember(one, rows)
        return rows

    def _remember(self, one: RowRange, rows: Rows) -> None:
        self._remembered[one] = rows
        if len(self._remembered) > _MOST_REMEMBERED:
            self._remembered.popitem(last=False)

    async def _add(self, page: RowPage) -> None:
        with suppress(AlreadyExists):  # the name stands for the text
            await self.inner.create(page)

    async def _remove(self, names: Iterable[str]) -> None:
        """What is left of them now is removed at the next start."""
        for name in names:
            with suppress(NotFound, RetryableError):
                await self.inner.delete(Ref(kind_name(RowPage), name))

    async def _remove_unnamed(self, resource: Resource, pages: Sequence[RowPage]) -> None:
        """After a write that was refused: whoever was faster may have written the very same."""
        if pages:
            named = await self._named_by(type(resource), resource.name)
            await self._remove(page.name for page in pages if page.name not in named)

    async def _named_by(self, kind: type[Resource], name: str) -> set[str]:
        try:
            status = (await self.inner.get(kind, name)).status
        except NotFound:
            return set()
        return page_names(status) if isinstance(status, LongStatus) else set()


def _is_paged(resource: Resource) -> bool:
    return isinstance(resource.status, LongStatus) and bool(resource.status.row_pages)


def _planned(resource: Resource, stored: Mapping[RowRange, Rows]) -> Paged:
    """What could not be read back must not get in."""
    try:
        return plan_pages(resource, stored)
    except ValidationError as error:
        raise InvalidInput(f"the status of {resource.ref} cannot be stored: {error.errors()[0]['msg']}") from error

"""Looking into the catalogue for an answer: pages, whole lists, and which volume a name means."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Generic, TypeVar

from fastapi import Request, Response

from tidegate.api.longhorn.manners import (
    JSON,
    base_url,
    collection,
    encoded,
    following,
    here,
    schemas_header,
    streamed,
)
from tidegate.api.longhorn.shapes import Wire, backup_shape, volume_shape
from tidegate.api.services import Services
from tidegate.decide.stores.catalogue_state import not_read_yet
from tidegate.errors import CatalogueNotRead, NotFound, Refused
from tidegate.format.cfgs.paths import is_name
from tidegate.model.stores.catalogue import CatalogueBackup, CatalogueFilter, CataloguePage, CatalogueVolume
from tidegate.model.stores.catalogue_listing import split_volume_id, volume_id
from tidegate.model.stores.target import BackupTarget
from tidegate.ports.catalogue import PAGE, Catalogue

T = TypeVar("T")
_WHOLE_LIST_PAGE = 500


@dataclass(frozen=True)
class Cut:
    """Which part of a list: without any of both, all of it."""

    limit: int | None = None
    marker: str = ""
    skip: int = 0
    """Begin after so many: only for pages without a marker."""


@dataclass(frozen=True)
class _List(Generic[T]):
    kind: str
    look: Callable[[int, str, int], Awaitable[CataloguePage[T]]]
    shape: Callable[[T], Wire]
    more: Wire
    """What else there is to say of the list."""

    def shapes(self, items: Sequence[T]) -> list[Wire]:
        return [self.shape(item) for item in items]

    async def answer(self, request: Request, cut: Cut) -> Response:
        if cut.limit is not None or cut.marker:
            return await self._page(request, cut.limit or PAGE, cut)
        # Looked at before the answer begins, so that what is wrong can still be told as such.
        first = await self.look(_WHOLE_LIST_PAGE, "", 0)
        return streamed(request, self.kind, self._all(first), **self.more)

    async def _page(self, request: Request, limit: int, cut: Cut) -> Response:
        page = await self.look(limit, cut.marker, cut.skip)
        document = collection(request, self.kind, (), **self.more)
        document["pagination"] = {"limit": limit, "next": page.marker or None}
        if page.marker:
            document["links"] = {"self": here(request), "next": following(request, page.marker)}
        body = await encoded(lambda: {**document, "data": self.shapes(page.items)}, entries=len(page.items))
        return Response(body, media_type=JSON, headers=schemas_header(request))

    async def _all(self, page: CataloguePage[T]) -> AsyncIterator[bytes]:
        while True:
            items = page.items
            yield await encoded(lambda items=items: self.shapes(items), entries=len(items))  # type: ignore[misc]
            if not page.marker:
                return
            page = await self.look(_WHOLE_LIST_PAGE, page.marker, 0)


def catalogue_of(services: Services) -> Catalogue:
    """The catalogue, for somebody who waits; one is missing only where the API is put together without a server."""
    if services.catalogue is None:
        raise Refused("this server keeps no catalogue")
    services.make_way()
    return services.catalogue


async def list_volumes(request: Request, services: Services, wanted: CatalogueFilter, cut: Cut) -> Response:
    """Volumes by name."""
    catalogue, base = catalogue_of(services), base_url(request)

    async def look(limit: int, marker: str, skip: int) -> CataloguePage[CatalogueVolume]:
        return await catalogue.volumes(wanted, limit=limit, marker=marker, skip=skip)

    more = await not_read(services, wanted.target)
    return await _List("backupVolume", look, lambda volume: volume_shape(volume, base=base), more).answer(request, cut)


async def list_backups(request: Request, services: Services, wanted: CatalogueFilter, cut: Cut) -> Response:
    """Volume backups, the newest first."""
    catalogue, urls = catalogue_of(services), await target_urls(services)

    async def look(limit: int, marker: str, skip: int) -> CataloguePage[CatalogueBackup]:
        return await catalogue.backups(wanted, limit=limit, marker=marker, skip=skip)

    more = await not_read(services, wanted.target)
    return await _List("backup", look, lambda backup: backup_shape(backup, urls=urls), more).answer(request, cut)


async def not_read(services: Services, pattern: str) -> Wire:
    """Return what a list says of targets that have not been read yet, `notReadYet`; nothing if all have been.

    What they hold is missing from the list, or a part of it while they are read for the first time.
    """
    unread = await _unread(services, pattern)
    return {"notReadYet": list(unread)} if unread else {}


async def believe_absence(services: Services, target: str) -> None:
    """Raise CatalogueNotRead where the target, or any if none is named, has not been read: it may hold it."""
    if unread := await _unread(services, target):
        raise CatalogueNotRead(
            f"not known yet: the catalogue has not read target {', '.join(unread)}",
            hint="ask again once it has; tidegate catalog status shows how far it is",
        )


async def _unread(services: Services, pattern: str) -> tuple[str, ...]:
    targets = (await services.store.list(BackupTarget)).items
    matching = [one for one in targets if not pattern or fnmatchcase(one.name, pattern)]
    return not_read_yet(matching, await catalogue_of(services).full_syncs())


async def target_urls(services: Services) -> dict[str, str]:
    """The URL of each target: backups are named by it."""
    return {target.name: target.spec.url for target in (await services.store.list(BackupTarget)).items}


async def find_volume(services: Services, identity: str) -> CatalogueVolume:
    """The volume of that id, or of that name while only one target has it.

    Raises NotFound, and Refused where the name alone could mean several: nobody's delete shall hit another's volume.
    """
    try:
        return await _find(services, identity)
    except NotFound:
        await believe_absence(services, split_volume_id(identity)[1])
        raise


async def find_backup(services: Services, volume: CatalogueVolume, name: str) -> CatalogueBackup:
    """One backup of a volume. Raises NotFound."""
    try:
        return await catalogue_of(services).backup(volume.target, volume.name, name)
    except NotFound:
        await believe_absence(services, volume.target)
        raise


async def _find(services: Services, identity: str) -> CatalogueVolume:
    volume, target = split_volume_id(identity)
    catalogue = catalogue_of(services)
    if not is_name(volume):  # also what would be a pattern to the catalogue
        raise NotFound(f"there is no backup volume {identity[:80]!r}")
    if target:
        return await catalogue.volume(target, volume)
    found = [one for name in await target_urls(services) if (one := await _known(catalogue, name, volume)) is not None]
    if not found:
        raise NotFound(
            f"there is no backup volume {volume}, as far as the last syncs saw",
            hint="bring the catalogue up to date with: tidegate target sync NAME",
        )
    if len(found) > 1:
        ids = ", ".join(volume_id(one.name, one.target) for one in found)
        raise Refused(f"{len(found)} targets have a volume {volume}", hint=f"say which is meant: {ids}")
    return found[0]


async def _known(catalogue: Catalogue, target: str, volume: str) -> CatalogueVolume | None:
    try:
        return await catalogue.volume(target, volume)
    except NotFound:
        return None

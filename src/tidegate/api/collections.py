"""Lists in the shape that Longhorn's clients know, with keyset paging."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Query, Request

from tidegate.api.longhorn.manners import following, here
from tidegate.api.parameters import selector_from
from tidegate.api.reads.presenting import Wire
from tidegate.api.security.auth import services_of
from tidegate.model.kinds import kind_name
from tidegate.model.labels import EVERYTHING, Selector
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Page

R = TypeVar("R", bound=Resource)
LARGEST_PAGE = 1000


@dataclass(frozen=True)
class PageWish:
    """Which resources of a kind, and which part of their list."""

    selector: Selector = EVERYTHING
    limit: int = LARGEST_PAGE
    marker: str | None = None


async def _wish(
    label_selector: Annotated[str, Query(alias="labelSelector", max_length=4096)] = "",
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = LARGEST_PAGE,
    marker: Annotated[str | None, Query(max_length=1024)] = None,
) -> PageWish:
    return PageWish(selector_from(label_selector), limit, marker)


PageParameter = Annotated[PageWish, Depends(_wish)]


async def page_of(
    request: Request,
    kind: type[R],
    wish: PageWish,
    *,
    shapes: Callable[[Page[R]], Awaitable[list[Wire]]],
    namespace: str | None = None,
) -> Wire:
    """One page of what is stored, each resource as `shapes` shows it."""
    page = await services_of(request).store.list(
        kind, namespace=namespace, selector=wish.selector, limit=wish.limit, marker=wish.marker
    )
    data = await shapes(page)
    return collection(request, kind, data, version=page.resource_version, limit=wish.limit, marker=page.marker)


def collection(
    request: Request, kind: type[Resource], data: list[Wire], *, version: str, limit: int, marker: str | None
) -> Wire:
    """One page; `pagination.next` names the following one, and `links.next` leads to it by the client's own address."""
    links = {"self": here(request)}
    if marker is not None:
        links["next"] = following(request, marker)
    return {
        "type": "collection",
        "resourceType": kind_name(kind)[0].lower() + kind_name(kind)[1:],
        "data": data,
        "links": links,
        "actions": {},
        "pagination": {"limit": limit, "next": marker},
        "resourceVersion": version,
    }

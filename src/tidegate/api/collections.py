"""Lists in the shape that Longhorn's clients know, with keyset paging."""

from fastapi import Request

from tidegate.api.presenting import Wire
from tidegate.model.kinds import kind_name
from tidegate.model.resource import Resource


def collection(
    request: Request, kind: type[Resource], data: list[Wire], *, version: str, limit: int, marker: str | None
) -> Wire:
    """One page; `pagination.next` asks for the following one."""
    links = {"self": str(request.url)}
    if marker is not None:
        links["next"] = str(request.url.include_query_params(marker=marker))
    return {
        "type": "collection",
        "resourceType": kind_name(kind)[0].lower() + kind_name(kind)[1:],
        "data": data,
        "links": links,
        "actions": {},
        "pagination": {"limit": limit, "next": marker},
        "resourceVersion": version,
    }

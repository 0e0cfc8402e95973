"""`/v1/audit`: every change, by whom."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request

from tidegate.api.reads.presenting import Wire
from tidegate.api.security.auth import require_token, services_of
from tidegate.errors import Refused
from tidegate.model.access.audit import LONGEST_TEXT, AuditEntry, AuditFilter
from tidegate.model.frozen import Model
from tidegate.ports.audit import LARGEST_PAGE, PAGE

router = APIRouter(tags=["access"], dependencies=[Depends(require_token)])


async def _wanted(
    *,
    who: Annotated[str, Query(max_length=LONGEST_TEXT, description="Exactly this user or token.")] = "",
    what: Annotated[str, Query(max_length=LONGEST_TEXT, description="A part of it: `backups/nightly`.")] = "",
    since: Annotated[datetime | None, Query(description="At this time or later.")] = None,
    until: Annotated[datetime | None, Query(description="Before this time.")] = None,
) -> AuditFilter:
    return AuditFilter(who, what, _aware(since), _aware(until))


class AuditPagination(Model):
    """Where to go on."""

    limit: int
    next: str | None


class AuditListing(Model):
    """One page, as it is answered."""

    type: Literal["collection"]
    resource_type: Literal["auditEntry"]
    data: tuple[AuditEntry, ...]
    links: dict[str, str]
    actions: dict[str, str]
    pagination: AuditPagination


@router.get("/audit", responses={200: {"model": AuditListing}})
async def list_audit(
    request: Request,
    wanted: Annotated[AuditFilter, Depends(_wanted)],
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = PAGE,
    marker: Annotated[str, Query(max_length=64, description="Goes on where the page ended that gave it.")] = "",
) -> Wire:
    """Every request that changed something or was refused, and every login: the newest first."""
    audit = services_of(request).audit
    if audit is None:
        raise Refused("this server keeps no audit")
    page = await audit.entries(wanted, limit=limit, marker=marker)
    return {
        "type": "collection",
        "resourceType": "auditEntry",
        "data": [entry.to_wire() for entry in page.entries],
        "links": {},
        "actions": {},
        "pagination": {"limit": limit, "next": page.marker},
    }


def _aware(moment: datetime | None) -> datetime | None:
    """A time without a zone is UTC."""
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment

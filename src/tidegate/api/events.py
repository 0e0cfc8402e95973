"""The event stream: every change of the kinds a client asks for, in order, resumable by version."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse

from tidegate.api.auth import caller_from, require_token, services_of
from tidegate.api.presenting import present_news
from tidegate.api.services import Services
from tidegate.errors import InvalidInput, Unauthenticated, WatchExpired
from tidegate.model.kinds import KIND_BY_PLURAL
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Event

router = APIRouter(dependencies=[Depends(require_token)])

# A line that clients ignore and proxies count as life.
_KEEP_ALIVE = ": still here\n\n"
_KEEP_ALIVE_SECONDS = 15.0


@router.get("/events", tags=["events"], summary="Changes as they happen (server-sent events)")
async def events(
    request: Request,
    kinds: Annotated[str, Query(description="Plurals, separated by commas; empty means all.", max_length=1024)] = "",
    since: Annotated[str | None, Query(description="Version to go on from; absent means now.", max_length=64)] = None,
    last_event_id: Annotated[str | None, Header(max_length=64)] = None,
) -> StreamingResponse:
    """`id` is the version to resume from, `event` is ADDED, MODIFIED or DELETED, `data` is the resource.

    `event: expired` means that the changes since then are no longer kept: list again and start from there.
    """
    services = services_of(request)
    wanted = _kinds(kinds)
    start = last_event_id or since
    if start is None:
        start = (await services.store.list(wanted[0], limit=1)).resource_version
    elif not start.isdecimal():
        raise InvalidInput(f"{start!r} is not a version", field="since")
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    lines = _stream(services, wanted, start, lambda: _may_hear_on(request))
    return StreamingResponse(lines, media_type="text/event-stream", headers=headers)


def _may_hear_on(request: Request) -> bool:
    """A stream may outlive its token, its session or its user, none of whom shall hear more then."""
    try:
        caller_from(request)
    except Unauthenticated:
        return False
    return True


async def _stream(
    services: Services, kinds: list[type[Resource]], since: str, may_hear_on: Callable[[], bool] = lambda: True
) -> AsyncIterator[str]:
    changes = services.store.watch(kinds, since=since)
    # Two things can end a wait: the next change, and the server going down. uvicorn would wait for us for ever.
    down = asyncio.create_task(services.shutting_down.wait())
    coming: asyncio.Task[Event] | None = None
    yield _KEEP_ALIVE  # headers go out at once, so that a client knows it is connected
    try:
        while not down.done():
            coming = coming or asyncio.create_task(anext(changes))  # type: ignore[arg-type]
            done, _ = await asyncio.wait({coming, down}, timeout=_KEEP_ALIVE_SECONDS, return_when="FIRST_COMPLETED")
            if not may_hear_on():
                return
            if coming in done:
                yield await _line(services, coming.result())
                coming = None
            elif not done:
                yield _KEEP_ALIVE
    except (WatchExpired, StopAsyncIteration):
        yield "event: expired\ndata: {}\n\n"
    finally:
        for task in (down, coming):
            if task is not None:
                task.cancel()


async def _line(services: Services, event: Event) -> str:
    body = json.dumps(await present_news(services, event.resource), separators=(",", ":"))
    return f"id: {event.resource_version}\nevent: {event.change}\ndata: {body}\n\n"


def _kinds(text: str) -> list[type[Resource]]:
    names = [name.strip() for name in text.split(",") if name.strip()] or list(KIND_BY_PLURAL)
    unknown = [name for name in names if name not in KIND_BY_PLURAL]
    if unknown:
        raise InvalidInput(f"{unknown[0]} is not a kind", field="kinds", hint=f"known: {', '.join(KIND_BY_PLURAL)}")
    return [KIND_BY_PLURAL[name] for name in names]

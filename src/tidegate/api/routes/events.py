"""The event stream: every change of the kinds a client asks for, in order, resumable by version."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse

from tidegate.api.event_lines import as_line
from tidegate.api.reads.places_told import PlacesTold
from tidegate.api.reads.presenting import present_news
from tidegate.api.security.auth import caller_from, require_token, services_of
from tidegate.api.services import Services
from tidegate.errors import InvalidInput, Unauthenticated, WatchExpired
from tidegate.model.access.access import Role
from tidegate.model.backups.backup import Backup
from tidegate.model.kinds import KIND_BY_PLURAL
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Change
from tidegate.state.merged_watch import watch_kinds

router = APIRouter(dependencies=[Depends(require_token)])

# A line that clients ignore and proxies count as life.
_KEEP_ALIVE = b": still here\n\n"
_EXPIRED = b"event: expired\ndata: {}\n\n"
# In one piece, and for a client that is slow.
_MOST_WAITING = 256
_KEEP_ALIVE_SECONDS = 15.0
# Places in the queue are told at most this often.
_PLACES_PAUSE = timedelta(seconds=1)


@router.get(
    "/events",
    tags=["events"],
    summary="Changes as they happen (server-sent events)",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(
    request: Request,
    kinds: Annotated[str, Query(description="Plurals, separated by commas; empty means all.", max_length=1024)] = "",
    since: Annotated[str | None, Query(description="Version to go on from; absent means now.", max_length=64)] = None,
    last_event_id: Annotated[str | None, Header(max_length=64)] = None,
) -> StreamingResponse:
    """`id` is the version to resume from, `event` is ADDED, MODIFIED or DELETED, `data` is the resource.

    A backup whose place in the queue changes is told as MODIFIED at its old `resourceVersion`, at most once a second.

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
    role = caller_from(request).role
    lines = _stream(services, wanted, start, lambda: _may_hear_on(request, role))
    return StreamingResponse(lines, media_type="text/event-stream", headers=headers)


def _may_hear_on(request: Request, role: Role) -> bool:
    """A stream may outlive its token, its session or its user, none of whom shall hear more then.

    It ends with the role, too: a page whose stream ends asks who it is, and shows what that one may do.
    """
    try:
        return caller_from(request).role is role
    except Unauthenticated:
        return False


async def _stream(
    services: Services, kinds: list[type[Resource]], since: str, may_hear_on: Callable[[], bool] = lambda: True
) -> AsyncIterator[bytes]:
    # What ends a wait: the next change, another role, and the server going down. uvicorn would wait for us for ever.
    down = asyncio.create_task(services.shutting_down.wait())
    outbox = _Outbox(services, since)
    filling = asyncio.create_task(outbox.fill(kinds))
    placing = asyncio.create_task(outbox.tell_places(kinds))
    try:
        while not down.done():
            other_role = services.access_bell.next_ring  # before the look: a ring behind it ends the wait at once
            if not may_hear_on():
                return
            if filling.done():
                filling.result()
                yield outbox.take() + _EXPIRED
                return
            outbox.look_at_places()
            yield outbox.take() or _KEEP_ALIVE  # the first goes out at once, so that a client knows it is connected
            await _first_of(outbox.something.wait(), other_role.wait(), beside={filling, down})
    finally:
        for task in (down, filling, placing):
            task.cancel()


async def _first_of(*waits: Coroutine[Any, Any, object], beside: set[asyncio.Task[Any]]) -> None:
    """Until one of them is over, or it is time to say that we are here. No wait outlives this, whoever leaves."""
    tasks = {asyncio.create_task(wait) for wait in waits}
    try:
        await asyncio.wait(tasks | beside, timeout=_KEEP_ALIVE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


class _Outbox:
    """Lines on their way to one client. All that are there go out at once; who does not take them gets no more."""

    def __init__(self, services: Services, since: str) -> None:
        self._services = services
        self._version = since
        self._places = PlacesTold(services, services.state.queue, since=since)
        self._places_wake = asyncio.Event()
        self._lines: list[bytes] = []
        self._room = asyncio.Event()
        self.something = asyncio.Event()

    async def fill(self, kinds: list[type[Resource]]) -> None:
        """Until the changes are no longer kept, or the store is closed."""
        services, shown = self._services, partial(present_news, self._services)
        try:
            async for event in watch_kinds(services.store, dict.fromkeys(kinds, self._version)):
                line, told = await services.event_lines.line(event, shown)
                self._lines.append(line)
                self._version = event.resource_version
                if isinstance(told, Backup):
                    self._places.told(told)
                    self._places_wake.set()
                self.something.set()
                if len(self._lines) >= _MOST_WAITING:
                    # The ring remembers for us, as far as it reaches.
                    self._room.clear()
                    await self._room.wait()
        except WatchExpired:
            return

    async def tell_places(self, kinds: list[type[Resource]]) -> None:
        """Who waits elsewhere by now, for as long as the stream goes on."""
        if Backup not in kinds:
            return
        while True:
            await self._places_wake.wait()
            await self._services.clock.sleep(_PLACES_PAUSE)
            self._places_wake.clear()
            if len(self._lines) < _MOST_WAITING:
                news = await self._places.news(up_to=self._version)
                self._lines += [as_line(self._version, Change.MODIFIED, backup) for backup in news]
                if news:
                    self.something.set()
            self.look_at_places()

    def look_at_places(self) -> None:
        """Look soon, if anybody may have moved."""
        if self._places.moved:
            self._places_wake.set()

    def take(self) -> bytes:
        """All that wait; none if there are none."""
        lines, self._lines = self._lines, []
        self.something.clear()
        self._room.set()
        return b"".join(lines)


def _kinds(text: str) -> list[type[Resource]]:
    names = [name.strip() for name in text.split(",") if name.strip()] or list(KIND_BY_PLURAL)
    unknown = [name for name in names if name not in KIND_BY_PLURAL]
    if unknown:
        raise InvalidInput(f"{unknown[0]} is not a kind", field="kinds", hint=f"known: {', '.join(KIND_BY_PLURAL)}")
    return [KIND_BY_PLURAL[name] for name in names]

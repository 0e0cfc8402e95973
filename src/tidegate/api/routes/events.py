"""The event stream: every change of the kinds that a client asks for, in the order of each kind, resumable."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse

from tidegate.api.event_lines import as_body, as_message
from tidegate.api.event_position import EventPosition, Kind, StreamStart, start_of
from tidegate.api.reads.places_told import PlacesTold
from tidegate.api.reads.presenting import present_news
from tidegate.api.security.auth import caller_from, require_token, services_of
from tidegate.api.services import Services
from tidegate.errors import InvalidInput, Unauthenticated, WatchExpired
from tidegate.model.access.access import Role
from tidegate.model.backups.backup import Backup
from tidegate.model.kinds import KIND_BY_PLURAL
from tidegate.ports.resource_store import Change
from tidegate.state.merged_watch import watch_kinds

router = APIRouter(dependencies=[Depends(require_token)])

# A line that clients ignore and proxies count as life.
_KEEP_ALIVE = b": still here\n\n"
# Longer than the position of a stream of all kinds.
_LONGEST_POSITION = 4096
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
    since: Annotated[
        str | None,
        Query(
            description="Where to go on: the `id` of an event, or the `resourceVersion`s of lists as "
            "`backups:VERSION,volumes:VERSION`. Kinds that are not named begin now; absent means that all do. "
            "For a stream of one kind, its version alone is enough.",
            max_length=_LONGEST_POSITION,
        ),
    ] = None,
    last_event_id: Annotated[str | None, Header(max_length=_LONGEST_POSITION)] = None,
) -> StreamingResponse:
    """`event` is ADDED, MODIFIED or DELETED, `data` is the resource, and `id` is the position to resume from.

    The position stands for all kinds of the stream. It is opaque; the first message has one and nothing else, so that a
    client can resume before the first change. Changes of one kind come in order; between kinds there is no order.

    A backup whose place in the queue changes comes as MODIFIED at its old `resourceVersion`, at most once a second.

    `event: expired` means that the changes since then are no longer kept: list again and start from there.
    """
    services = services_of(request)
    wanted = _kinds(kinds)
    start = await start_of(services.store, wanted, last_event_id or since)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    role = caller_from(request).role
    lines = _stream(services, start, lambda: _may_hear_on(request, role))
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
    services: Services, start: StreamStart, may_hear_on: Callable[[], bool] = lambda: True
) -> AsyncIterator[bytes]:
    # What ends a wait: the next change, another role, and the server going down. uvicorn would wait for us for ever.
    down = asyncio.create_task(services.shutting_down.wait())
    outbox = _Outbox(services, start)
    filling = asyncio.create_task(outbox.fill())
    placing = asyncio.create_task(outbox.tell_places())
    try:
        while not down.done():
            other_role = services.access_bell.next_ring  # before the look: a ring behind it ends the wait at once
            if not may_hear_on():
                return
            if filling.done():
                yield outbox.take() + _expired(filling.result())
                return
            outbox.look_at_places()
            yield outbox.take() or _KEEP_ALIVE
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


def _expired(why: str) -> bytes:
    return f"event: expired\ndata: {json.dumps({'detail': why})}\n\n".encode()


class _Outbox:
    """Lines on their way to one client. All that are there go out at once; who does not take them gets no more."""

    def __init__(self, services: Services, start: StreamStart) -> None:
        self._services = services
        self._versions = start.versions
        self._position = EventPosition(start.versions)
        self._places = None
        if Backup in start.versions:
            self._places = PlacesTold(services, services.state.queue, known=start.knows_places)
        self._places_wake = asyncio.Event()
        # Goes out at once, so that a client knows that it is connected, and where it stands.
        self._lines = [as_message(self._position, b"\n")]
        self._room = asyncio.Event()
        self.something = asyncio.Event()

    async def fill(self) -> str:
        """Until the changes are no longer kept, or the store is closed; why it ended."""
        services, shown = self._services, partial(present_news, self._services)
        try:
            async for event in watch_kinds(services.store, self._versions):
                body, sent = await services.event_lines.body(event, shown)
                self._position.move(sent.plural, event.resource_version)
                self._lines.append(as_message(self._position, body))
                if isinstance(sent, Backup) and self._places is not None:
                    self._places.sent(sent, gone=event.change is Change.DELETED)
                    self._places_wake.set()
                self.something.set()
                if len(self._lines) >= _MOST_WAITING:
                    # The ring remembers for us, as far as it reaches.
                    self._room.clear()
                    await self._room.wait()
        except (WatchExpired, InvalidInput) as error:
            # For a client both mean the same: only a new list can help.
            return error.message
        return "the server is closing its store"

    async def tell_places(self) -> None:
        """Who waits elsewhere by now, for as long as the stream goes on."""
        if self._places is None:
            return
        while True:
            await self._places_wake.wait()
            await self._services.clock.sleep(_PLACES_PAUSE)
            self._places_wake.clear()
            if len(self._lines) < _MOST_WAITING:
                news = await self._places.news()
                self._lines += [as_message(self._position, as_body(Change.MODIFIED, backup)) for backup in news]
                if news:
                    self.something.set()
            self.look_at_places()

    def look_at_places(self) -> None:
        """Look soon, if anybody may have moved."""
        if self._places is not None and self._places.moved:
            self._places_wake.set()

    def take(self) -> bytes:
        """All that wait; none if there are none."""
        lines, self._lines = self._lines, []
        self.something.clear()
        self._room.set()
        return b"".join(lines)


def _kinds(text: str) -> list[Kind]:
    names = [name.strip() for name in text.split(",") if name.strip()] or list(KIND_BY_PLURAL)
    unknown = [name for name in names if name not in KIND_BY_PLURAL]
    if unknown:
        raise InvalidInput(f"{unknown[0]} is not a kind", field="kinds", hint=f"known: {', '.join(KIND_BY_PLURAL)}")
    return [KIND_BY_PLURAL[name] for name in names]

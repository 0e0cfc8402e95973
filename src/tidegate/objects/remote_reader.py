"""Looking at a store behind a network: many questions at once on one event loop, as many as the store likes."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import TypeVar

import obstore
from obstore.exceptions import BaseError

from tidegate.errors import DamagedMetadata, NotFound, StoreBusy, StoreUnavailable
from tidegate.objects.backoff import Backoff, Patience
from tidegate.objects.pacing import InFlightLimit
from tidegate.objects.remote import seen
from tidegate.objects.remote_clients import RemoteClient
from tidegate.objects.remote_errors import translation
from tidegate.ports.object_store import Listing
from tidegate.ports.store_reader import Part

T = TypeVar("T")
_NOBODY = ".tidegate-nobody"
# What the library says of a store that sent a whole object, and of one that has no such bytes.
_NOT_A_PART = "non-partial response"
_NO_SUCH_BYTES = "status code: 416"
# No cfg that anybody could use is longer.
_FARTHEST = 256 * 1024 * 1024
# A sync comes again by itself: what a store does not answer within this is left for the next one.
SYNC_PATIENCE = Patience(waiting_seconds=15.0, request_seconds=60.0)


class RemoteReader:
    """Keeps the StoreReader's promise in a bucket."""

    def __init__(
        self,
        client: RemoteClient,
        *,
        in_flight: int,
        random: Random,
        pause: Callable[[float], Awaitable[None]],
        patience: Patience = SYNC_PATIENCE,
    ) -> None:
        self._client = client
        self._place = client.place
        self._turns = _Turns(in_flight)
        self._in_flight = in_flight
        self._random = random
        self._pause = pause
        self._patience = patience
        self._knows_ranges = True

    @property
    def requests_in_flight(self) -> int:
        """See StoreReader."""
        return self._in_flight

    async def anew(self) -> "RemoteReader":
        """See StoreReader: every request names the bucket, so nothing was opened that could be another one by now."""
        return self

    async def list_level(self, prefix: str) -> Listing:
        """See StoreReader."""
        name = self._place.prefix(prefix)
        listing = await self._ask(prefix, "list", lambda: self._list(name))
        if not listing.objects and not listing.prefixes:
            await self._believe_empty(prefix)
        return listing

    async def read_part(self, key: str, *, start: int, length: int) -> Part:
        """See StoreReader."""
        name = self._place.key(key)
        return await self._ask(key, "read", lambda: self._read(name, start, length))

    async def read_start(self, key: str, *, length: int) -> bytes:
        """See StoreReader."""
        name = self._place.key(key)
        return await self._ask(key, "read", lambda: self._read_start(name, length))

    async def _list(self, name: str) -> Listing:
        answer = await obstore.list_with_delimiter_async(self._client.single, name or None)
        objects = (seen(self._place, meta) for meta in answer["objects"] if meta["path"] != name)
        prefixes = (self._place.without_path(found) for found in answer["common_prefixes"])
        return Listing(tuple(objects), tuple(prefixes))

    async def _read(self, name: str, start: int, length: int) -> Part:
        if not self._knows_ranges:
            return await self._read_through(name, start, length)
        try:
            answer = await obstore.get_async(self._client.single, name, options={"range": (start, start + length)})
        except BaseError as error:
            text = str(error)
            if _NOT_A_PART in text:
                self._knows_ranges = False
            elif _NO_SUCH_BYTES not in text:
                raise
            # Asked for whole, an empty object says so, and a store that knows no ranges sends it from the beginning.
            return await self._read_through(name, start, length)
        return self._part(bytes(await answer.bytes_async()), answer.meta, start, length)

    async def _read_start(self, name: str, length: int) -> bytes:
        """One step of the library where `_read` needs two: each has to be handed over to the event loop."""
        if self._knows_ranges:
            try:
                return bytes(await obstore.get_range_async(self._client.single, name, start=0, length=length))
            except BaseError as error:
                text = str(error)
                if _NOT_A_PART not in text and _NO_SUCH_BYTES not in text:
                    raise
        return (await self._read(name, 0, length)).body

    async def _read_through(self, name: str, start: int, length: int) -> Part:
        """The same bytes out of the whole object, of which the rest is not waited for."""
        answer = await obstore.get_async(self._client.single, name)
        if start > _FARTHEST:
            raise DamagedMetadata(f"{name} has {answer.meta['size']} bytes, and its store cannot send its end alone")
        body, position = bytearray(), 0
        async for chunk in answer.stream(min_chunk_size=64 * 1024):
            piece = bytes(chunk)
            body += piece[max(0, start - position) :]
            position += len(piece)
            if len(body) >= length:
                break
        return self._part(bytes(body[:length]), answer.meta, start, length)

    def _part(self, body: bytes, meta: "obstore.ObjectMeta", start: int, length: int) -> Part:
        info = seen(self._place, meta)
        if len(body) != max(0, min(length, info.size - start)):
            raise StoreUnavailable(f"{info.key} came with {len(body)} bytes of {length} from {self._place}")
        return Part(body, info)

    async def _believe_empty(self, prefix: str) -> None:
        """As for every store: an empty listing counts only from one that can say "not found"."""
        try:
            await self.read_part(f"{prefix}/{_NOBODY}" if prefix else _NOBODY, start=0, length=1)
        except NotFound:
            return
        except DamagedMetadata:
            pass
        raise StoreUnavailable(f"{self._place} answers, but not as a store does; check the endpoint and the URL")

    async def _ask(self, key: str, verb: str, question: Callable[[], Awaitable[T]]) -> T:
        backoff = Backoff(self._patience, self._random)
        while True:
            try:
                async with self._turns.take():
                    try:
                        return await question()
                    except (BaseError, OSError, ValueError) as error:
                        raise translation(error, self._place, key, verb) from None
            except StoreUnavailable as error:
                delay = backoff.after(error)
                if delay is None:
                    raise
            await self._pause(delay)


class _Turns:
    """As objects.pacing.PacedObjects, for one event loop: whoever waits is woken in the order of asking."""

    def __init__(self, most: int) -> None:
        self._limit = InFlightLimit(most)
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        if self._waiting or self._under_way >= self._limit.value:
            await self._wait()
        else:
            self._under_way += 1
        try:
            yield
        except StoreBusy:
            self._limit.was_too_much()
            raise
        else:
            self._limit.went_well()
        finally:
            self._give_back()

    async def _wait(self) -> None:
        """Returns with a turn, which whoever gave it has counted: so nobody is woken for a turn that is taken."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back()
            raise

    def _give_back(self) -> None:
        self._under_way -= 1
        while self._waiting and self._under_way < self._limit.value:
            turn = self._waiting.popleft()
            if not turn.done():
                self._under_way += 1
                turn.set_result(None)

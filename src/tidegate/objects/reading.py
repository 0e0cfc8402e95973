"""Looking at a store that is a directory, a share or memory: each question in a thread of its own, few at a time.

A share whose server is gone lets a thread hang for ever. So no more than a few can hang, nobody waits for them at the
end, and whoever asks meanwhile is told that the store does not answer (longhorn#12896: reads that piled up took all
memory of a node).
"""

import asyncio
import contextlib
import errno
import threading
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from tidegate.errors import DamagedMetadata, StoreUnavailable
from tidegate.ports.object_store import Listing, ObjectInfo
from tidegate.ports.store_reader import Part

T = TypeVar("T")
_ANSWER_SECONDS = 60.0
# A link, a pipe, a file in place of a directory: the store did answer, and will not say anything else the next time.
_NOT_WHAT_IT_SHOULD_BE = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ESPIPE, errno.ENXIO})


class ReadsParts(Protocol):
    """What is asked of the store itself."""

    @property
    def requests_in_flight(self) -> int:
        """See ObjectStore."""
        ...

    def list_level(self, prefix: str) -> Listing:
        """See ObjectStore."""
        ...

    def get_part(self, key: str, *, start: int, length: int) -> tuple[bytes, ObjectInfo]:
        """At most `length` bytes from `start`, and what there is to know of the object they are from."""
        ...


class ThreadedReader:
    """Keeps the StoreReader's promise. Holds two methods of the store and nothing that could change it."""

    def __init__(
        self,
        store: ReadsParts,
        *,
        reopen: Callable[[], ReadsParts] | None = None,
        answer_seconds: float = _ANSWER_SECONDS,
    ) -> None:
        self._list_level = store.list_level
        self._get_part = store.get_part
        self._reopen = reopen or (lambda: store)
        self._in_flight = store.requests_in_flight
        self._answer_seconds = answer_seconds
        self._free = threading.BoundedSemaphore(self._in_flight)
        self._turns = asyncio.Semaphore(self._in_flight)

    @property
    def requests_in_flight(self) -> int:
        """See StoreReader."""
        return self._in_flight

    async def anew(self) -> "ThreadedReader":
        """See StoreReader. What still hangs counts for all of them."""
        store = await self._ask("its root", self._reopen)
        reader = ThreadedReader(store, reopen=self._reopen, answer_seconds=self._answer_seconds)
        reader._in_flight, reader._free, reader._turns = self._in_flight, self._free, self._turns
        return reader

    async def list_level(self, prefix: str) -> Listing:
        """See StoreReader."""
        with _oddities_told():
            return await self._ask(prefix, lambda: self._list_level(prefix))

    async def read_part(self, key: str, *, start: int, length: int) -> Part:
        """See StoreReader."""
        with _oddities_told():
            body, info = await self._ask(key, lambda: self._get_part(key, start=start, length=length))
        return Part(body, info)

    async def read_start(self, key: str, *, length: int) -> bytes:
        """See StoreReader."""
        return (await self.read_part(key, start=0, length=length)).body

    async def _ask(self, key: str, question: Callable[[], T]) -> T:
        async with self._turns:
            if not self._free.acquire(blocking=False):
                raise StoreUnavailable(f"earlier questions about this store still hang; {key} was not asked for")
            answer = _in_thread(question, done=self._free.release)
            try:
                async with asyncio.timeout(self._answer_seconds):
                    return await asyncio.shield(answer)
            except TimeoutError:
                raise StoreUnavailable(
                    f"there was no answer about {key} within {self._answer_seconds:g} seconds",
                    hint="if it is a mounted share, look whether its server answers",
                ) from None


@contextlib.contextmanager
def _oddities_told() -> Iterator[None]:
    try:
        yield
    except StoreUnavailable as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in _NOT_WHAT_IT_SHOULD_BE:
            raise DamagedMetadata(error.message, hint=error.hint) from error
        raise


def _in_thread(question: Callable[[], T], *, done: Callable[[], None]) -> "asyncio.Future[T]":
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def tell(answer: T | None, error: BaseException | None) -> None:
        done()
        if outcome.cancelled():
            return
        if error is None:
            outcome.set_result(answer)  # type: ignore[arg-type]  # without an error there is an answer
        else:
            outcome.set_exception(error)
            outcome.exception()  # seen: whoever asked may have given up waiting

    def run() -> None:
        answer, error = None, None
        try:
            answer = question()
        except Exception as raised:  # noqa: BLE001  # raised again where it is awaited
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(tell, answer, error)

    threading.Thread(target=run, daemon=True, name="look at a store").start()
    return outcome

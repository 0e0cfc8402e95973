"""Many questions under way, none too many waiting, and an end when the store has stopped answering."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tidegate.errors import NotFound, StoreUnavailable, TidegateError, Unauthenticated

T = TypeVar("T")
# In a row, over all that is asked: with each of them asked again already, the store is down and not one object.
_MOST_FAILURES = 8


class Flow:
    """Bounds how many questions exist at once, so that a million of them need no memory while they wait."""

    def __init__(self, most: int) -> None:
        self._room = asyncio.Semaphore(most)
        self._failures = 0
        self._refusals = 0
        # More than can be under way when somebody notices that one volume may not be read.
        self._most_refusals = 2 * most

    async def begin(self, question: Callable[[], Coroutine[Any, Any, T]]) -> "asyncio.Task[T]":
        """Returns once there is room for it; the answer comes with the task."""
        await self._room.acquire()
        task = asyncio.create_task(self._counted(question))
        task.add_done_callback(lambda _: self._room.release())
        return task

    async def ask(self, question: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The answer itself."""
        return await (await self.begin(question))

    def ends_all(self, error: TidegateError) -> bool:
        """Whether an error about one object means that asking for others is of no use: it would only be a storm."""
        if isinstance(error, Unauthenticated):
            return self._refusals >= self._most_refusals
        return self._failures >= _MOST_FAILURES

    async def _counted(self, question: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._failures >= _MOST_FAILURES:
            raise StoreUnavailable("the store has stopped answering; the sync was ended")
        if self._refusals >= self._most_refusals:
            raise Unauthenticated("the store has begun to refuse everything; the sync was ended")
        try:
            found = await question()
        except StoreUnavailable as error:
            self._failures += 1
            if self._failures < _MOST_FAILURES:
                raise
            raise StoreUnavailable(f"no answer {self._failures} times in a row ended the sync: {error}") from error
        except Unauthenticated:  # an answer, but one that may be about this object alone
            self._failures = 0
            self._refusals += 1
            raise
        except NotFound:
            self._failures = self._refusals = 0
            raise
        self._failures = self._refusals = 0
        return found

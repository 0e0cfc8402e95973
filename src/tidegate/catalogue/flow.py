"""Many questions under way, none too many waiting, and an end when the store has stopped answering."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from tidegate.errors import NotFound, StoreUnavailable, TidegateError, Unauthenticated

T = TypeVar("T")
# In a row, over all that is asked: with each of them asked again already, the store is down and not one object.
_MOST_FAILURES = 8


class StoreGaveUp(StoreUnavailable):
    """Too many questions in a row without an answer: asking the others too would only be a storm."""


class Flow:
    """Bounds how many questions exist at once, so that a million of them need no memory while they wait."""

    def __init__(self, most: int) -> None:
        self._room = asyncio.Semaphore(most)
        self._failures = 0

    async def begin(self, question: Callable[[], Coroutine[Any, Any, T]]) -> "asyncio.Task[T]":
        """Returns once there is room for it; the answer comes with the task."""
        await self._room.acquire()
        task = asyncio.create_task(self._counted(question()))
        task.add_done_callback(lambda _: self._room.release())
        return task

    async def ask(self, question: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The answer itself."""
        return await (await self.begin(question))

    async def _counted(self, answer: Awaitable[T]) -> T:
        if self._failures >= _MOST_FAILURES:
            if asyncio.iscoroutine(answer):
                answer.close()
            raise StoreGaveUp(f"the store did not answer {self._failures} times in a row; the sync was ended")
        try:
            found = await answer
        except StoreUnavailable:
            self._failures += 1
            raise
        except NotFound:
            self._failures = 0
            raise
        self._failures = 0
        return found


def ends_all(error: TidegateError) -> bool:
    """Whether an error about one object means that asking for others is of no use."""
    return isinstance(error, (StoreGaveUp, Unauthenticated))

"""A store whose answers and news take their time, and may arrive in either order."""

import asyncio
from collections.abc import AsyncIterator

from tidegate.ports.resource_store import Event, R
from tidegate.resources.memory import MemoryStore


class LateStore(MemoryStore):
    """Resources in memory. A write is done at once; who asked for it, and who watches, hear of it turns later."""

    answers_after = 0
    news_after = 0

    async def update_status(self, resource: R) -> R:
        """See ResourceStore."""
        answer = await super().update_status(resource)
        await _turns(self.answers_after)
        return answer

    async def watch(self, kind: type[R], *, since: str) -> AsyncIterator[Event]:
        """See ResourceStore."""
        async for event in super().watch(kind, since=since):
            await _turns(self.news_after)
            yield event


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)

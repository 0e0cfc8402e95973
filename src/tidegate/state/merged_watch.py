"""One stream of changes from the watches of several kinds."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass

from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Event, ResourceStore

# A reader that falls further behind holds up its watches, whose store then lets them expire.
_MOST_WAITING = 64


@dataclass(frozen=True)
class _Ended:
    """The watch of one kind is over."""

    error: Exception | None


async def versions_now(store: ResourceStore, kinds: Iterable[type[Resource]]) -> dict[type[Resource], str]:
    """Where to watch each kind from, so that nothing after now is missed."""
    return {kind: (await store.list(kind, limit=1)).resource_version for kind in kinds}


async def watch_kinds(store: ResourceStore, since: Mapping[type[Resource], str]) -> AsyncIterator[Event]:
    """Every change of each kind behind its own version: in order within a kind, in any order between kinds.

    Raises what the first watch that fails raises. Ends when all have ended.
    """
    changes: asyncio.Queue[Event | _Ended] = asyncio.Queue(_MOST_WAITING)

    async def follow(kind: type[Resource], version: str) -> None:
        error = None
        try:
            async for event in store.watch(kind, since=version):
                await changes.put(event)
        except Exception as failure:  # noqa: BLE001  # the reader raises it
            error = failure
        await changes.put(_Ended(error))

    tasks = [asyncio.create_task(follow(kind, version)) for kind, version in since.items()]
    watching = len(tasks)
    try:
        while watching:
            match await changes.get():
                case _Ended(error):
                    if error is not None:
                        raise error
                    watching -= 1
                case event:
                    yield event
    finally:
        for task in tasks:
            task.cancel()

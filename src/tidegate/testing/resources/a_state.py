"""What a server knows, over a store that a test made."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.state.server_state import ServerState


def a_state(store: ResourceStore, clock: Clock) -> ServerState:
    """Not started; a Runtime starts it."""
    return ServerState(store, clock, Random(1))  # noqa: S311  # jitter, not secrets


@asynccontextmanager
async def running_state(store: ResourceStore, clock: Clock) -> AsyncIterator[ServerState]:
    """It watches for as long as the block lasts, and has listed everything when that begins."""
    state = a_state(store, clock)
    state.start()
    await state.until_listed()
    try:
        yield state
    finally:
        await state.stop()

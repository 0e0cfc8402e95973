"""Every store that promises to be a ResourceStore. Another one is another parameter."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tidegate.ports.resource_store import ResourceStore
from tidegate.resources.memory import MemoryStore
from tidegate.resources.paged import PagedStore
from tidegate.resources.sqlite import SqliteStore
from tidegate.state.cached_store import CachedStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.a_state import running_state
from tidegate.testing.resources.counting_store import CountingStore
from tidegate.testing.resources.crashing_store import CrashingStore
from tidegate.testing.resources.late_store import LateStore
from tidegate.testing.resources.observed_store import ObservedStore
from tidegate.testing.resources.small_store import SmallStore

KEPT_EVENTS = 1024


@asynccontextmanager
async def memory(kind: type[MemoryStore], _path: Path) -> AsyncIterator[ResourceStore]:
    store = kind(clock=ManualClock(), new_id=counting_ids(), kept_events=KEPT_EVENTS)
    yield store
    await store.close()


@asynccontextmanager
async def sqlite(kind: type[SqliteStore], path: Path) -> AsyncIterator[ResourceStore]:
    store = await kind.open(path / "state.db", clock=ManualClock(), new_id=counting_ids(), kept_events=KEPT_EVENTS)
    yield store
    await store.close()


@asynccontextmanager
async def not_crashing(_kind: type[CrashingStore], path: Path) -> AsyncIterator[ResourceStore]:
    async with memory(MemoryStore, path) as inner:
        yield CrashingStore(inner, writes_left=sys.maxsize)


@asynccontextmanager
async def in_pages(kind: type[PagedStore], path: Path) -> AsyncIterator[ResourceStore]:
    async with memory(MemoryStore, path) as inner:
        yield kind(inner)


@asynccontextmanager
async def cached(_kind: type[CachedStore], path: Path) -> AsyncIterator[ResourceStore]:
    async with memory(MemoryStore, path) as behind, running_state(behind, ManualClock()) as state:
        yield state.store


IMPLEMENTATIONS: dict[type[ResourceStore], Any] = {
    MemoryStore: memory,
    SqliteStore: sqlite,
    PagedStore: in_pages,
    CachedStore: cached,
    CountingStore: memory,
    CrashingStore: not_crashing,
    LateStore: memory,
    ObservedStore: memory,
    SmallStore: memory,
}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ResourceStore]:
    async with IMPLEMENTATIONS[request.param](request.param, tmp_path) as opened:
        yield opened


@pytest.fixture
def more_than_is_kept() -> int:
    """How many changes make every store forget the ones before them."""
    return KEPT_EVENTS + 1

"""Every store that promises to be a ResourceStore. Another one is another parameter."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tidegate.ports.resource_store import ResourceStore
from tidegate.resources.memory import MemoryStore
from tidegate.resources.paged import PagedStore
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids

KEPT_EVENTS = 1024


@pytest.fixture(params=["memory", "sqlite", "pages"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ResourceStore]:
    clock, new_id = ManualClock(), counting_ids()
    opened: MemoryStore | SqliteStore
    if request.param == "sqlite":
        opened = await SqliteStore.open(tmp_path / "state.db", clock=clock, new_id=new_id, kept_events=KEPT_EVENTS)
    else:
        opened = MemoryStore(clock=clock, new_id=new_id, kept_events=KEPT_EVENTS)
    yield PagedStore(opened) if request.param == "pages" else opened
    await opened.close()


@pytest.fixture
def more_than_is_kept() -> int:
    """How many changes make every store forget the ones before them."""
    return KEPT_EVENTS + 1

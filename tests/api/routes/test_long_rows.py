"""Rows that are stored in pages: clients see them where they always were, and never the pages."""

import asyncio
import json
from dataclasses import replace

import pytest

from tidegate.api.event_position import start_of
from tidegate.api.routes.events import _stream
from tidegate.model.resource import Metadata
from tidegate.model.row_page import RowPage
from tidegate.model.system.system_restore import DefinitionAction, RestoredDefinition, SystemRestore, SystemRestoreSpec
from tidegate.resources.memory import MemoryStore
from tidegate.resources.paged import PagedStore
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.a_state import running_state
from tidegate.testing.resources.put import put

ROWS = tuple(
    RestoredDefinition(kind="Volume", name=f"shop/volume-{number}", action=DefinitionAction.CREATE)
    for number in range(1_000)
)
SHOWN = [row.to_wire() for row in ROWS]


@pytest.fixture
def inner():
    return MemoryStore(clock=ManualClock(), new_id=counting_ids())


@pytest.fixture
async def services(services, inner):
    async with running_state(PagedStore(inner), services.clock) as state:
        yield replace(services, state=state)


@pytest.fixture
async def long(services, inner):
    system = SystemRestore(metadata=Metadata(name="back"), spec=SystemRestoreSpec(system_backup="weekly"))
    stored = await put(services.store, system.with_status(definitions=ROWS, failure_reason="so far"))
    await settle()
    assert (await inner.list(RowPage)).items
    return stored


async def test_one_and_all_are_shown_with_their_rows(api, long):
    one = (await api.get(f"/v1/systemrestores/{long.name}")).json()
    (listed,) = (await api.get("/v1/systemrestores")).json()["data"]

    assert one["status"]["definitions"] == listed["status"]["definitions"] == SHOWN
    assert "rowPages" not in one["status"]
    assert "rowPages" not in listed["status"]


async def test_a_change_of_one_row_is_news_of_the_resource(services, long):
    stream = _stream(services, await start_of(services.store, [SystemRestore], long.metadata.resource_version))
    await anext(stream)
    coming = asyncio.create_task(anext(stream))

    changed = long.with_status(definitions=(ROWS[0].replace(done=True), *ROWS[1:]))
    await services.store.update_status(changed)

    lines = dict(line.split(": ", 1) for line in (await coming).decode().strip().splitlines())
    status = json.loads(lines["data"])["status"]
    assert (lines["event"], status["definitions"]) == ("MODIFIED", [{**SHOWN[0], "done": True}, *SHOWN[1:]])
    assert "rowPages" not in status
    await stream.aclose()


async def test_pages_are_no_collection_and_no_kind_to_watch(api, long):
    assert (await api.get("/v1/rowpages")).status_code == 404
    assert (await api.get("/v1/events", params={"kinds": "rowpages"})).status_code == 422

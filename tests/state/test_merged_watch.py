"""watch_kinds: the watches of several kinds as one stream."""

import asyncio

import pytest

from tidegate.errors import WatchExpired
from tidegate.model.backups.backup import Backup
from tidegate.model.setting import Setting
from tidegate.model.volumes.volume import Volume
from tidegate.resources.event_log import KEPT_EVENTS
from tidegate.resources.memory import MemoryStore
from tidegate.state.merged_watch import watch_kinds
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.resources import a_backup, a_setting, a_volume, beginning


def a_store(kept_events: int = KEPT_EVENTS) -> MemoryStore:
    return MemoryStore(clock=ManualClock(), new_id=counting_ids(), kept_events=kept_events)


async def names(store: MemoryStore, since: dict, count: int) -> list[str]:
    events = watch_kinds(store, since)
    return [(await anext(events)).resource.name for _ in range(count)]


async def test_each_kind_goes_on_behind_its_own_version() -> None:
    store = a_store()
    first = await store.create(a_backup("first"))
    now = (await store.list(Volume)).resource_version
    await store.create(a_backup("second"))
    await store.create(a_setting("unwatched"))
    await store.create(a_volume("v"))

    seen = await names(store, {Backup: first.metadata.resource_version, Volume: now}, 2)

    assert sorted(seen) == ["second", "v"]


async def test_the_reader_hears_of_a_watch_that_expires() -> None:
    store = a_store(kept_events=2)
    since = beginning(Backup, Setting)
    for number in range(5):
        await store.create(a_setting(f"s{number}"))

    with pytest.raises(WatchExpired):
        await names(store, since, 1)


async def test_a_stream_ends_with_its_store_and_leaves_no_task_behind() -> None:
    store = a_store()
    before = asyncio.all_tasks()
    await store.create(a_backup("b"))
    await store.close()

    seen = [event.resource.name async for event in watch_kinds(store, beginning(Backup, Volume))]

    await asyncio.sleep(0)
    assert (seen, asyncio.all_tasks() - before) == (["b"], set())

"""The runtime: every resource announced, failures backed off, one bad reconciler never stops another."""

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

import pytest

from tidegate.controllers.queue.backup_queue import BackupQueue
from tidegate.controllers.reconcile.reconciler import Next, Watch, always, owners
from tidegate.controllers.runtime import Runtime
from tidegate.errors import DamagedMetadata, StaleVersion, StoreUnavailable
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Ref
from tidegate.model.restores.restore import Restore
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.volumes.volume import Volume
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.a_state import a_state
from tidegate.testing.resources.builders import a_backup, a_restore, a_schedule, a_transfer
from tidegate.testing.resources.put import put


@dataclass
class Recorder:
    """Notes the keys it is given; does what the test says."""

    name: str = "recorder"
    workers: int = 2
    watches: tuple = (Watch(Backup),)
    seen: list = field(default_factory=list)
    failures: list = field(default_factory=list)
    answer: Next = field(default_factory=Next.done)

    async def reconcile(self, key):
        self.seen.append(key.name)
        if self.failures:
            raise self.failures.pop(0)
        return self.answer


class ShakyStore(MemoryStore):
    """Cannot be listed until the test says so."""

    listable = False

    async def list(self, *args, **options):
        if not self.listable:
            raise StoreUnavailable("no answer")
        return await super().list(*args, **options)


@pytest.fixture
async def start():
    running = []

    async def begin(*reconcilers, store=None, clock=None, **options):
        clock = clock or ManualClock()
        store = store or MemoryStore(clock=clock, new_id=counting_ids())
        runtime = Runtime(a_state(store, clock), clock, Random(1), reconcilers, **options)
        running.append(runtime)
        runtime.start()
        await settle(50)
        return store, clock

    yield begin
    for runtime in running:
        await runtime.stop()


class Deaf(Recorder):
    """Is cancelled and goes on, as something that it calls may."""

    async def reconcile(self, key):
        self.seen.append(key.name)
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return Next.done()


async def test_a_stop_ends_also_where_a_reconciler_loses_its_cancel():
    clock, deaf = ManualClock(), Deaf()
    store = MemoryStore(clock=clock, new_id=counting_ids())
    await store.create(a_backup("first"))
    runtime = Runtime(a_state(store, clock), clock, Random(1), [deaf])
    runtime.start()
    await settle(50)
    assert deaf.seen == ["first"]

    async with asyncio.timeout(30):
        await runtime.stop()


async def test_what_exists_at_the_start_is_announced_and_so_is_every_change():
    clock, recorder = ManualClock(), Recorder()
    store = MemoryStore(clock=clock, new_id=counting_ids())
    first = await store.create(a_backup("first"))
    runtime = Runtime(a_state(store, clock), clock, Random(1), [recorder])
    runtime.start()
    await settle(50)
    await store.create(a_backup("second"))
    await store.update_status(first.with_status(errors=1))
    await settle(50)
    await runtime.stop()

    assert recorder.seen == ["first", "second", "first"]


async def test_a_reconciler_that_raises_is_tried_again_and_does_not_stop_the_other(start):
    broken, sound = Recorder(name="broken", failures=[RuntimeError("bug")] * 3), Recorder(name="sound")
    store, clock = await start(broken, sound)
    await store.create(a_backup("b"))
    await settle(50)
    assert (broken.seen, sound.seen) == (["b"], ["b"])

    await clock.advance(timedelta(seconds=5))

    assert broken.seen == ["b"] * 4


async def test_a_stale_version_means_look_again(start):
    recorder = Recorder(failures=[StaleVersion("somebody was faster")])
    store, clock = await start(recorder)
    await store.create(a_backup("b"))
    await settle(50)

    await clock.advance(timedelta(seconds=1))

    assert recorder.seen == ["b", "b"]


async def test_a_failed_list_is_never_taken_for_an_empty_one():
    clock, recorder = ManualClock(), Recorder()
    store = ShakyStore(clock=clock, new_id=counting_ids())
    await store.create(a_backup("b"))
    runtime = Runtime(a_state(store, clock), clock, Random(1), [recorder])
    runtime.start()
    await settle(50)
    assert recorder.seen == []

    store.listable = True
    await clock.advance(timedelta(seconds=1))
    await runtime.stop()

    assert recorder.seen == ["b"]


async def test_a_watcher_that_fell_behind_lists_again_and_misses_nothing(start):
    clock, recorder = ManualClock(), Recorder()
    store = MemoryStore(clock=clock, new_id=counting_ids(), kept_events=2)
    await start(recorder, store=store, clock=clock)
    for number in range(10):  # more changes than are kept, without a turn for the watcher in between
        await store.create(a_backup(f"b{number}"))
    await settle(50)

    await clock.advance(timedelta(seconds=1))

    assert sorted(set(recorder.seen)) == [f"b{number}" for number in range(10)]


async def test_everything_is_announced_again_at_each_resync(start):
    recorder = Recorder()
    store, clock = await start(recorder, resync=timedelta(minutes=10))
    await store.create(a_backup("b"))
    await settle(50)

    await clock.advance(timedelta(minutes=10))

    assert recorder.seen == ["b", "b"]


async def test_a_key_can_ask_to_be_looked_at_later(start):
    recorder = Recorder(answer=Next.after(timedelta(seconds=30)))
    store, clock = await start(recorder)
    await store.create(a_backup("b"))
    await settle(50)

    await clock.advance(timedelta(seconds=29))
    assert recorder.seen == ["b"]
    await clock.advance(timedelta(seconds=1))

    assert recorder.seen == ["b", "b"]


def test_a_change_of_a_dependent_concerns_its_owner_of_that_kind_only():
    transfer = a_transfer("t", owner="b")

    assert list(owners("Backup")(transfer)) == [Ref("Backup", "b")]
    assert list(owners("Restore")(transfer)) == []
    assert list(always(Ref("X", "x"))(transfer)) == [Ref("X", "x")]


async def test_what_a_scrape_tells_is_kept_by_the_watch_and_is_what_is_stored(world):
    world.movers.obliging = True
    await world.volumes("shop/db", "blog/posts")
    await world.store.create(a_backup("b", "shop"))
    await world.settle()
    await put(world.store, a_restore("r", "shop"))
    await world.settle()
    await world.store.delete(Ref("Restore", "r"))
    await put(world.store, a_restore("s", "shop"))
    await world.settle()

    (volume, ended), *others = world.runtime.state.scrape_figures.last_backups()
    assert (volume, others) == (Ref("Volume", "db", "shop"), [])
    assert ended == (await world.store.get(Volume, "db", "shop")).status.last_backup_at
    before = world.runtime.state.scrape_figures
    assert before.restore_phases() == Counter(one.status.phase for one in await world.all(Restore))

    await world.restart()
    after = world.runtime.state.scrape_figures
    assert (after.last_backups(), after.restore_phases()) == (before.last_backups(), before.restore_phases())


class PartlyDamagedStore(MemoryStore):
    """One kind cannot be read, because one of its rows is damaged."""

    damaged = Volume

    async def list(self, kind, **options):
        if kind is self.damaged:
            raise DamagedMetadata("Volume 'shop/db' is damaged in the server's database")
        return await super().list(kind, **options)


async def test_a_damaged_resource_does_not_stop_the_work_on_other_kinds():
    clock, recorder = ManualClock(), Recorder(watches=(Watch(Backup), Watch(Volume), Watch(Schedule)))
    store = PartlyDamagedStore(clock=clock, new_id=counting_ids())
    await store.create(a_backup("b"))
    await store.create(a_schedule("nightly", "0 3 * * *"))
    runtime = Runtime(a_state(store, clock), clock, Random(1), [recorder])
    runtime.start()
    await settle(50)
    await runtime.stop()

    assert sorted(recorder.seen) == ["b", "nightly"]


@pytest.mark.parametrize("damaged", [Backup, Restore])
async def test_without_all_backups_and_restores_nothing_is_planned(damaged):
    clock = ManualClock()
    store = PartlyDamagedStore(clock=clock, new_id=counting_ids())
    store.damaged = damaged
    await store.create(a_backup("b"))
    state = a_state(store, clock)
    runtime = Runtime(state, clock, Random(1), [BackupQueue(state, clock, asyncio.Lock())])
    runtime.start()
    await settle(50)
    await runtime.stop()

    assert str((await store.get(Backup, "b")).status.phase) == "New"

"""The restore limit over a store: the label tells the line, the limit holds at every moment, a free slot is used."""

import asyncio
from collections import Counter

import pytest

from controllers.gate_world import GateWorld, Onlooker, P, asked_for, gates_over  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.app.machine.clock import SystemClock
from tidegate.app.wiring import build_work
from tidegate.decide.transfers.restore_limit import ASKED_ANNOTATION, IN_PROGRESS
from tidegate.model.resource import Metadata
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.transfers.transfer import DataDownload, PodVolumeRestore
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.clock import BEGINNING
from tidegate.testing.doubles.movers import FakeMovers
from tidegate.testing.doubles.platform import a_platform
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_node, a_target
from tidegate.testing.resources.crashing_store import CrashingStore
from tidegate.testing.resources.put import put

WIDE = '{"globalConfig": 50}'


@pytest.fixture
async def world():
    """In none of these tests does any time pass: a free slot is used by the very next pass, no timer in between."""
    async with gates_over(load_concurrency=WIDE, concurrent_backup_restore_limit=2) as world:
        yield world
        assert world.clock.now() == BEGINNING


async def test_the_label_tells_the_line_the_slot_and_the_end(world):
    await world.restores("a", "b", "c", "d")
    assert [await world.label(name) for name in "abcd"] == [IN_PROGRESS, IN_PROGRESS, "3", "4"]
    assert await world.why("d") == "RestoreLimit 2/2, position 2"
    assert (await world.now("a")).metadata.annotations[ASKED_ANNOTATION] == "1"

    await world.step("a", P.COMPLETED)

    assert [await world.label(name) for name in "abcd"] == [None, IN_PROGRESS, IN_PROGRESS, "4"]
    assert await world.why("d") == "RestoreLimit 2/2, position 1"


async def test_the_lowest_label_goes_first_whatever_came_first(world):
    await world.setting("concurrent-backup-restore-limit", 1)
    for name, label in [("runs", 1), ("late", 30), ("early", 10), ("middle", 20)]:
        await world.ask(name, kind=PodVolumeRestore, label=label)
    for finished, next_one in [("runs", "early"), ("early", "middle"), ("middle", "late")]:
        await world.step(finished, P.FAILED)
        assert await world.in_progress() == [next_one]


async def test_a_download_that_came_without_a_label_gets_the_time_when_it_was_created(world):
    await world.restores("a", "b")
    await world.ask("c", kind=DataDownload)

    assert await world.label("c") == str(int(BEGINNING.timestamp()) * 10**9)


async def test_the_pass_that_sees_an_end_gives_the_slot_to_the_next_one(world):
    await world.restores("a", "b", "c")
    passes = Counter()
    reconcile = world.gates.reconcile

    async def counted(key):
        passes["all"] += 1
        return await reconcile(key)

    world.gates.reconcile = counted
    await world.step("a", P.COMPLETED)

    assert await world.in_progress() == ["b", "c"]
    assert passes["all"] == 1


async def test_a_higher_limit_starts_more_at_once_and_a_lower_one_lets_the_running_ones_finish(world):
    await world.restores(*"abcdef")
    await world.setting("concurrent-backup-restore-limit", 4)
    assert await world.in_progress() == ["a", "b", "c", "d"]

    await world.setting("concurrent-backup-restore-limit", 1)
    assert await world.in_progress() == ["a", "b", "c", "d"]
    assert await world.why("e") == "RestoreLimit 4/1, position 1"

    for name in "abc":
        await world.step(name, P.COMPLETED)
        assert "e" not in await world.in_progress()
    await world.step("d", P.COMPLETED)
    assert await world.in_progress() == ["e"]


async def test_zero_pauses_all_restores_and_each_says_so(world):
    await world.setting("concurrent-backup-restore-limit", 0)
    await world.restores("a", "b")
    assert await world.in_progress() == []
    paused = "RestoresDisabled restores are paused: concurrent-backup-restore-limit is 0"
    assert [await world.why(name) for name in "ab"] == [paused, paused]

    await world.setting("concurrent-backup-restore-limit", 2)
    assert await world.in_progress() == ["a", "b"]


async def test_each_node_has_a_limit_of_its_own_where_one_is_set(world):
    await world.setting("concurrent-backup-restore-per-node-limit", 1)
    await world.restores("a", "b")
    assert await world.in_progress() == ["a"]
    assert await world.why("b") == "RestoreLimit every node 1/1, position 1"

    await put(world.store, a_node("node-b"))
    await world.settle()
    assert (await world.now("b")).status.node == "node-b"


async def test_cancelling_one_that_waits_or_runs_clears_its_label(world):
    await world.restores("a", "b", "c", "d")
    await world.step("c", P.CANCELED)
    await world.step("a", P.CANCELED)

    assert [await world.label(name) for name in "abcd"] == [None, IN_PROGRESS, None, IN_PROGRESS]


@pytest.mark.parametrize("writes", range(12))
async def test_killed_between_any_two_writes_the_limit_and_the_order_hold(writes):
    world = GateWorld()
    await put(world.store, a_node("node-a"))
    await world.setting("concurrent-backup-restore-limit", 1)
    onlooker = Onlooker(world.store)
    names = ["a", "b", "c"]
    async with onlooker.looking():
        for number, name in enumerate(names, start=1):
            await world.store.create(asked_for(name, label=number))
        world.begin(CrashingStore(world.store, writes))
        await world.start()
        await world.runtime.stop()
        world.begin()
        await world.start()
        for name in names:
            assert await world.in_progress() == [name]
            await world.step(name, P.COMPLETED)
        await world.runtime.stop()

    assert (onlooker.most, onlooker.seen) == (1, names)


async def test_a_restart_with_three_in_progress_and_fifty_waiting_keeps_order_and_limit():
    """What was in progress begins anew as New and keeps its label: its slot stays its own, and nobody passes it."""
    world = GateWorld()
    await put(world.store, a_node("node-a"))
    await world.setting("load-concurrency", WIDE)
    await world.setting("concurrent-backup-restore-limit", 3)
    names = [f"r{number:02}" for number in range(53)]
    for number, name in enumerate(names, start=1):
        await put(world.store, asked_for(name, label=IN_PROGRESS if number <= 3 else number))
    onlooker = Onlooker(world.store)
    onlooker.holding = set(names[:3])
    async with onlooker.looking():
        await world.start()
        for name in names:
            assert (await world.in_progress())[0] == name
            await world.step(name, P.COMPLETED)
        await world.runtime.stop()

    assert (onlooker.most, onlooker.seen) == (3, names[3:])


CLIENTS, EACH, LIMIT = 20, 10, 3


async def test_longhorn_4558_two_hundred_restores_of_twenty_clients_never_exceed_three(tmp_path):
    """On a real database, with all controllers: sampled at every stored version."""
    clock, movers = SystemClock(), FakeMovers(obliging=True)
    store = await SqliteStore.open(tmp_path / "db", clock=clock, new_id=counting_ids())
    await store.create(a_target("store"))
    await put(store, a_node("node-a"))
    for name, value in [("concurrent-backup-restore-limit", LIMIT), ("load-concurrency", WIDE)]:
        await store.create(Setting(metadata=Metadata(name=name), spec=SettingSpec(value=str(value))))
    work = build_work(a_platform(store, clock, movers=movers))
    runtime, supervisor = work.runtime, work.movers
    onlooker = Onlooker(store)

    async def client(number):
        for nth in range(EACH):
            await store.create(asked_for(f"c{number:02}-{nth}", kind=(DataDownload, PodVolumeRestore)[nth % 2]))

    async with onlooker.looking(expected=CLIENTS * EACH):
        runtime.start()
        await asyncio.gather(*map(client, range(CLIENTS)))
        await onlooker.all_over()
    await runtime.stop()
    await supervisor.close()
    await store.close()

    assert onlooker.most == LIMIT
    assert len(onlooker.seen) == len(movers.started) == CLIENTS * EACH

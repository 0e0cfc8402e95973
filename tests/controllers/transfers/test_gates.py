"""The gates over a store: every step is taken as soon as it can be, and nothing is read or written without need."""

import pytest

from controllers.gate_world import P, asked_for, gates_over  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.model.resource import Ref
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.node import Node, NodeStatus
from tidegate.model.transfers.transfer import DataDownload, DataUpload
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import BEGINNING, settle
from tidegate.testing.resources.builders import a_node, a_target, seen
from tidegate.testing.resources.late_store import LateStore
from tidegate.testing.resources.put import put
from tidegate.testing.resources.resources import place_among_writes

ONE_AT_A_TIME = '{"globalConfig": 1, "prepareQueueLength": 1, "restoreShare": 0}'


@pytest.fixture
async def world():
    """In none of these tests does any time pass (velero#7308: every wait there cost seconds or minutes)."""
    async with gates_over(load_concurrency=ONE_AT_A_TIME) as world:
        yield world
        assert world.clock.now() == BEGINNING


async def test_a_transfer_goes_from_gate_to_gate_and_tells_of_it(world):
    await world.ask("one", "two")
    assert await world.phases("one", "two") == ["Accepted", "New"]
    assert await world.why("two") == "PrepareQueueFull 1/1 (1 backup, 0 restores)"

    await world.step("one", P.PREPARED)
    assert await world.phases("one", "two") == ["InProgress", "Accepted"]

    await world.step("two", P.PREPARED)
    assert await world.why("two") == "NodeLoad node-a 1/1"

    await world.step("one", P.COMPLETED)
    two = await world.now("two")
    assert (str(two.status.phase), two.status.node, await world.why("two")) == ("InProgress", "node-a", None)
    assert [event.reason for event in two.status.events] == ["PrepareQueueFull", "Accepted", "NodeLoad", "InProgress"]


@pytest.mark.parametrize("end", [P.FAILED, P.CANCELED, P.COMPLETED])
@pytest.mark.parametrize("phase", [P.ACCEPTED, P.PREPARED, P.IN_PROGRESS, P.CANCELING])
async def test_every_end_makes_room_for_the_next_one(world, phase, end):
    await world.ask("one", "two")
    if phase is not P.ACCEPTED:
        await world.step("one", phase)
    await world.step("one", end)
    await world.step("two", P.PREPARED)

    assert await world.phases("one", "two") == [str(end), "InProgress"]


async def test_one_that_is_deleted_by_force_leaves_its_place(world):
    await world.ask("one", "two")
    await world.store.delete(Ref("DataUpload", "one"))
    await world.settle()

    assert await world.phases("two") == ["Accepted"]


async def test_one_that_is_cancelled_before_it_is_accepted_lets_others_pass(world):
    await world.ask("one", "two", "three")
    await world.store.cancel((await world.now("two")).ref)
    await world.step("one", P.FAILED)

    assert await world.phases("two", "three") == ["New", "Accepted"]


async def test_velero_9453_one_that_is_prepared_starts_when_its_node_comes_back(world):
    await world.ask("one")
    node = await world.store.get(Node, "node-a")
    down = await world.store.update_status(node.replace(status=NodeStatus(ready=False)))
    await world.settle()
    await world.step("one", P.PREPARED)
    assert await world.why("one") == "Dependency node node-a is not ready"

    await world.store.update_status(down.replace(status=NodeStatus(ready=True)))
    await world.settle()

    assert await world.phases("one") == ["InProgress"]


async def test_a_new_node_and_a_higher_limit_count_at_once(world):
    await world.ask("one", phase=P.PREPARED, node="node-b")
    assert await world.why("one") == "Dependency there is no node node-b"
    await put(world.store, a_node("node-b"))
    await world.settle()
    assert await world.phases("one") == ["InProgress"]

    await world.ask("two", phase=P.PREPARED, node="node-b")
    assert await world.why("two") == "NodeLoad node-b 1/1"
    await world.setting("load-concurrency", '{"globalConfig": 2}')
    assert await world.phases("two") == ["InProgress"]


async def test_a_target_that_is_down_is_waited_for(world):
    target = await world.store.create(a_target("store"))
    target = await world.store.update_status(target.with_status(available=False))
    await world.ask("one")
    assert await world.why("one") == "TargetUnavailable target store does not answer"

    await world.store.update_status(seen(await world.store.get(BackupTarget, "store")))
    await world.settle()

    assert await world.phases("one") == ["Accepted"]


async def test_a_place_is_kept_for_a_restore_and_prepared_backups_do_not_block_it(world):
    await world.setting("load-concurrency", '{"globalConfig": 1, "prepareQueueLength": 2}')
    await world.setting("concurrent-backup-restore-limit", 1)
    await world.restores("r1", "r2")
    await world.ask("u1", "u2")
    assert await world.phases("r1", "r2", "u1", "u2") == ["Accepted", "New", "Accepted", "New"]

    await world.step("r1", P.PREPARED)
    assert await world.phases("r1", "r2", "u1", "u2") == ["InProgress", "New", "Accepted", "New"]
    assert await world.why("u2") == (
        "NodeLoad node-a 1/1, 1 made ready ahead, the other places are for nodes with room and for restores"
    )

    await world.step("r1", P.COMPLETED)
    assert await world.phases("r2", "u2") == ["Accepted", "New"]


async def test_progress_of_a_mover_costs_the_gates_nothing(world):
    await world.ask("one", "two")
    await world.step("one", P.PREPARED)
    moving = await world.now("one")
    world.store.asked.clear()
    for number in range(10):
        moving = await world.store.update_status(moving.with_status(message=f"{number} of 10"))
        await world.settle(20)

    assert world.store.asked == {"update_status": 10}


async def test_with_many_that_wait_one_end_costs_a_few_reads_and_writes_and_no_list(world):
    await world.ask("running")
    for number in range(300):
        await put(
            world.store, (await world.now("running")).with_metadata(name=f"t{number:03}").with_status(phase=P.NEW)
        )
    await world.settle(3000)
    assert await world.why("t299") == "PrepareQueueFull 1/1 (1 backup, 0 restores)"
    running = await world.now("running")
    world.store.asked.clear()

    await world.store.update_status(running.with_status(phase=P.COMPLETED))
    await world.settle()

    assert await world.store.get(DataUpload, "t000") is not None
    assert world.store.asked == {"update_status": 2, "get": 1}, (
        "the write and look of the test, and the write of an accept"
    )
    assert await world.phases("t000", "t001") == ["Accepted", "New"]


@pytest.mark.parametrize(("answers_after", "news_after"), [(0, 0), (5, 0), (0, 5), (5, 5), (30, 1), (1, 30)])
async def test_it_does_not_matter_whether_the_answer_or_the_news_of_a_write_come_first(answers_after, news_after):
    async with gates_over(LateStore, load_concurrency=ONE_AT_A_TIME, concurrent_backup_restore_limit=1) as world:
        vars(world.store).update(answers_after=answers_after, news_after=news_after)
        names = ["a", "b", "c"]
        for name in names:
            await world.ask(name, kind=DataDownload)
        for name in names:
            await world.settle(600)
            assert await world.phases(*names) == ["Completed"] * names.index(name) + ["Accepted"] + ["New"] * (
                2 - names.index(name)
            )
            await world.step(name, P.COMPLETED)
            await world.settle(600)
        assert await world.in_progress() == []


class Slow(MemoryStore):
    """Something ends while the first words are being written."""

    ends_first = "one"

    async def update_status(self, resource):
        answer = await super().update_status(resource)
        if resource.status.condition("Waiting") and self.ends_first:
            name, self.ends_first = self.ends_first, ""
            one = await super().get(DataUpload, name)
            await super().update_status(one.with_status(phase=P.COMPLETED))
        await settle(3)  # the news come before the next word
        return answer


async def test_words_do_not_keep_a_free_place_waiting():
    async with gates_over(Slow, load_concurrency=ONE_AT_A_TIME) as world:
        await world.ask("one")
        for number in range(15):
            await world.store.create(asked_for(f"t{number:02}", kind=DataUpload))
        await world.settle(1000)

        accepted = place_among_writes(await world.now("t00"))
        told = [place_among_writes(await world.now(f"t{number:02}")) for number in range(2, 15)]
        assert await world.phases("one", "t00") == ["Completed", "Accepted"]
        assert accepted < min(told), "the place was given away before the others were told why they wait"

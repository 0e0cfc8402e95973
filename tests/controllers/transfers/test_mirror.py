"""What the gates know of the store: never less than they wrote themselves, never older than they knew before."""

import asyncio
from contextlib import aclosing

import pytest

from controllers.gate_world import GateWorld, P, gates_over  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.controllers.transfers.mirror import TransferMirror
from tidegate.errors import RetryableError
from tidegate.model.transfers.transfer import TRANSFERS, DataDownload
from tidegate.ports.resource_store import Change
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_node, a_transfer
from tidegate.testing.resources.put import put


async def news(store, since, count):
    async with aclosing(store.watch(TRANSFERS, since=since)) as events:
        return [await anext(events) for _ in range(count)]


async def loaded(store):
    mirror = TransferMirror()
    for kind in TRANSFERS:
        await mirror.reload(store, kind)
    return mirror


@pytest.fixture
def store():
    return MemoryStore(clock=ManualClock(), new_id=counting_ids())


async def test_news_from_before_the_list_do_not_take_the_table_back(store):
    upload = await store.create(a_transfer("t"))
    accepted = await store.update_status(upload.with_status(phase=P.ACCEPTED, node="n"))
    await store.update_status(accepted.with_status(phase=P.PREPARED))
    mirror = await loaded(store)

    for event in await news(store, "0", 3):
        mirror.hear(event)
        assert mirror.table.entry(upload.ref).phase is P.PREPARED


async def test_an_own_write_is_known_before_its_news_and_older_news_do_not_undo_it(store):
    upload = await store.create(a_transfer("t"))
    mirror = await loaded(store)
    labelled = await store.update(upload.with_metadata(labels={"team": "web"}))
    accepted = await store.update_status(labelled.with_status(phase=P.ACCEPTED, node="n"))
    mirror.wrote(accepted)

    for event in await news(store, upload.metadata.resource_version, 2):
        mirror.hear(event)
        assert mirror.table.entry(upload.ref).phase is P.ACCEPTED


async def test_an_answer_that_comes_behind_later_news_changes_nothing(store):
    upload = await store.create(a_transfer("t"))
    mirror = await loaded(store)
    accepted = await store.update_status(upload.with_status(phase=P.ACCEPTED, node="n"))
    await store.delete(upload.ref)
    for event in await news(store, upload.metadata.resource_version, 2):
        mirror.hear(event)

    mirror.wrote(accepted)

    assert mirror.table.entry(upload.ref) is None


async def test_no_pass_begins_before_every_kind_was_read(store):
    mirror = TransferMirror()
    for kind in TRANSFERS[:-1]:
        await mirror.reload(store, kind)

    async def one_pass():
        async with mirror.one_pass():
            return True

    waiting = asyncio.create_task(one_pass())
    await settle()
    assert not waiting.done()

    await mirror.reload(store, TRANSFERS[-1])
    assert await waiting


class Forgetful(MemoryStore):
    """Does what it is told, and once says that it could not; meanwhile somebody comes who goes first."""

    fails_at = "nothing"

    async def update_status(self, resource):
        fails = resource.name == self.fails_at
        if fails:
            self.fails_at = "nothing"
            await self.create(a_transfer("a-first-one", volume=("ns", "a")))
        answer = await super().update_status(resource)
        if fails:
            raise RetryableError("no answer came")
        return answer

    async def watch(self, kinds, *, since):
        async for event in super().watch(kinds, since=since):
            if event.change is Change.MODIFIED:
                await settle(200)  # its news are late, too
            yield event


async def test_a_write_that_was_done_though_it_failed_is_seen_before_anything_is_given_away():
    async with gates_over(Forgetful, load_concurrency='{"prepareQueueLength": 1}') as world:
        world.store.fails_at = "young"
        await world.ask("young")
        await world.settle(1000)

        assert await world.phases("young", "a-first-one") == ["Accepted", "New"]


class Quarrelsome(MemoryStore):
    """Somebody else writes between the label and the phase."""

    quarrels = 1

    async def update(self, resource):
        answer = await super().update(resource)
        if isinstance(resource, DataDownload) and self.quarrels:
            self.quarrels -= 1
            await super().update(answer.with_metadata(annotations={**answer.metadata.annotations, "note": "mine"}))
        return answer


async def test_a_conflict_between_label_and_phase_costs_one_more_look_and_no_time():
    async with gates_over(Quarrelsome, concurrent_backup_restore_limit=1) as world:
        await world.restores("one")

        assert await world.phases("one") == ["Accepted"]
        assert (await world.now("one")).metadata.annotations["note"] == "mine"


async def test_after_missed_news_everything_is_read_again_and_limits_hold():
    world = GateWorld(MemoryStore)
    await put(world.store, a_node("node-a"))
    await world.setting("load-concurrency", '{"globalConfig": 1, "prepareQueueLength": 2, "restoreShare": 0}')
    await world.start()
    await world.ask("a", "b", "c")
    await world.runtime.stop()
    await world.step("a", P.COMPLETED)
    await world.ask("d")

    world.begin()
    await world.start()

    assert await world.phases("a", "b", "c", "d") == ["Completed", "Accepted", "Accepted", "New"]
    await world.runtime.stop()

"""What the gates know when they plan: never less than they wrote themselves."""

from controllers.gate_world import GateWorld, P, gates_over  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.errors import RetryableError
from tidegate.model.transfers.transfer import DataDownload
from tidegate.ports.resource_store import Change
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import settle
from tidegate.testing.resources.builders import a_node, a_transfer
from tidegate.testing.resources.put import put


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

    async def watch(self, kind, *, since):
        async for event in super().watch(kind, since=since):
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

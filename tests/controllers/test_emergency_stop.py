"""A server that can no longer write anything down ends its work, and leaves no application frozen."""

import asyncio
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from controllers.conftest import World  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.controllers.emergency_stop import EmergencyStop
from tidegate.errors import DatabaseDamaged
from tidegate.model.backups.backup import Backup
from tidegate.resources.memory import MemoryStore
from tidegate.testing.resources.builders import a_backup, freezing


class Perishable(MemoryStore):
    """Nothing can be read or written any more once the test says so."""

    damaged = False

    async def list(self, kind, **options):
        self.check()
        return await super().list(kind, **options)

    async def get(self, kind, *name):
        self.check()
        return await super().get(kind, *name)

    async def update_status(self, resource):
        self.check()
        return await super().update_status(resource)

    def check(self):
        if self.damaged:
            raise DatabaseDamaged("tidegate.db is damaged")


@dataclass
class HookedWorld(World):
    store_kind: type = Perishable

    async def stop_at_once(self):
        self.kept.damaged = True
        await self.settle()
        await EmergencyStop(self.runtime, self.supervisor, self.work.hooks).stop()


@pytest.fixture
async def hooked():
    """A backup with hooks that has begun: its pre hook runs, and its mover reads once that has ended."""
    worlds = []

    async def begin(**hooks):
        world = HookedWorld()
        vars(world.hooks).update(hooks)
        worlds.append(world)
        await world.start()
        await world.volumes("shop/db")
        await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing()))
        await world.settle()
        assert world.hooks.told == ["pre freeze shop: db"]
        return world

    yield begin
    for world in worlds:
        for command in world.hooks.known:
            world.hooks.let_go(command)
        await world.runtime.stop()
        await world.supervisor.close()


async def test_what_is_frozen_goes_on_after_its_upload_was_ended_also_where_nothing_can_be_read(hooked):
    world = await hooked()
    (mover,) = world.movers.started
    seen, run = [], world.hooks.run

    async def noting(order):
        seen.append((order.command[0], mover.cancelled))
        return await run(order)

    world.work.hooks.runner = SimpleNamespace(run=noting)
    await world.stop_at_once()

    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]
    assert seen == [("thaw", True)]


async def test_a_hook_that_is_freezing_is_ended_first(hooked):
    world = await hooked(stuck={"freeze"})
    assert world.movers.started == []

    await world.stop_at_once()

    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]


async def test_a_post_hook_that_runs_already_comes_to_its_end_and_is_not_run_twice(hooked):
    world = await hooked(stuck={"thaw"})
    world.movers.started[0].finish()
    await world.settle()
    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]

    stopping = asyncio.create_task(world.stop_at_once())
    await world.settle()
    assert not stopping.done()
    world.hooks.let_go("thaw")
    await stopping

    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]


async def test_a_backup_that_owes_nothing_any_more_is_left_alone(hooked):
    world = await hooked()
    world.movers.started[0].finish()
    await world.settle()
    assert await world.phase(Backup, "b") == "Completed"

    await world.stop_at_once()

    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]


async def test_nothing_begins_any_more(hooked):
    world = await hooked()
    await world.stop_at_once()
    await world.store.create(a_backup("later", "shop"))
    await world.passes(minutes=5)

    world.kept.damaged = False
    assert await world.phase(Backup, "later") == "New"
    assert len(world.movers.started) == 1

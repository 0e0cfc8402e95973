"""A server that dies between any two writes around the time of a schedule: one backup, neither none nor two."""

from datetime import timedelta

import pytest

from tidegate.app.wiring import build_runtime
from tidegate.controllers.recovery import recover
from tidegate.errors import RetryableError
from tidegate.model.backup import Backup
from tidegate.model.schedule import Schedule
from tidegate.resources.memory import MemoryStore
from tidegate.testing.builders import a_node, a_schedule, a_target, a_volume
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.crashing_store import CrashingStore
from tidegate.testing.identity import counting_ids
from tidegate.testing.movers import FakeMovers

# More than the run of a schedule takes; a test below makes sure of that.
STEPS = 30


class FineWeather:
    async def check_target(self, access):
        return None


async def live(store, clock, *, writes):
    """One life of a server on this store, until it is idle or dead; whether it died."""
    mortal = CrashingStore(store, writes)
    runtime, supervisor = build_runtime(mortal, clock, FakeMovers(obliging=True), FineWeather())
    try:
        await recover(mortal, clock)
    except RetryableError:
        return True
    runtime.start()
    await settle(1500)
    await runtime.stop()
    await supervisor.close()
    return mortal.dead


async def a_world_at_the_time_of_a_schedule():
    clock = ManualClock()
    store = MemoryStore(clock=clock, new_id=counting_ids())
    await store.create(a_target("store"))
    await store.create(a_node())
    await store.create(a_volume("shop", "db"))
    await store.create(a_schedule("hourly", "0 * * * *", "shop"))
    await clock.advance(timedelta(hours=1))
    return store, clock


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_schedule_whose_server_dies_after_any_step_runs_once(step):
    store, clock = await a_world_at_the_time_of_a_schedule()
    await live(store, clock, writes=step)
    await live(store, clock, writes=10**6)

    (backup,) = (await store.list(Backup)).items
    schedule = await store.get(Schedule, "hourly")
    assert backup.name == "hourly-20260101010000"
    assert backup.status.phase.final
    assert (schedule.status.last_backup, schedule.status.last_skipped) == (clock.now(), None)


async def test_the_steps_above_cover_a_whole_run():
    store, clock = await a_world_at_the_time_of_a_schedule()

    assert not await live(store, clock, writes=STEPS - 1)

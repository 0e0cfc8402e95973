"""A server that dies between any two writes around the time of a schedule: one backup, neither none nor two."""

from datetime import timedelta

import pytest

from tidegate.model.backups.backup import Backup
from tidegate.model.schedules.schedule import Schedule
from tidegate.testing.resources.builders import a_schedule
from tidegate.testing.resources.lives import MortalWorld

# More than the run of a schedule takes; a test below makes sure of that.
STEPS = 30


async def a_world_at_the_time_of_a_schedule():
    world = await MortalWorld().with_volumes("db")
    await world.store.create(a_schedule("hourly", "0 * * * *", "shop"))
    await world.clock.advance(timedelta(hours=1))
    return world


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_schedule_whose_server_dies_after_any_step_runs_once(step):
    world = await a_world_at_the_time_of_a_schedule()
    await world.live(writes=step)
    await world.live()

    (backup,) = (await world.store.list(Backup)).items
    schedule = await world.store.get(Schedule, "hourly")
    assert backup.name == "hourly-20260101010000"
    assert backup.status.phase.final
    assert (schedule.status.last_backup, schedule.status.last_skipped) == (world.clock.now(), None)


async def test_the_steps_above_cover_a_whole_run():
    world = await a_world_at_the_time_of_a_schedule()

    assert not (await world.live(writes=STEPS - 1)).died

"""Transfers and deletions that another client's lock keeps from beginning, and locks that the dead left."""

from datetime import timedelta

import pytest

from tidegate.model.resource import Ref
from tidegate.model.transfers.mover_job import MOVER_DIED, RemoveJob
from tidegate.model.transfers.transfer import DataDownload, DataUpload
from tidegate.testing.resources.builders import a_transfer

HELD = "another client deletes from volume v (lock-aaaaaaaaaaaaaaaa); please try again later"


async def ask(world, name, kind=DataUpload, **spec):
    transfer = a_transfer(name, kind=kind, volume=("ns", name)).with_spec(**spec)
    await world.store.create(transfer)
    await world.settle()


async def state(world, name, kind=DataUpload):
    status = (await world.store.get(kind, name)).status
    waiting = status.condition("Waiting")
    return str(status.phase), waiting.reason if waiting else ""


def finds_a_lock(mover):
    mover.fail("StoreLockHeld", HELD, lock="lock-aaaaaaaaaaaaaaaa then")


@pytest.mark.parametrize("kind", [DataUpload, DataDownload])
async def test_a_transfer_that_waits_for_a_lock_gives_its_slot_to_the_next_and_comes_back(world, kind):
    await ask(world, "first", kind)
    await ask(world, "second", kind)
    assert await state(world, "second", kind) == ("Prepared", "NodeLoad")

    finds_a_lock(world.movers.started[0])
    await world.settle()

    assert await state(world, "first", kind) == ("New", "WaitingForLock")
    assert await state(world, "second", kind) == ("InProgress", "")
    assert HELD in (await world.store.get(kind, "first")).status.condition("Waiting").message

    world.movers.started[1].finish()
    await world.settle()
    assert await state(world, "first", kind) == ("New", "WaitingForLock")
    await world.passes(seconds=16)
    assert await state(world, "first", kind) == ("InProgress", "")
    world.movers.started[-1].finish()
    await world.settle()
    assert await state(world, "first", kind) == ("Completed", "")


async def test_one_that_waits_for_a_lock_can_be_cancelled_and_waits_no_longer_than_its_timeout(world):
    await ask(world, "gone", timeout=timedelta(seconds=40))
    for _ in range(3):
        finds_a_lock(world.movers.started[-1])
        await world.settle()
        await world.passes(seconds=16)
    finds_a_lock(world.movers.started[-1])
    await world.settle()
    assert await state(world, "gone") == ("Failed", "")

    await ask(world, "cancelled")
    finds_a_lock(world.movers.started[-1])
    await world.settle()
    await world.store.cancel(Ref("DataUpload", "cancelled"))
    await world.settle()
    assert await state(world, "cancelled") == ("Canceled", "")


async def test_a_lock_whose_time_stands_still_is_told_to_the_next_mover_as_dead(world):
    await ask(world, "t")
    for _ in range(11):
        finds_a_lock(world.movers.started[-1])
        await world.settle()
        await world.passes(seconds=16)

    assert world.movers.started[0].job.stale_locks == ()
    assert world.movers.started[-1].job.stale_locks == ("lock-aaaaaaaaaaaaaaaa then",)


async def test_the_lock_of_a_mover_that_died_is_dropped_at_once(world):
    world.movers.lock = "lock-1111111111111111"
    await ask(world, "t")
    mover = world.movers.started[0]

    mover.fail(MOVER_DIED, "the mover was killed by SIGKILL")
    await world.settle()

    (sweep,) = [one.job for one in world.movers.started if isinstance(one.job, RemoveJob)]
    assert (sweep.only_dead_locks, sweep.dead_locks) == (True, ("lock-1111111111111111",))
    assert (sweep.store_volume, sweep.store_backups) == (mover.job.store_volume, ())


async def test_a_mover_that_told_how_it_ended_has_given_its_lock_back_itself(world):
    world.movers.lock = "lock-1111111111111111"
    await ask(world, "t")

    world.movers.started[0].fail("StoreUnavailable", "no answer")
    await world.settle()

    assert not any(isinstance(one.job, RemoveJob) for one in world.movers.started)

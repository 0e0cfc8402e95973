"""A backup that is called off ends honestly, whatever it does at that moment."""

import pytest

from tidegate.errors import WorkCancelled
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.resource import Ref
from tidegate.testing.resources.builders import a_backup, freezing
from tidegate.testing.resources.put import put


async def cancel(world, name):
    backup = await world.store.get(Backup, name)
    await world.store.cancel(backup.ref)
    await world.settle()


async def ended(world, name):
    await world.settle()
    status = (await world.store.get(Backup, name)).status
    assert status.completion_timestamp is not None
    return str(status.phase), status.failure_reason


async def test_one_that_waits_leaves_the_queue_and_those_behind_move_up(world):
    await world.volumes("shop/db")
    for name in ("runs", "waits", "next"):
        await world.store.create(a_backup(name, "shop"))
        await world.settle()

    await cancel(world, "waits")

    assert await ended(world, "waits") == ("Canceled", None)
    assert world.runtime.state.queue.position("next") == 1
    assert (await world.store.get(Backup, "waits")).status.condition("Waiting") is None


async def test_one_that_nobody_has_looked_at_yet_never_starts(world):
    await world.volumes("shop/db")

    await world.store.create(a_backup("hasty", "shop").with_spec(cancel=True))

    assert await ended(world, "hasty") == ("Canceled", None)
    assert world.movers.started == []


async def test_one_that_is_ready_to_start_does_not(world):
    await world.volumes("shop/db")

    await put(world.store, a_backup("ready", "shop", phase=BackupPhase.READY_TO_START).with_spec(cancel=True))

    assert await ended(world, "ready") == ("Canceled", None)
    assert world.movers.started == []


async def test_one_in_progress_stops_its_movers_and_says_what_was_done(world):
    await world.volumes("shop/db", "shop/files")
    await world.store.create(a_backup("runs", "shop"))
    await world.settle()
    world.movers.started[0].finish()
    await world.settle()

    await cancel(world, "runs")

    assert await ended(world, "runs") == ("Canceled", "cancelled on request; 1 of 2 volumes were done")


async def test_one_that_had_not_looked_for_volumes_yet_is_cancelled_not_complete(world):
    await put(world.store, a_backup("early", "shop", phase=BackupPhase.IN_PROGRESS).with_spec(cancel=True))

    assert (await ended(world, "early"))[0] == "Canceled"


@pytest.mark.parametrize(
    ("phase", "end"),
    [(BackupPhase.FINALIZING, "Completed"), (BackupPhase.FINALIZING_PARTIALLY_FAILED, "PartiallyFailed")],
)
async def test_one_whose_data_is_all_moved_ends_as_it_would_have(world, phase, end):
    await put(world.store, a_backup("nearly", "shop", phase=phase).with_spec(cancel=True))

    assert (await ended(world, "nearly"))[0] == end


async def test_transfers_that_do_not_stop_hold_their_backup_for_five_minutes_and_no_longer(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("stuck", "shop"))
    await world.settle()
    await world.store.create(a_backup("next", "shop"))
    await world.settle()
    world.movers.started[0].stubborn = True

    await cancel(world, "stuck")
    await world.passes(minutes=4, seconds=59)
    assert await world.phase(Backup, "stuck") == "InProgress"
    await world.passes(seconds=1)

    assert await ended(world, "stuck") == (
        "Canceled",
        "cancelled on request; 0 of 1 transfers had ended after 5 minutes, these had not: shop/db",
    )
    assert await world.phase(Backup, "next") == "InProgress"
    world.movers.started[0].fail(WorkCancelled.code, "at last")
    await world.settle()
    assert (await ended(world, "stuck"))[0] == "Canceled"


async def test_what_is_frozen_is_thawed_also_when_the_transfers_do_not_stop(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("stuck", "shop").with_spec(hooks=freezing()))
    await world.settle()
    world.movers.started[0].stubborn = True

    await cancel(world, "stuck")
    await world.passes(minutes=4, seconds=59)
    assert world.hooks.told == ["pre freeze shop: db"]
    await world.passes(seconds=1)

    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]
    phase, why = await ended(world, "stuck")
    assert (phase, "these had not: shop/db" in why) == ("Canceled", True)


async def test_what_is_frozen_is_thawed_also_when_it_is_deleted_and_the_transfers_do_not_stop(world):
    await world.volumes("shop/db")
    frozen = a_backup("stuck", "shop").with_spec(hooks=freezing()).with_metadata(finalizers=("tidegate.dev/backup",))
    await world.store.create(frozen)
    await world.settle()
    world.movers.started[0].stubborn = True

    await world.store.delete(Ref("Backup", "stuck"))
    await world.passes(minutes=4, seconds=59)
    assert world.hooks.told == ["pre freeze shop: db"]
    await world.passes(seconds=1)

    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]
    assert await world.phase(Backup, "stuck") == "Deleting", "what its transfer wrote is not removed yet"


async def test_deleting_a_cancelled_backup_does_not_put_off_the_thaw(world):
    await world.volumes("shop/db")
    frozen = a_backup("stuck", "shop").with_spec(hooks=freezing()).with_metadata(finalizers=("tidegate.dev/backup",))
    await world.store.create(frozen)
    await world.settle()
    world.movers.started[0].stubborn = True

    await cancel(world, "stuck")
    await world.passes(minutes=4)
    await world.store.delete(Ref("Backup", "stuck"))
    await world.passes(minutes=1)

    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]


async def test_a_thaw_that_takes_its_time_is_waited_for_beyond_the_five_minutes(world):
    world.hooks.stuck = {"thaw"}
    await world.volumes("shop/db")
    await world.store.create(a_backup("slow", "shop").with_spec(hooks=freezing()))
    await world.settle()
    world.movers.started[0].stubborn = True

    await cancel(world, "slow")
    await world.passes(minutes=30)
    assert await world.phase(Backup, "slow") == "InProgress", "its application may still be frozen"
    world.hooks.let_go("thaw")

    assert (await ended(world, "slow"))[0] == "Canceled"


async def test_a_restart_while_it_stops_ends_it_as_canceled(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("stopping", "shop"))
    await world.settle()
    world.movers.started[0].stubborn = True
    await cancel(world, "stopping")

    await world.restart()

    assert await ended(world, "stopping") == (
        "Canceled",
        "cancelled on request; the server stopped while this was in progress",
    )


async def test_a_snapshot_upload_that_does_not_stop_holds_its_backup_no_longer_either(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("stuck", "shop"))
    await world.settle()
    world.movers.started[0].stubborn = True
    backup = await world.store.get(Backup, "stuck")
    await world.store.update_status(backup.with_status(phase=BackupPhase.WAITING_FOR_PLUGIN_OPERATIONS, blocks=()))

    await cancel(world, "stuck")
    await world.passes(minutes=5)

    assert (await ended(world, "stuck"))[0] == "Canceled"


async def test_a_cancelled_backup_can_be_deleted_while_it_still_stops(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("stuck", "shop").with_metadata(finalizers=("tidegate.dev/backup",)))
    await world.settle()
    world.movers.started[0].stubborn = True
    await cancel(world, "stuck")
    await world.settle()

    await world.store.delete(Ref("Backup", "stuck"))
    await world.settle()
    world.movers.started[0].fail(WorkCancelled.code, "at last")
    await world.settle()
    world.movers.started[-1].finish()
    await world.settle()

    assert await world.all(Backup) == []

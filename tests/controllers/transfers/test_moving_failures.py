"""What went wrong where others move data, each by its number: what it did, and that ours does not."""

import json

import pytest

from tidegate.decide.transfers.restore_limit import IN_PROGRESS, RESTORE_PRIORITY_LABEL
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Metadata, Ref
from tidegate.model.restores.restore import Restore, RestoreSpec
from tidegate.model.transfers.mover_job import RemoveJob
from tidegate.model.transfers.transfer import DataDownload, DataUpload, PodVolumeRestore
from tidegate.testing.resources.builders import a_backup, a_node, a_transfer
from tidegate.testing.resources.put import put


async def ask(world, *names, kind=DataUpload):
    for name in names:
        transfer = a_transfer(name, kind=kind, volume=("ns", name))
        await world.store.create(transfer.with_metadata(finalizers=("tidegate.dev/transfer",)))
        await world.settle()


async def restore(world, name, **spec):
    metadata = Metadata(name=name, finalizers=("tidegate.dev/restore",))
    await world.store.create(Restore(metadata=metadata, spec=RestoreSpec(backup_name="b", **spec)))
    await world.settle()


async def phases(world, *names, kind=DataUpload):
    return [await world.phase(kind, name) for name in names]


async def why(world, name, kind=DataUpload):
    waiting = (await world.store.get(kind, name)).status.condition("Waiting")
    return f"{waiting.reason} {waiting.message}" if waiting else None


async def load(world, **numbers):
    await world.setting("load-concurrency", json.dumps(numbers))


@pytest.mark.parametrize("number", ["velero#8316", "velero#7261", "velero#7742", "velero#8113", "velero#8454"])
async def test_who_waits_behind_a_big_volume_does_not_run_out_of_time(world, number):
    """Uploads that were New, Accepted or Prepared behind a big one timed out."""
    await load(world, prepareQueueLength=2)
    await world.movers_may_be_silent()
    await ask(world, "big", "ready", "new")

    await world.passes(hours=3)
    assert await phases(world, "big", "ready", "new") == ["InProgress", "Prepared", "New"]
    for mover in range(3):
        world.movers.started[mover].finish()
        await world.settle()
    assert await phases(world, "big", "ready", "new") == ["Completed"] * 3


async def test_velero_10117_one_that_is_stuck_when_ready_gives_its_place_back_at_last(world):
    """Ready ones that nobody started held their places in the prepare queue for ever."""
    await load(world, globalConfig=1, prepareQueueLength=1, restoreShare=0)
    await world.movers_may_be_silent()
    await ask(world, "moves", "stuck", "next")
    await world.store.delete(Ref("Node", "node-a"))
    await world.settle()
    assert await why(world, "stuck") == "Dependency there is no node node-a"

    await put(world.store, a_node("node-b"))
    await world.passes(hours=5)

    assert await phases(world, "stuck", "next") == ["Failed", "InProgress"]


@pytest.mark.parametrize("number", ["velero#8344", "velero#6731"])
async def test_no_more_movers_and_snapshots_are_made_than_the_prepare_queue_has_places(world, number):
    """A hundred idle movers, and twice as many volumes, starved what ran on the node."""
    await load(world, prepareQueueLength=2)
    await ask(world, *(f"t{nth:02}" for nth in range(12)))

    assert (len(world.movers.started), len(world.movers.waiting)) == (1, 1)


async def test_velero_7985_a_volume_that_is_slow_to_get_ready_is_not_given_up_too_early(world):
    """It was cancelled while its volume was still being made."""
    world.movers.hesitant = True
    await ask(world, "slow")
    await world.passes(minutes=29)
    assert await phases(world, "slow") == ["Accepted"]

    world.movers.waiting[0].get_ready()
    await world.settle()
    assert await phases(world, "slow") == ["InProgress"]


async def test_velero_4772_one_that_is_deleted_while_it_moves_stops_and_makes_room(world):
    """The server stayed busy with what was gone, until it was restarted."""
    await ask(world, "gone", "next")
    await world.store.delete(Ref("DataUpload", "gone"))
    await world.settle()

    assert world.movers.started[0].cancelled
    assert await phases(world, "next") == ["InProgress"]
    (removal,) = [mover for mover in world.movers.started if isinstance(mover.job, RemoveJob)]
    removal.finish()
    await world.settle()
    assert [upload.name for upload in await world.all(DataUpload)] == ["next"]


@pytest.mark.parametrize("number", ["velero#3216", "velero#2573"])
async def test_nothing_is_new_without_a_hint_why(world, number):
    """It said New, for hours, and no more."""
    await load(world, globalConfig=1, prepareQueueLength=1, restoreShare=0)
    await ask(world, "moves", "ready", "new")

    assert await why(world, "ready") == "NodeLoad node-a 1/1"
    assert await why(world, "new") == "PrepareQueueFull 1/1 (1 backup, 0 restores)"


async def test_velero_10255_many_that_are_cancelled_at_once_all_stop(world):
    """Who was cancelled was kept in a map that several threads changed."""
    await load(world, globalConfig=20)
    names = [f"t{nth:02}" for nth in range(40)]
    await ask(world, *names)
    for name in names:
        await world.store.cancel(Ref("DataUpload", name))
    await world.settle()

    assert set(await phases(world, *names)) == {"Canceled"}
    assert all(mover.cancelled for mover in [*world.movers.started, *world.movers.waiting])


@pytest.mark.parametrize("number", ["velero#8367", "velero#10322"])
async def test_a_mover_that_was_put_out_ends_its_backup_with_its_last_words(world, number):
    """The backup waited for a mover that was evicted, or ended with words that nobody could use."""
    await world.volumes("shop/db")
    await world.store.create(a_backup("b"))
    await world.settle()
    world.movers.started[0].fail("MoverDied", "the mover was killed by SIGKILL; its last words: no room")
    await world.settle()

    status = (await world.store.get(Backup, "b")).status
    assert str(status.phase) == "Failed"
    assert status.failure_reason.startswith("shop/db: the mover was killed by SIGKILL; its last words: no room")


@pytest.mark.parametrize("number", ["velero#9478", "velero#8125"])
async def test_a_backup_whose_volume_cannot_be_made_ready_says_why(world, number):
    """It failed after half an hour without a word about the volume."""
    world.movers.hesitant = True
    await world.volumes("shop/db")
    await world.store.create(a_backup("b"))
    await world.settle()
    world.movers.waiting[0].fail("SourceUnreadable", "/data/shop/db does not exist")
    await world.settle()

    assert (await world.store.get(Backup, "b")).status.failure_reason == "shop/db: /data/shop/db does not exist"


async def test_velero_9995_a_volume_that_runs_out_of_time_takes_no_finished_one_along(world):
    """What was known of finished volumes was lost when another one timed out."""
    await world.volumes("blog/posts", "shop/db")
    await world.store.create(a_backup("b"))
    await world.settle()
    world.movers.started[0].finish()
    await world.settle()
    await world.passes(hours=1)
    assert await world.phase(Backup, "b") == "PartiallyFailed"

    await restore(world, "r", destination="/back")
    jobs = [mover.job.path for mover in world.movers.started if mover.job.path.startswith("/back")]
    assert jobs == ["/back/blog/posts"]


async def test_velero_9973_a_restore_to_where_nothing_can_be_written_ends_and_holds_up_nobody(backed_up):
    """It waited for ever for what could never start."""
    await restore(backed_up, "r")
    backed_up.movers.started[0].fail("DestinationUnusable", "it cannot be made")
    await backed_up.settle()
    backed_up.movers.started[1].finish()
    await backed_up.settle()

    assert await backed_up.phase(Restore, "r") == "PartiallyFailed"


async def test_velero_5168_the_volume_that_matters_most_comes_first_and_alone(backed_up):
    """All volumes came back slowly side by side, where one service could have been up early."""
    await backed_up.setting("concurrent-backup-restore-limit", "1")
    await restore(backed_up, "r", volume_order=("shop/db",))
    assert [mover.job.path for mover in backed_up.movers.started] == ["/data/shop/db"]
    assert len(backed_up.movers.waiting) == 0


@pytest.mark.parametrize("number", ["velero#487", "velero#6668", "velero#6946"])
async def test_restores_of_different_namespaces_run_side_by_side(backed_up, number):
    """One restore at a time, whatever it was about."""
    await load(backed_up, globalConfig=2)
    await restore(backed_up, "one", included_namespaces=("shop",))
    await restore(backed_up, "two", included_namespaces=("blog",))

    assert [await backed_up.phase(Restore, name) for name in ("one", "two")] == ["InProgress"] * 2
    assert len(backed_up.movers.started) == 2


async def test_longhorn_manager_1611_a_slot_is_held_until_the_restore_is_over(world):
    """It was given back as soon as the restore was started: with a limit of one, three ran."""
    await load(world, globalConfig=9)
    await world.setting("concurrent-backup-restore-limit", "1")
    await ask(world, "a", "b", kind=DataDownload)
    world.movers.started[0].progress(1, 2)
    await world.passes(minutes=5)
    label = (await world.store.get(DataDownload, "a")).metadata.labels[RESTORE_PRIORITY_LABEL]
    assert (label, await phases(world, "b", kind=DataDownload)) == (IN_PROGRESS, ["New"])

    world.movers.started[0].finish()
    await world.settle()
    assert await phases(world, "a", "b", kind=DataDownload) == ["Completed", "InProgress"]


async def test_longhorn_12538_a_restore_that_waited_for_hours_takes_a_free_slot_without_delay(world):
    """Each refusal doubled the time to the next try, up to an hour, while slots stood empty."""
    await world.setting("concurrent-backup-restore-limit", "1")
    await world.movers_may_be_silent()
    await ask(world, "a", "b", kind=PodVolumeRestore)
    await world.passes(hours=3)
    before = world.clock.now()
    world.movers.started[0].finish()
    await world.settle()

    assert await phases(world, "a", "b", kind=PodVolumeRestore) == ["Completed", "InProgress"]
    assert world.clock.now() == before


async def test_longhorn_10839_a_restore_that_is_stuck_is_stopped_and_the_next_one_goes_on(world):
    """It stayed where it was, and kept its slot."""
    await world.setting("concurrent-backup-restore-limit", "1")
    await ask(world, "stuck", "next", kind=DataDownload)
    await world.passes(minutes=31)

    assert await phases(world, "stuck", "next", kind=DataDownload) == ["Failed", "InProgress"]
    assert (await world.store.get(DataDownload, "stuck")).status.message.startswith("no progress for 30m")

"""A backup whose uploads all read snapshots leaves its slot; they go on through the gates of transfers."""

import pytest

from tidegate.model.backups.backup import Backup, OnInterruption
from tidegate.model.transfers.transfer import DataUpload, PodVolumeBackup
from tidegate.model.volumes.volume import VolumeSpec
from tidegate.testing.resources.builders import a_backup, a_volume, freezing


async def images(world, *names):
    world.movers.snapshots = True
    for name in names:
        namespace, _, volume = name.partition("/")
        await world.store.create(a_volume(namespace, volume).replace(spec=VolumeSpec(image=f"/data/{name}.img")))


async def back_up(world, name, namespace, **spec):
    await world.store.create(a_backup(name, namespace).with_spec(**spec))
    await world.settle()


async def finish_all(world):
    for _ in range(3):
        for mover in list(world.movers.started):
            mover.finish()
        await world.settle()


async def phases(world, *names):
    return [await world.phase(Backup, name) for name in names]


async def test_once_every_snapshot_is_taken_the_next_backup_of_the_same_namespace_begins(world):
    await images(world, "vm/disk")
    await back_up(world, "first", "vm", hooks=freezing())
    assert await phases(world, "first") == ["WaitingForPluginOperations"]
    assert world.hooks.told == ["pre freeze vm: disk", "post thaw vm: disk"]

    await back_up(world, "second", "vm")
    assert await phases(world, "first", "second") == ["WaitingForPluginOperations"] * 2
    uploads = [(str(upload.status.phase), upload.status.from_snapshot) for upload in await world.all(DataUpload)]
    assert sorted(uploads) == [("InProgress", True), ("Prepared", True)]

    for number in range(2):
        world.movers.started[number].finish()
        await world.settle()
    assert await phases(world, "first", "second") == ["Completed"] * 2


async def test_an_image_without_a_snapshot_and_a_tree_keep_the_slot(world):
    await images(world, "vm/disk")
    await world.volumes("vm/tree", "other/tree")
    await world.setting("item-block-worker-count", "2")
    await back_up(world, "mixed", "vm")
    await back_up(world, "next", "other")
    assert await phases(world, "mixed", "next") == ["InProgress", "Queued"]

    while "InProgress" in await phases(world, "mixed"):
        moving = [mover for mover in world.movers.started if mover.job.path.endswith("tree")]
        (moving or world.movers.started)[-1].finish()
        await world.settle()
    assert (await phases(world, "next"))[0] == "InProgress"


async def test_a_snapshot_that_waits_for_a_place_in_the_prepare_queue_keeps_the_slot(world):
    await images(world, "vm/one", "vm/two")
    await world.setting("load-concurrency", '{"globalConfig": 1, "prepareQueueLength": 1, "restoreShare": 0}')
    await back_up(world, "first", "vm")
    assert await phases(world, "first") == ["WaitingForPluginOperations"]  # one moves, the other is ready

    await back_up(world, "second", "vm")
    assert await phases(world, "second") == ["InProgress"]


async def test_one_whose_snapshot_died_with_the_server_fails_and_is_not_taken_from_another_one(world):
    await images(world, "vm/disk", "vm/more")
    await world.setting("load-concurrency", '{"globalConfig": 1}')
    await back_up(world, "b", "vm")
    assert await phases(world, "b") == ["WaitingForPluginOperations"]

    await world.restart()
    await finish_all(world)

    assert await phases(world, "b") == ["Failed"]
    assert {str(upload.status.phase) for upload in await world.all(DataUpload)} == {"Failed"}


async def test_one_that_shall_be_queued_again_begins_anew_after_a_restart(world):
    await images(world, "vm/disk")
    await back_up(world, "b", "vm", on_interruption=OnInterruption.REQUEUE, hooks=freezing())

    await world.restart()
    await finish_all(world)

    assert await phases(world, "b") == ["Completed"]
    assert (await world.store.get(Backup, "b")).status.attempt == 1
    assert world.hooks.told[-2:] == ["pre freeze vm: disk", "post thaw vm: disk"]


@pytest.mark.parametrize("code", ["StoreIdentityMissing", "StoreLockHeld"])
async def test_a_snapshot_is_never_given_up_for_another_one(world, code):
    await images(world, "vm/disk")
    await back_up(world, "b", "vm")

    world.movers.started[0].fail(code, "not now")
    await world.settle()

    assert await phases(world, "b") == ["Failed"]


async def test_a_tree_is_never_read_from_a_snapshot(world):
    world.movers.snapshots = True
    await world.volumes("vm/tree")
    await back_up(world, "b", "vm")

    assert await phases(world, "b") == ["InProgress"]
    assert not (await world.all(PodVolumeBackup))[0].status.from_snapshot

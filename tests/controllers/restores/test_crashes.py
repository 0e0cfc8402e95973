"""A restore whose server is killed between any two steps goes on and brings everything back."""

import pytest

from tidegate.model.resource import Metadata, Ref
from tidegate.model.restores.restore import RESTORE_FINALIZER, FoundSource, Restore, RestorePhase, RestoreSpec
from tidegate.model.transfers.transfer import DataDownload, PodVolumeBackup, PodVolumeRestore
from tidegate.model.volumes.volume import Volume
from tidegate.testing.resources.builders import a_backup
from tidegate.testing.resources.lives import MortalWorld

# More than a restore of two volumes takes; a test below makes sure of that.
STEPS = 30


async def a_world():
    """A finished backup of two volumes, and somebody who wants it back."""
    world = await MortalWorld().with_volumes("db", "files")
    await world.store.create(a_backup("b", "shop"))
    await world.live()
    metadata = Metadata(name="r", finalizers=(RESTORE_FINALIZER,))
    await world.store.create(Restore(metadata=metadata, spec=RestoreSpec(backup_name="b")))
    return world


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_restore_whose_server_dies_after_any_step_is_completed_by_the_next(step):
    world = await a_world()
    await world.live(writes=step)
    await world.live()

    restore = await world.store.get(Restore, "r")
    downloads = (await world.store.list(PodVolumeRestore)).items
    assert restore.status.phase is RestorePhase.COMPLETED
    assert sorted(download.spec.path for download in downloads) == ["/data/db", "/data/files"]
    assert restore.status.progress is not None
    assert restore.status.progress.items_restored == 2


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_volume_that_cannot_be_put_anywhere_is_never_moved_whenever_the_server_dies(step):
    world = await a_world()
    files = await world.store.get(Volume, "files", "shop")
    await world.store.update(files.with_spec(directory=None, image="/data/files.img"))
    lives = [await world.live(writes=step), await world.live()]

    restore = await world.store.get(Restore, "r")
    assert restore.status.phase is RestorePhase.PARTIALLY_FAILED
    (refused,) = (await world.store.list(DataDownload)).items
    assert (str(refused.status.phase), refused.status.error_code) == ("Failed", "DestinationUnusable")
    assert "restore it elsewhere with --to" in refused.status.message
    moved = [mover.job.path for life in lives for mover in life.movers.started]
    assert set(moved) == {"/data/db"}


@pytest.mark.parametrize("step", range(STEPS))
@pytest.mark.parametrize("by", ["schedule", "URL"])
async def test_a_restore_keeps_to_what_was_found_whenever_the_server_dies(by, step):
    world = await a_world()
    await world.store.delete(Ref("Restore", "r"))
    (upload, _) = (await world.store.list(PodVolumeBackup)).items
    spec = {
        "schedule": RestoreSpec(schedule_name="nightly", found=FoundSource(backup_name="b")),
        "URL": RestoreSpec(backup_url="file:///x", found=FoundSource(volume_backup=upload.as_source)),
    }[by]
    await world.store.create(Restore(metadata=Metadata(name="r2", finalizers=(RESTORE_FINALIZER,)), spec=spec))
    await world.live(writes=step)
    await world.live()

    restore = await world.store.get(Restore, "r2")
    assert restore.status.phase is RestorePhase.COMPLETED
    assert restore.status.backup_name == spec.found.backup_name
    assert restore.status.source == spec.found.volume_backup


async def test_the_steps_above_cover_a_whole_restore():
    world = await a_world()

    assert not (await world.live(writes=STEPS - 1)).died

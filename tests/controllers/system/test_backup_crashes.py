"""A system backup whose server is killed between any two steps goes on; nothing is started twice."""

from collections import Counter

import pytest

from tidegate.decide.system.backup import found_system_backups
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Ref
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup, SystemBackupPhase, VolumeBackupPolicy
from tidegate.model.transfers.transfer import PodVolumeBackup, TransferPhase
from tidegate.testing.resources.builders import a_system_backup
from tidegate.testing.resources.lives import MortalWorld

# More than a system backup of two volumes takes; a test below makes sure of that.
STEPS = 70


async def a_world():
    world = await MortalWorld().with_volumes("db", "files")
    await world.store.create(a_system_backup("weekly", VolumeBackupPolicy.ALWAYS))
    return world


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_system_backup_whose_server_dies_after_any_step_is_finished_by_the_next(step):
    world = await a_world()
    await world.live(writes=step)
    await world.live()

    system = await world.store.get(SystemBackup, "weekly")
    uploads = (await world.store.list(PodVolumeBackup)).items
    done = Counter(u.spec.volume_name for u in uploads if u.status.phase is TransferPhase.COMPLETED)
    assert system.status.phase is SystemBackupPhase.READY, system.status.failure_reason
    assert len((await world.store.list(Backup)).items) == 2
    # Only a backup whose end the dead server could not write down any more is made once more.
    assert sorted(done.values()) in ([1, 1], [1, 2])
    (place,) = await world.archives.found(None)
    archive = await world.archives.read(None, place)
    completed = {u.spec.store_backup for u in uploads if u.status.phase is TransferPhase.COMPLETED}
    assert [row.volume for row in archive.volume_backups] == ["shop/db", "shop/files"]
    assert {row.stored.store_backup for row in archive.volume_backups} <= completed


async def test_the_steps_above_cover_a_whole_system_backup():
    world = await a_world()

    assert not (await world.live(writes=STEPS - 1)).died


@pytest.mark.parametrize("step", range(16))
async def test_a_deletion_whose_server_dies_after_any_step_is_finished_by_the_next(step):
    world = await a_world()
    await world.live()
    await world.store.delete(Ref("SystemBackup", "weekly"))
    await world.live(writes=step)
    await world.live()

    assert (await world.store.list(SystemBackup)).items == ()
    assert (await world.store.list(Backup)).items == ()
    assert await world.archives.found(None) == []


@pytest.mark.parametrize("step", range(12))
async def test_one_that_was_found_in_a_store_is_ready_whenever_the_server_dies(step):
    world = await MortalWorld().with_volumes("db")
    await world.store.create(a_system_backup("weekly", VolumeBackupPolicy.DISABLED))
    await world.live()
    made = await world.store.get(SystemBackup, "weekly")
    await world.store.delete((await world.store.update(made.with_metadata(finalizers=()))).ref)
    (place,) = await world.archives.found(None)
    target = await world.store.get(BackupTarget, "store")

    (found,) = found_system_backups(target, {place.name: place.version}, [])
    await world.store.create(found)
    await world.live(writes=step)
    await world.live()

    system = await world.store.get(SystemBackup, "weekly")
    assert (system.status.phase, system.status.url) == (SystemBackupPhase.READY, made.status.url)
    assert await world.archives.found(None) == [place]

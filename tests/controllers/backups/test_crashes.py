"""Killed between any two steps: nothing lost, nothing doubled."""

from collections import Counter
from random import Random

import pytest

from tidegate.decide.transfers.takeover import INTERRUPTED
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.resource import Ref
from tidegate.model.transfers.mover_job import RemoveJob
from tidegate.model.transfers.transfer import PodVolumeBackup, TransferPhase
from tidegate.testing.resources.builders import a_backup
from tidegate.testing.resources.lives import MortalWorld

# More than a backup of two volumes takes; a test below makes sure of that.
STEPS = 40


async def a_world():
    world = await MortalWorld().with_volumes("db", "files")
    await world.store.create(a_backup("nightly", "shop").with_metadata(finalizers=("tidegate.dev/backup",)))
    return world


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_backup_whose_server_dies_after_any_step_ends_honestly(step):
    world = await a_world()
    await world.live(writes=step)
    before = await world.store.get(Backup, "nightly")
    await world.live()

    backup = await world.store.get(Backup, "nightly")
    uploads = (await world.store.list(PodVolumeBackup)).items
    if before.status.phase is BackupPhase.IN_PROGRESS:
        assert (backup.status.phase, backup.status.failure_reason) == (BackupPhase.FAILED, INTERRUPTED)
    else:
        assert backup.status.phase is BackupPhase.COMPLETED
        assert len(uploads) == 2
    assert all(upload.status.phase.final for upload in uploads)
    assert max(Counter(u.spec.volume_name for u in uploads).values(), default=1) == 1


async def test_the_steps_above_cover_a_whole_backup():
    world = await a_world()

    assert not (await world.live(writes=STEPS - 1)).died


@pytest.mark.parametrize("step", range(26))
async def test_a_deletion_whose_server_dies_after_any_step_is_finished_by_the_next(step):
    world = await a_world()
    await world.live()
    await world.store.delete(Ref("Backup", "nightly"))
    first = await world.live(writes=step)
    second = await world.live()

    assert (await world.store.list(Backup)).items == ()
    assert (await world.store.list(PodVolumeBackup)).items == ()
    removed = {
        job.store_backups
        for m in (*first.movers.started, *second.movers.started)
        if isinstance(job := m.job, RemoveJob)
    }
    assert len(removed) == 2


async def test_a_server_that_dies_again_and_again_still_brings_every_request_to_an_end():
    random = Random(7)
    world = await a_world()
    for life in range(30):
        await world.live(writes=random.randrange(1, 12))
        await world.store.create(a_backup(f"b{life}", "shop"))
    await world.live()

    backups = (await world.store.list(Backup)).items
    assert len(backups) == 31
    assert {b.status.phase for b in backups} <= {BackupPhase.COMPLETED, BackupPhase.FAILED}
    assert all(b.status.failure_reason for b in backups if b.status.phase is BackupPhase.FAILED)


async def test_what_a_dead_upload_may_have_left_is_cleared_but_never_a_finished_backup():
    world = await a_world()
    upload = None
    for step in range(STEPS):
        world = await a_world()
        await world.live(writes=step)
        moving = [
            t for t in (await world.store.list(PodVolumeBackup)).items if t.status.phase is TransferPhase.IN_PROGRESS
        ]
        if moving:
            upload = moving[0]
            break
    assert upload is not None

    life = await world.live()

    jobs = [mover.job for mover in life.movers.started if isinstance(mover.job, RemoveJob)]
    assert (upload.spec.store_backup,) in [job.store_backups for job in jobs]
    assert all(job.only_unfinished for job in jobs)

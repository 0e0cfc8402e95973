"""Killed between any two steps: nothing lost, nothing doubled."""

from collections import Counter
from random import Random

import pytest

from tidegate.app.wiring import build_runtime
from tidegate.controllers.recovery import recover
from tidegate.decide.recovery import INTERRUPTED
from tidegate.errors import RetryableError
from tidegate.model.backup import Backup, BackupPhase
from tidegate.model.mover_job import RemoveJob
from tidegate.model.resource import Ref
from tidegate.model.transfer import PodVolumeBackup, TransferPhase
from tidegate.resources.memory import MemoryStore
from tidegate.testing.builders import a_backup, a_node, a_target, a_volume
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.crashing_store import CrashingStore
from tidegate.testing.identity import counting_ids
from tidegate.testing.movers import FakeMovers

# More than a backup of two volumes takes; a test below makes sure of that.
STEPS = 40


class FineWeather:
    async def check_target(self, access):
        return None


async def live(store, clock, *, writes=10**6):
    """One life of a server on this store, until it is idle or dead: its movers, and whether it died."""
    movers = FakeMovers(obliging=True)
    mortal = CrashingStore(store, writes)
    runtime, supervisor = build_runtime(mortal, clock, movers, FineWeather())
    try:
        await recover(mortal, clock)
    except RetryableError:
        return movers, True
    runtime.start()
    await settle(1500)
    await runtime.stop()
    await supervisor.close()
    return movers, mortal.dead


async def a_world():
    clock = ManualClock()
    store = MemoryStore(clock=clock, new_id=counting_ids())
    await store.create(a_target("store"))
    await store.create(a_node())
    for name in ("db", "files"):
        await store.create(a_volume("shop", name))
    backup = a_backup("nightly", "shop").with_metadata(finalizers=("tidegate.dev/backup",))
    await store.create(backup)
    return store, clock


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_backup_whose_server_dies_after_any_step_ends_honestly(step):
    store, clock = await a_world()
    await live(store, clock, writes=step)
    before = await store.get(Backup, "nightly")
    await live(store, clock)

    backup = await store.get(Backup, "nightly")
    uploads = (await store.list(PodVolumeBackup)).items
    if before.status.phase is BackupPhase.IN_PROGRESS:
        assert (backup.status.phase, backup.status.failure_reason) == (BackupPhase.FAILED, INTERRUPTED)
    else:
        assert backup.status.phase is BackupPhase.COMPLETED
        assert len(uploads) == 2
    assert all(upload.status.phase.final for upload in uploads)
    assert max(Counter(u.spec.volume_name for u in uploads).values(), default=1) == 1


async def test_the_steps_above_cover_a_whole_backup():
    store, clock = await a_world()

    _, died = await live(store, clock, writes=STEPS - 1)

    assert not died


@pytest.mark.parametrize("step", range(12))
async def test_a_deletion_whose_server_dies_after_any_step_is_finished_by_the_next(step):
    store, clock = await a_world()
    await live(store, clock)
    await store.delete(Ref("Backup", "nightly"))
    first, _ = await live(store, clock, writes=step)
    second, _ = await live(store, clock)

    assert (await store.list(Backup)).items == ()
    assert (await store.list(PodVolumeBackup)).items == ()
    removed = {job.store_backups for m in (*first.started, *second.started) if isinstance(job := m.job, RemoveJob)}
    assert len(removed) == 2


async def test_a_server_that_dies_again_and_again_still_brings_every_request_to_an_end():
    random = Random(7)
    store, clock = await a_world()
    for life in range(30):
        await live(store, clock, writes=random.randrange(1, 12))
        await store.create(a_backup(f"b{life}", "shop"))
    await live(store, clock)

    backups = (await store.list(Backup)).items
    assert len(backups) == 31
    assert {b.status.phase for b in backups} <= {BackupPhase.COMPLETED, BackupPhase.FAILED}
    assert all(b.status.failure_reason for b in backups if b.status.phase is BackupPhase.FAILED)


async def test_what_a_dead_upload_may_have_left_is_cleared_but_never_a_finished_backup():
    store, clock = await a_world()
    upload = None
    for step in range(STEPS):
        store, clock = await a_world()
        await live(store, clock, writes=step)
        moving = [t for t in (await store.list(PodVolumeBackup)).items if t.status.phase is TransferPhase.IN_PROGRESS]
        if moving:
            upload = moving[0]
            break
    assert upload is not None

    movers, _ = await live(store, clock)

    jobs = [mover.job for mover in movers.started if isinstance(mover.job, RemoveJob)]
    assert (upload.spec.store_backup,) in [job.store_backups for job in jobs]
    assert all(job.only_unfinished for job in jobs)

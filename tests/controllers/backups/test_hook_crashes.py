"""Killed between any two steps of a backup with hooks: whatever was frozen is thawed, before anything else is said."""

import pytest

from tidegate.decide.transfers.takeover import INTERRUPTED
from tidegate.model.backups.backup import Backup, BackupPhase, OnInterruption
from tidegate.model.resource import Ref
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, PodVolumeBackup
from tidegate.testing.resources.builders import a_backup, freezing
from tidegate.testing.resources.lives import MortalWorld

# More than such a backup takes; a test below makes sure of that.
STEPS = 45


async def a_world(**spec):
    world = await MortalWorld().with_volumes("db", "files")
    backup = a_backup("nightly", "shop").with_spec(hooks=freezing(), **spec)
    await world.store.create(backup.with_metadata(finalizers=("tidegate.dev/backup",)))
    return world


def still_frozen(hooks):
    """Volumes whose last hook was one that freezes."""
    last = {run.volumes: run.command[0] for run in hooks.runs}
    return [volumes for volumes, command in last.items() if command == "freeze"]


@pytest.mark.parametrize("step", range(STEPS))
async def test_nothing_stays_frozen_whenever_the_server_dies(step):
    world = await a_world()
    await world.live(writes=step)
    before = await world.store.get(Backup, "nightly")
    await world.live()

    backup = await world.store.get(Backup, "nightly")
    assert still_frozen(world.hooks) == []
    assert backup.status.blocks == ()
    if before.status.phase is BackupPhase.IN_PROGRESS:
        assert (backup.status.phase, backup.status.failure_reason) == (BackupPhase.FAILED, INTERRUPTED)
    else:
        assert backup.status.phase is BackupPhase.COMPLETED
    assert all(upload.status.phase.final for upload in (await world.store.list(PodVolumeBackup)).items)


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_backup_that_begins_anew_thaws_first(step):
    world = await a_world(on_interruption=OnInterruption.REQUEUE)
    await world.live(writes=step)
    await world.live()

    backup = await world.store.get(Backup, "nightly")
    assert (backup.status.phase, still_frozen(world.hooks)) == (BackupPhase.COMPLETED, [])
    frozen = set()
    for run in world.hooks.runs:
        if run.command[0] == "freeze":
            assert run.volumes not in frozen, "frozen again without a thaw in between"
            frozen.add(run.volumes)
        else:
            frozen.discard(run.volumes)


@pytest.mark.parametrize("second", range(6))
@pytest.mark.parametrize("first", range(8, 24, 3))
async def test_dying_again_while_thawing_is_healed_too(first, second):
    world = await a_world()
    await world.live(writes=first)
    await world.live(writes=second)
    await world.live()

    assert still_frozen(world.hooks) == []
    assert (await world.store.get(Backup, "nightly")).status.phase.final


@pytest.mark.parametrize("step", range(12))
async def test_a_deletion_that_is_cut_short_thaws_too(step):
    world = await a_world()
    await world.live(writes=9)
    assert still_frozen(world.hooks) == [("db",)], "it died at a moment that matters"
    await world.store.delete(Ref("Backup", "nightly"))
    await world.live(writes=step)
    await world.live()

    assert still_frozen(world.hooks) == []
    assert (await world.store.list(Backup)).items == ()


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_volume_whose_pre_hook_failed_is_never_moved_whenever_the_server_dies(step):
    world = await a_world(on_interruption=OnInterruption.REQUEUE)
    world.hooks.failing = {"freeze": "the database does not answer"}
    lives = [await world.live(writes=step), await world.live()]

    backup = await world.store.get(Backup, "nightly")
    uploads = [
        upload
        for upload in (await world.store.list(PodVolumeBackup)).items
        if upload.metadata.labels[ATTEMPT_LABEL] == str(backup.status.attempt)
    ]
    why = "pre hook database for shop: the database does not answer"
    assert [(str(u.status.phase), u.status.message, u.status.error_code) for u in uploads] == [
        ("Failed", why, "HookFailed")
    ] * 2
    assert (backup.status.phase, backup.status.errors) == (BackupPhase.FAILED, 2)
    assert not any(life.movers.started for life in lives)


async def test_the_steps_above_cover_a_whole_backup():
    world = await a_world()

    assert not (await world.live(writes=STEPS - 1)).died

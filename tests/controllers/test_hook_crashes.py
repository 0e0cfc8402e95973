"""Killed between any two steps of a backup with hooks: whatever was frozen is thawed, before anything else is said."""

import pytest

from tidegate.app.wiring import build_runtime
from tidegate.controllers.recovery import recover
from tidegate.decide.recovery import INTERRUPTED
from tidegate.errors import RetryableError
from tidegate.model.backup import Backup, BackupPhase, OnInterruption
from tidegate.model.resource import Ref
from tidegate.model.transfer import PodVolumeBackup
from tidegate.resources.memory import MemoryStore
from tidegate.testing.builders import a_backup, a_node, a_target, a_volume, freezing
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.crashing_store import CrashingStore
from tidegate.testing.hooks import FakeHooks
from tidegate.testing.identity import counting_ids
from tidegate.testing.movers import FakeMovers

# More than such a backup takes; a test below makes sure of that.
STEPS = 45


class FineWeather:
    async def check_target(self, access):
        return None


async def live(store, clock, hooks, *, writes=10**6):
    """One life of a server on this store, until it is idle or dead; whether it died."""
    mortal = CrashingStore(store, writes)
    movers = FakeMovers(obliging=True)
    runtime, supervisor = build_runtime(mortal, clock, movers, FineWeather(), hooks=hooks)
    try:
        await recover(mortal, clock)
    except RetryableError:
        return True
    runtime.start()
    await settle(1500)
    await runtime.stop()
    await supervisor.close()
    return mortal.dead


async def a_world(**spec):
    clock = ManualClock()
    store = MemoryStore(clock=clock, new_id=counting_ids())
    await store.create(a_target("store"))
    await store.create(a_node())
    for name in ("db", "files"):
        await store.create(a_volume("shop", name))
    backup = a_backup("nightly", "shop").with_spec(hooks=freezing(), **spec)
    await store.create(backup.with_metadata(finalizers=("tidegate.dev/backup",)))
    return store, clock


def still_frozen(hooks):
    """Volumes whose last hook was one that freezes."""
    last = {run.volumes: run.command[0] for run in hooks.runs}
    return [volumes for volumes, command in last.items() if command == "freeze"]


@pytest.mark.parametrize("step", range(STEPS))
async def test_nothing_stays_frozen_whenever_the_server_dies(step):
    store, clock = await a_world()
    hooks = FakeHooks()
    await live(store, clock, hooks, writes=step)
    before = await store.get(Backup, "nightly")
    await live(store, clock, hooks)

    backup = await store.get(Backup, "nightly")
    assert still_frozen(hooks) == []
    assert backup.status.blocks == ()
    if before.status.phase is BackupPhase.IN_PROGRESS:
        assert (backup.status.phase, backup.status.failure_reason) == (BackupPhase.FAILED, INTERRUPTED)
    else:
        assert backup.status.phase is BackupPhase.COMPLETED
    assert all(upload.status.phase.final for upload in (await store.list(PodVolumeBackup)).items)


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_backup_that_begins_anew_thaws_first(step):
    store, clock = await a_world(on_interruption=OnInterruption.REQUEUE)
    hooks = FakeHooks()
    await live(store, clock, hooks, writes=step)
    await live(store, clock, hooks)

    backup = await store.get(Backup, "nightly")
    assert (backup.status.phase, still_frozen(hooks)) == (BackupPhase.COMPLETED, [])
    frozen = set()
    for run in hooks.runs:
        if run.command[0] == "freeze":
            assert run.volumes not in frozen, "frozen again without a thaw in between"
            frozen.add(run.volumes)
        else:
            frozen.discard(run.volumes)


@pytest.mark.parametrize("second", range(6))
@pytest.mark.parametrize("first", range(8, 24, 3))
async def test_dying_again_while_thawing_is_healed_too(first, second):
    store, clock = await a_world()
    hooks = FakeHooks()
    await live(store, clock, hooks, writes=first)
    await live(store, clock, hooks, writes=second)
    await live(store, clock, hooks)

    assert still_frozen(hooks) == []
    assert (await store.get(Backup, "nightly")).status.phase.final


@pytest.mark.parametrize("step", range(12))
async def test_a_deletion_that_is_cut_short_thaws_too(step):
    store, clock = await a_world()
    hooks = FakeHooks()
    await live(store, clock, hooks, writes=9)
    assert still_frozen(hooks) == [("db",)], "it died at a moment that matters"
    await store.delete(Ref("Backup", "nightly"))
    await live(store, clock, hooks, writes=step)
    await live(store, clock, hooks)

    assert still_frozen(hooks) == []
    assert (await store.list(Backup)).items == ()


async def test_the_steps_above_cover_a_whole_backup():
    store, clock = await a_world()

    assert not await live(store, clock, FakeHooks(), writes=STEPS - 1)

"""A restore whose server is killed between any two steps goes on and brings everything back."""

import pytest

from tidegate.app.wiring import build_runtime
from tidegate.controllers.recovery import recover
from tidegate.errors import RetryableError
from tidegate.model.resource import Metadata
from tidegate.model.restore import RESTORE_FINALIZER, Restore, RestorePhase, RestoreSpec
from tidegate.model.transfer import PodVolumeRestore
from tidegate.resources.memory import MemoryStore
from tidegate.testing.builders import a_backup, a_target, a_volume
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.crashing_store import CrashingStore
from tidegate.testing.identity import counting_ids
from tidegate.testing.movers import FakeMovers

# More than a restore of two volumes takes; a test below makes sure of that.
STEPS = 30


class FineWeather:
    async def check_target(self, access):
        return None


async def live(store, clock, *, writes=10**6):
    """One life of a server on this store, until it is idle or dead; whether it died."""
    mortal = CrashingStore(store, writes)
    runtime, supervisor = build_runtime(mortal, clock, FakeMovers(obliging=True), "node-a", FineWeather())
    try:
        await recover(mortal, clock)
    except RetryableError:
        return True
    runtime.start()
    await settle(1500)
    await runtime.stop()
    await supervisor.close()
    return mortal.dead


async def a_world():
    """A finished backup of two volumes, and somebody who wants it back."""
    clock = ManualClock()
    store = MemoryStore(clock=clock, new_id=counting_ids())
    await store.create(a_target("store"))
    for name in ("db", "files"):
        await store.create(a_volume("shop", name, f"/data/{name}"))
    await store.create(a_backup("b", "shop"))
    await live(store, clock)
    metadata = Metadata(name="r", finalizers=(RESTORE_FINALIZER,))
    await store.create(Restore(metadata=metadata, spec=RestoreSpec(backup_name="b")))
    return store, clock


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_restore_whose_server_dies_after_any_step_is_completed_by_the_next(step):
    store, clock = await a_world()
    await live(store, clock, writes=step)
    await live(store, clock)

    restore = await store.get(Restore, "r")
    downloads = (await store.list(PodVolumeRestore)).items
    assert restore.status.phase is RestorePhase.COMPLETED
    assert sorted(download.spec.path for download in downloads) == ["/data/db", "/data/files"]
    assert restore.status.progress is not None
    assert restore.status.progress.items_restored == 2


async def test_the_steps_above_cover_a_whole_restore():
    store, clock = await a_world()

    assert not await live(store, clock, writes=STEPS - 1)

"""Everything that may let a backup start wakes the queue: in none of these tests does any time pass."""

import pytest
from structlog.testing import capture_logs

from tidegate.decide.backups.interruption import interrupted
from tidegate.model.backups.backup import Backup, BackupPhase, OnInterruption
from tidegate.model.resource import Metadata, Ref
from tidegate.model.setting import Setting
from tidegate.model.volumes.volume import Namespace
from tidegate.testing.clock import BEGINNING
from tidegate.testing.resources.builders import a_backup

QUEUED = BackupPhase.QUEUED


async def places(world):
    table = world.runtime.state.queue
    return {b.name: (str(b.status.phase), table.position(b.name)) for b in await world.all(Backup)}


@pytest.fixture
async def busy(world):
    """One that runs, and one that waits for it."""
    await world.volumes("shop/db", "blog/db")
    for name in ("runs", "waits"):
        await world.store.create(a_backup(name, "shop"))
        await world.settle()
    assert await places(world) == {"runs": ("InProgress", None), "waits": ("Queued", 1)}
    yield world
    assert world.clock.now() == BEGINNING


async def test_a_new_backup_starts_at_once_where_nothing_is_in_its_way(busy):
    await busy.setting("concurrent-backups", "2")
    await busy.store.create(a_backup("other", "blog"))
    await busy.settle()

    assert (await places(busy))["other"] == ("InProgress", None)


# Cases 1 to 3 of the original's own suite: joining the queue.
async def test_the_first_new_backup_gets_the_first_place_and_the_next_the_next(world):
    await world.setting("backup-queue-paused", "true")
    await world.store.create(a_backup("b11"))
    await world.settle()
    assert await places(world) == {"b11": ("Queued", 1)}

    await world.store.create(a_backup("b12"))
    await world.settle()

    assert await places(world) == {"b11": ("Queued", 1), "b12": ("Queued", 2)}


async def test_a_backup_that_runs_is_none_of_the_queues_business(busy):
    before = (await busy.store.get(Backup, "runs")).metadata.resource_version
    await busy.setting("backup-queue-paused", "true")

    assert (await busy.store.get(Backup, "runs")).metadata.resource_version == before


# One that is Deleting keeps its slot until it is gone: see test_deleting_what_runs.py.
KEEPING = {BackupPhase.NEW, QUEUED, BackupPhase.READY_TO_START, BackupPhase.IN_PROGRESS, BackupPhase.DELETING}
FREEING = [phase for phase in BackupPhase if phase not in KEEPING]


@pytest.mark.parametrize("phase", FREEING)
async def test_every_step_out_of_a_slot_lets_the_next_one_in(busy, phase):
    running = await busy.store.get(Backup, "runs")
    await busy.store.update_status(running.with_status(phase=phase))
    await busy.settle()

    assert (await places(busy))["waits"] == ("InProgress", None)


async def test_the_end_of_a_transfer_lets_the_next_one_in(busy):
    busy.movers.started[0].finish()
    await busy.settle()

    assert await places(busy) == {"runs": ("Completed", None), "waits": ("InProgress", None)}


async def test_the_log_tells_of_each_admission_how_long_the_backup_waited(world):
    await world.volumes("shop/db")
    with capture_logs() as told:
        for name in ("first", "second"):
            await world.store.create(a_backup(name, "shop"))
            await world.settle()
        await world.passes(seconds=70)
        world.movers.started[0].finish()
        await world.settle()

    admissions = [
        (line["backup"], line["waited_seconds"]) for line in told if line["event"] == "backup leaves the queue"
    ]
    assert admissions == [("first", 0.0), ("second", 70.0)]


async def test_a_deletion_lets_the_next_one_in(busy):
    await busy.store.delete(Ref("Backup", "runs"))
    await busy.settle()

    assert (await places(busy))["waits"] == ("InProgress", None)


async def test_a_namesake_of_one_that_was_deleted_stands_at_the_end(busy):
    await busy.store.create(a_backup("behind", "shop"))
    await busy.settle()
    await busy.store.delete(Ref("Backup", "waits"))
    await busy.store.create(a_backup("waits", "shop"))
    await busy.settle()

    assert await places(busy) == {"runs": ("InProgress", None), "behind": ("Queued", 1), "waits": ("Queued", 2)}


async def test_the_queue_carries_out_a_move_and_a_backup_that_is_queued_again_keeps_its_place(busy):
    await busy.store.create(a_backup("behind", "shop"))
    await busy.settle()
    first, last = await busy.store.get(Backup, "waits"), await busy.store.get(Backup, "behind")

    await busy.store.update(last.with_spec(queue_ticket=first.ticket - 1))
    await busy.settle()

    assert await places(busy) == {"runs": ("InProgress", None), "behind": ("Queued", 1), "waits": ("Queued", 2)}
    moved = await busy.store.get(Backup, "behind")
    assert moved.status.queue_ticket == first.ticket - 1
    assert moved.status.events == last.status.events
    ran = moved.with_spec(on_interruption=OnInterruption.REQUEUE).with_status(phase=BackupPhase.IN_PROGRESS)
    assert interrupted(ran, now=BEGINNING).ticket == first.ticket - 1


async def test_cancelling_what_runs_lets_the_next_one_in(busy):
    await busy.store.cancel(Ref("Backup", "runs"))
    await busy.settle()

    assert await places(busy) == {"runs": ("Canceled", None), "waits": ("InProgress", None)}


async def test_cancelling_what_waits_lets_those_behind_step_forward(busy):
    await busy.store.create(a_backup("behind", "shop"))
    await busy.settle()
    await busy.store.cancel(Ref("Backup", "waits"))
    await busy.settle()

    assert await places(busy) == {"runs": ("InProgress", None), "waits": ("Canceled", None), "behind": ("Queued", 1)}


async def test_a_higher_limit_and_an_end_of_the_pause_count_at_once(busy):
    await busy.store.create(a_backup("other", "blog"))
    await busy.setting("backup-queue-paused", "true")
    await busy.setting("concurrent-backups", "2")
    assert (await places(busy))["other"] == ("Queued", 2)

    await busy.store.delete(Ref("Setting", "backup-queue-paused"))
    await busy.settle()

    assert (await places(busy))["other"] == ("InProgress", None)


async def test_a_lower_limit_ends_nothing_and_starts_nothing(busy):
    await busy.setting("concurrent-backups", "2")
    await busy.store.create(a_backup("other", "blog"))
    await busy.settle()
    limit = await busy.store.get(Setting, "concurrent-backups")
    await busy.store.update(limit.with_spec(value="1"))
    await busy.settle()
    busy.movers.started[0].finish()
    await busy.settle()

    assert await places(busy) == {
        "runs": ("Completed", None),
        "other": ("InProgress", None),
        "waits": ("Queued", 1),
    }


async def test_a_target_that_is_back_lets_its_backups_go(world):
    await world.volumes("shop/db")
    world.store_probe.down = True
    world.runtime.wakes.wake("target", Ref("BackupTarget", "store"))
    await world.settle()
    await world.store.create(a_backup("patient", "shop"))
    await world.settle()
    assert await places(world) == {"patient": ("Queued", 1)}

    world.store_probe.down = False
    world.runtime.wakes.wake("target", Ref("BackupTarget", "store"))
    await world.settle()

    assert await places(world) == {"patient": ("InProgress", None)}
    assert world.clock.now() == BEGINNING


async def test_a_namespace_that_comes_counts_at_once(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("all"))
    await world.settle()
    await world.store.create(a_backup("some", "s*"))
    await world.settle()

    await world.store.create(Namespace(metadata=Metadata(name="staff")))
    await world.settle()

    assert "staff" in (await world.store.get(Backup, "some")).status.condition("Waiting").message
    assert world.clock.now() == BEGINNING


async def test_a_volume_that_goes_counts_at_once_where_overlap_is_judged_by_volumes(busy):
    await busy.setting("concurrent-backups", "2")
    await busy.setting("overlap-detection", "volume")
    assert (await places(busy))["waits"] == ("Queued", 1)

    await busy.store.delete(Ref("Volume", "db", "shop"))
    await busy.settle()

    assert (await places(busy))["waits"][0] == "PartiallyFailed"  # nothing is left that it could back up

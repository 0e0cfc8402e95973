"""A server ends in the middle of its work, its movers do not, and another server goes on with it."""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from controllers.conftest import World  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.decide.transfers.takeover import INTERRUPTED
from tidegate.model.backups.backup import Backup, OnInterruption
from tidegate.model.resource import Metadata, Ref
from tidegate.model.restores.restore import Restore, RestoreSpec
from tidegate.model.schedules.schedule import SKIPPED_CONDITION, Schedule
from tidegate.model.stores.deletion import Deletion
from tidegate.model.transfers.mover_job import RemoveJob
from tidegate.model.transfers.transfer import (
    ATTEMPT_LABEL,
    DataUpload,
    PodVolumeBackup,
    PodVolumeRestore,
    TransferPhase,
)
from tidegate.testing.doubles.surviving_movers import SurvivingMovers
from tidegate.testing.resources.builders import a_backup, a_schedule, a_transfer, freezing
from tidegate.testing.resources.put import put

MIB = 1024 * 1024


@dataclass
class SurvivingWorld(World):
    """The movers live elsewhere; each server has a host of its own."""

    cut_off: bool = False
    """The next server cannot list them."""

    @property
    def host(self):
        self.last_host = SurvivingMovers(self.movers, cut_off=self.cut_off)
        return self.last_host

    async def another_server(self):
        await self.end()
        await self.begin_again()

    def jobs(self):
        return [mover.job for mover in (*self.movers.started, *self.movers.waiting)]

    async def names(self):
        return [label.name for label in await self.movers.list()]

    async def finish(self, *movers):
        for mover in movers:
            mover.finish(size=1)
        await self.settle()


@pytest.fixture
async def world():
    world = SurvivingWorld()
    await world.start()
    yield world
    await world.end()


@pytest.fixture
async def uploading(world):
    """A backup of two volumes whose movers move."""
    await world.volumes("shop/db", "blog/posts")
    await world.setting("load-concurrency", '{"globalConfig": 2}')
    await world.setting("item-block-worker-count", "2")
    await world.store.create(a_backup("b"))
    await world.settle()
    assert [mover.gone for mover in world.movers.started] == [True, True]
    return world


async def failure(world, name="b"):
    status = (await world.store.get(Backup, name)).status
    return str(status.phase), status.failure_reason


async def test_a_backup_goes_on_and_no_second_upload_is_started(uploading):
    await uploading.another_server()
    assert await uploading.phase(Backup, "b") == "InProgress"
    assert {str(one.status.phase) for one in await uploading.all(PodVolumeBackup)} == {"InProgress"}

    await uploading.finish(*uploading.movers.started)

    assert await uploading.phase(Backup, "b") == "Completed"
    assert len(uploading.jobs()) == 2
    assert await uploading.names() == [], "outcomes that are written down are given up"


async def test_the_outcome_of_a_mover_that_ended_while_no_server_was_there_counts(uploading):
    first, second = uploading.movers.started
    await uploading.end()
    first.finish(size=1)
    second.fail("SourceUnreadable", "the disk is gone")
    await uploading.begin_again()

    assert await uploading.phase(Backup, "b") == "PartiallyFailed"
    assert {one.status.message for one in await uploading.all(PodVolumeBackup)} == {"", "the disk is gone"}
    assert len(uploading.jobs()) == 2


async def test_a_restore_goes_on_and_no_second_download_is_started(uploading):
    await uploading.finish(*uploading.movers.started)
    uploading.movers.started.clear()
    await uploading.store.create(Restore(metadata=Metadata(name="r"), spec=RestoreSpec(backup_name="b")))
    await uploading.settle()
    assert len(uploading.movers.started) == 2

    await uploading.another_server()
    uploading.movers.started[0].finish(size=1)
    await uploading.another_server()
    await uploading.finish(uploading.movers.started[1])

    assert await uploading.phase(Restore, "r") == "Completed"
    assert len(uploading.jobs()) == 2
    assert {one.metadata.labels.get(ATTEMPT_LABEL, "0") for one in await uploading.all(PodVolumeRestore)} == {"0"}


@pytest.mark.parametrize("final", [TransferPhase.NEW, TransferPhase.FAILED, TransferPhase.CANCELED])
async def test_a_mover_that_no_transfer_waits_for_any_more_is_stopped(world, final):
    upload = await world.store.create(a_transfer("t"))
    await world.settle()
    (mover,) = world.movers.started
    await world.end()
    if final is TransferPhase.NEW:
        await world.store.delete(Ref("DataUpload", "t"))
    else:
        found = await world.store.get(DataUpload, "t")
        await world.store.update_status(found.with_status(phase=final))
    await world.begin_again()

    assert mover.cancelled
    assert upload.metadata.uid not in await world.names()


async def test_a_backup_of_which_one_mover_is_gone_fails_and_stops_the_others(uploading):
    gone, stays = uploading.movers.started
    await uploading.end()
    names = await uploading.names()
    await uploading.movers.stop(names[0])
    await uploading.begin_again()

    assert await failure(uploading) == ("Failed", INTERRUPTED)
    assert gone.cancelled
    assert stays.cancelled
    removals = [mover for mover in uploading.movers.started if isinstance(mover.job, RemoveJob)]
    await uploading.finish(*removals)
    assert {str(one.status.phase) for one in await uploading.all(PodVolumeBackup)} == {"Failed"}
    assert {one.status.message for one in await uploading.all(PodVolumeBackup)} == {INTERRUPTED}


async def test_a_backup_of_which_one_mover_is_gone_begins_anew_if_it_shall(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("b").with_spec(on_interruption=OnInterruption.REQUEUE))
    await world.settle()
    await world.end()
    for name in await world.names():
        await world.movers.stop(name)
    await world.begin_again()

    assert (await world.store.get(Backup, "b")).status.attempt == 1
    for mover in [*world.movers.started]:
        mover.finish(size=1)
    await world.settle()
    await world.finish(*world.movers.started)
    assert await world.phase(Backup, "b") == "Completed"
    attempts = {one.metadata.labels[ATTEMPT_LABEL]: str(one.status.phase) for one in await world.all(PodVolumeBackup)}
    assert attempts == {"0": "Failed", "1": "Completed"}


async def test_an_upload_that_waits_for_its_node_keeps_its_mover(world):
    await world.setting("load-concurrency", '{"globalConfig": 1}')
    for name in ("first", "second"):
        await world.store.create(a_transfer(name, volume=("ns", name)))
        await world.settle()
    assert await world.phase(DataUpload, "second") == "Prepared"

    await world.another_server()
    assert (await world.phase(DataUpload, "first"), await world.phase(DataUpload, "second")) == (
        "InProgress",
        "Prepared",
    )
    await world.finish(world.movers.started[0])

    assert await world.phase(DataUpload, "second") == "InProgress"
    assert len(world.jobs()) == 2


async def test_an_adopted_mover_gets_the_limits_of_its_node(world):
    await put(world.store, a_transfer("t"))
    await world.settle()
    (mover,) = world.movers.started
    await world.end()
    await world.setting("limit-upload", str(8 * MIB))
    await world.begin_again()

    assert mover.limits == (8 * MIB, None)
    await world.finish(mover)
    assert await world.phase(DataUpload, "t") == "Completed"


async def test_the_removal_of_what_an_upload_left_goes_on(world):
    await world.store.create(a_transfer("t"))
    await world.settle()
    upload = await world.store.get(DataUpload, "t")
    await world.end()
    canceling = upload.with_status(
        phase=TransferPhase.CANCELING, message=INTERRUPTED, canceling_timestamp=world.clock.now()
    )
    await world.store.update_status(canceling)
    for name in await world.names():
        await world.movers.stop(name)
    await world.begin_again()
    removal = world.movers.started[-1]
    assert isinstance(removal.job, RemoveJob)

    await world.another_server()
    assert not removal.cancelled
    await world.finish(removal)

    assert await world.phase(DataUpload, "t") == "Failed"
    assert [isinstance(job, RemoveJob) for job in world.jobs()].count(True) == 1


async def test_an_application_that_is_frozen_stays_so_until_its_adopted_uploads_are_done(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing()))
    await world.settle()
    assert [run.command[0] for run in world.hooks.runs] == ["freeze"]

    await world.another_server()
    assert [run.command[0] for run in world.hooks.runs] == ["freeze"]
    await world.finish(*world.movers.started)

    assert await world.phase(Backup, "b") == "Completed"
    assert [run.command[0] for run in world.hooks.runs] == ["freeze", "thaw"]


async def test_a_pre_hook_that_ended_with_its_server_interrupts_the_backup_which_thaws_first(world):
    world.hooks.stuck = {"freeze"}
    await world.volumes("shop/db")
    await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing()))
    await world.settle()

    await world.another_server()

    assert await failure(world) == ("Failed", INTERRUPTED)
    assert [run.command[0] for run in world.hooks.runs] == ["freeze", "thaw"]


async def test_nothing_is_decided_while_movers_cannot_be_listed(uploading):
    await uploading.end()
    uploading.cut_off = True
    await uploading.begin_again()
    assert await uploading.phase(Backup, "b") == "InProgress"
    assert len(uploading.jobs()) == 2

    uploading.last_host.cut_off = False
    await uploading.passes(minutes=1)
    await uploading.finish(*uploading.movers.started)

    assert await uploading.phase(Backup, "b") == "Completed"


async def test_a_schedule_skips_nothing_for_a_backup_of_which_it_is_not_known_whether_it_goes_on(world):
    await world.volumes("shop/db")
    await world.store.create(a_schedule("hourly", "0 * * * *", "shop"))
    await world.passes(hours=1)
    assert await world.phase(Backup, "hourly-20260101010000") == "InProgress"
    await world.end()
    for name in await world.names():
        await world.movers.stop(name)
    await world.clock.advance(timedelta(hours=1))
    world.cut_off = True
    await world.begin_again()
    schedule = await world.store.get(Schedule, "hourly")
    assert (len(await world.all(Backup)), schedule.status.condition(SKIPPED_CONDITION)) == (1, None)

    world.last_host.cut_off = False
    await world.passes(minutes=1)

    assert [(one.name, str(one.status.phase)) for one in await world.all(Backup)] == [
        ("hourly-20260101010000", "Failed"),
        ("hourly-20260101020000", "InProgress"),
    ]


async def test_an_emergency_ends_movers_that_would_outlive_their_server_too(uploading):
    await uploading.runtime.stop()

    await uploading.supervisor.end_all()

    assert [mover.cancelled for mover in uploading.movers.started] == [True, True]
    assert await uploading.names() == []


async def test_a_removal_that_outlived_its_server_is_not_started_again(uploading):
    await uploading.finish(*uploading.movers.started)
    uploading.movers.started.clear()
    await uploading.store.delete(Ref("Backup", "b"))
    await uploading.settle()
    removals = list(uploading.movers.started)
    assert len(removals) == 2

    await uploading.another_server()
    assert uploading.movers.started == removals
    await uploading.finish(*removals)

    assert {str(one.status.phase) for one in await uploading.all(Deletion)} == {"Done"}
    assert await uploading.all(Backup) == []
    assert uploading.movers.started == removals

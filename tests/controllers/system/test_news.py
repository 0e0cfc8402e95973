"""From a system backup or restore that went wrong to somebody who knows of it."""

import pytest

from tidegate.model.notifications.notification import Notification, NotificationSpec
from tidegate.model.resource import Metadata
from tidegate.model.system.system import SystemBackupSpec, VolumeBackupPolicy
from tidegate.model.system.system_restore import SystemRestore, SystemRestoreSpec
from tidegate.testing.resources.builders import a_schedule
from tidegate.testing.resources.put import put


@pytest.fixture
async def watched(world):
    """One volume, a schedule of system backups that back it up, and somebody who wants to know."""
    await world.volumes("shop/db")
    await world.store.create(Notification(metadata=Metadata(name="ops"), spec=NotificationSpec(secret="address")))
    template = SystemBackupSpec(volume_backup_policy=VolumeBackupPolicy.ALWAYS)
    await world.store.create(a_schedule("system", "0 * * * *", system_backup=template))
    await world.settle()
    return world


async def an_hour(world, *, works):
    await world.passes(hours=1)
    mover = world.movers.started[-1]
    if works:
        mover.finish(size=1)
    else:
        mover.fail("SourceUnreadable", "the disk is broken")
    await world.settle()


async def test_a_failure_and_the_recovery_after_it_are_each_told_once(watched):
    for works in (True, False, True, True):
        await an_hour(watched, works=works)
    await watched.restart()

    assert watched.notifier.told == [
        "Failure: System backup system-20260101020000 is Error",
        "Recovery: Schedule system works again: system backup system-20260101030000 is Ready",
    ]
    assert watched.notifier.sent[0][1].message == "volume shop/db: the disk is broken"


async def test_a_time_that_went_by_while_the_last_one_still_runs_is_told(watched):
    await watched.movers_may_be_silent()
    await watched.passes(hours=1)
    await watched.passes(hours=1)

    assert watched.notifier.told == ["MissedSchedule: Schedule system skipped a system backup"]


async def test_times_without_a_server_are_told_by_the_next_one(watched):
    await watched.runtime.stop()
    await watched.passes(hours=5)
    await watched.restart()

    assert watched.notifier.told == ["MissedSchedule: Schedule system missed system backups while no server was there"]


async def test_a_system_restore_that_failed_is_told(watched):
    system = SystemRestore(metadata=Metadata(name="back"), spec=SystemRestoreSpec(system_backup="s"))
    await put(watched.store, system.with_status(target="gone", source_url="file:///nowhere"))
    await watched.settle()

    assert watched.notifier.told == ["Failure: System restore back is Error"]

"""Schedules of system backups, and system backups that another machine wrote."""

import pytest

from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Ref
from tidegate.model.schedules.retention import Retention
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup, SystemBackupPhase, SystemBackupSpec, VolumeBackupPolicy
from tidegate.testing.resources.builders import a_schedule, a_system_backup
from tidegate.testing.resources.lives import MortalWorld
from tidegate.testing.resources.put import put


def hourly(policy=VolumeBackupPolicy.DISABLED, **spec):
    return a_schedule("system", "0 * * * *", system_backup=SystemBackupSpec(volume_backup_policy=policy), **spec)


async def names(world):
    return [system.name for system in await world.all(SystemBackup)]


async def test_a_schedule_makes_system_backups_at_its_times_and_no_backups(world):
    await world.store.create(hourly())
    await world.passes(hours=2, minutes=1)

    systems = await world.all(SystemBackup)
    assert [system.name for system in systems] == ["system-20260101010000", "system-20260101020000"]
    assert {(str(s.status.phase), s.spec.target, str(s.spec.volume_backup_policy)) for s in systems} == {
        ("Ready", "store", "disabled")
    }
    assert await world.all(Backup) == []


async def test_a_run_is_skipped_while_an_earlier_system_backup_is_not_finished(world):
    await world.volumes("shop/db")
    await world.movers_may_be_silent()
    await world.store.create(hourly(VolumeBackupPolicy.ALWAYS))
    await world.passes(hours=2, minutes=1)

    schedule = await world.store.get(Schedule, "system")
    assert await names(world) == ["system-20260101010000"]
    assert schedule.status.condition("Skipped").reason == "EarlierBackupNotFinal"


async def test_retention_lets_old_system_backups_go_with_their_archives(world):
    await world.store.create(hourly(retention=Retention(keep_last=2)))
    await world.passes(hours=4, minutes=1)

    kept = ["system-20260101030000", "system-20260101040000"]
    assert await names(world) == kept
    assert [place.name for place in await world.archives.found(None)] == kept


async def test_volume_backups_stay_although_retention_takes_the_system_backup_that_made_them(world):
    await world.volumes("shop/db")
    world.movers.obliging = True
    await world.store.create(hourly(VolumeBackupPolicy.IF_NOT_PRESENT, retention=Retention(keep_last=1)))
    await world.passes(hours=3, minutes=1)

    (system,) = await world.all(SystemBackup)
    (backup,) = await world.all(Backup)
    assert system.name == "system-20260101030000"
    assert [owner.name for owner in backup.metadata.owner_references] == [system.name]
    assert {row.backup for row in system.status.volumes} == {backup.name}


@pytest.fixture
async def elsewhere():
    """The store of another machine that made two system backups."""
    other = await MortalWorld().with_volumes("db")
    for name in ("aa", "aaa"):
        await other.store.create(a_system_backup(name, VolumeBackupPolicy.DISABLED))
    await other.live()
    return other.archives.objects


async def synced(world):
    """The catalogue has just seen the store of the target: by its interval, or because somebody asked."""
    target = await world.store.get(BackupTarget, "store")
    await world.store.update_status(target.with_status(last_synced_at=world.clock.now()))
    await world.passes(seconds=1)


async def test_what_another_machine_wrote_is_found_with_the_next_sync_of_the_target(world, elsewhere):
    world.archives.objects = elsewhere
    await world.passes(minutes=6)
    before = await names(world)
    await synced(world)

    systems = await world.all(SystemBackup)
    assert (before, [system.name for system in systems]) == ([], ["aa", "aaa"])
    assert {(str(system.status.phase), system.spec.target) for system in systems} == {("Ready", "store")}
    assert all(system.status.checksum and system.status.url for system in systems)


async def test_one_sync_costs_one_listing_however_often_the_target_changes(world, elsewhere):
    world.archives.objects = elsewhere
    await synced(world)
    asked = world.archives.listed
    target = await world.store.get(BackupTarget, "store")
    await world.store.update(target.with_spec(sync_requested_at=world.clock.now()))
    await world.passes(hours=3)

    assert (asked, world.archives.listed) == (1, 1)


async def test_a_server_looks_once_when_it_starts_and_after_a_failed_look_again(world, elsewhere):
    await synced(world)
    world.archives.objects, world.archives.away = elsewhere, True
    await world.restart()
    await world.passes(minutes=1)
    away = await names(world)
    world.archives.away = False
    await world.passes(minutes=1)

    assert (away, await names(world)) == ([], ["aa", "aaa"])


async def test_deleting_aa_leaves_aaa_and_no_sync_brings_it_back(world, elsewhere):
    world.archives.objects = elsewhere
    await synced(world)
    await world.store.delete(Ref("SystemBackup", "aa"))
    await world.settle()
    await synced(world)

    assert await names(world) == ["aaa"]
    assert [place.name for place in await world.archives.found(None)] == ["aaa"]


async def test_a_store_that_is_suddenly_empty_or_away_takes_no_record_away(world, elsewhere):
    world.archives.objects = elsewhere
    await synced(world)
    for info in list(elsewhere.list_all("")):
        elsewhere.delete(info.key)
    await synced(world)
    emptied = await names(world)
    world.archives.away = True
    await synced(world)

    assert emptied == await names(world) == ["aa", "aaa"]


async def test_one_that_goes_while_it_is_being_taken_in_leaves_no_record(world):
    await put(world.store, a_system_backup("gone", phase=SystemBackupPhase.SYNCING, version="v1"))
    await world.settle()

    assert await names(world) == []

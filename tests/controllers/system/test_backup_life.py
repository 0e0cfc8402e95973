"""The life of a system backup: the seed's plan, the limit of time, a target that goes away, and deletion."""

from datetime import timedelta

import pytest

from tidegate.errors import NotFound, StoreIdentityMissing
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Ref
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.setting import Setting
from tidegate.model.system.system import SystemBackup, SystemBackupPhase, VolumeBackupPolicy, VolumeDecision
from tidegate.model.volumes.volume import Volume
from tidegate.testing.resources.builders import a_schedule, a_system_backup
from tidegate.testing.resources.put import put

POLICY = VolumeBackupPolicy


@pytest.fixture
async def protected(world):
    """Two volumes in two namespaces; movers succeed."""
    await world.volumes("shop/db", "blog/posts")
    world.movers.obliging = True
    return world


async def take(world, name, policy=POLICY.IF_NOT_PRESENT):
    await world.store.create(a_system_backup(name, policy))
    await world.settle()
    return await world.store.get(SystemBackup, name)


async def archived(world, name):
    """What the archive in the store holds."""
    (place,) = [place for place in await world.archives.found(None) if place.name == name]
    return await world.archives.read(None, place)


def decisions(system):
    return {row.volume: str(row.decision) for row in system.status.volumes}


async def test_if_not_present_backs_up_what_has_no_backup_and_later_relies_on_it(protected):
    first = await take(protected, "first")
    again = await take(protected, "again")

    assert (first.status.phase, again.status.phase) == (SystemBackupPhase.READY, SystemBackupPhase.READY)
    assert decisions(first) == {"blog/posts": "Created", "shop/db": "Created"}
    assert decisions(again) == {"blog/posts": "Reused", "shop/db": "Reused"}
    assert len(await protected.all(Backup)) == 2
    rows = (await archived(protected, "again")).volume_backups
    assert rows == (await archived(protected, "first")).volume_backups
    assert {row.volume for row in rows} == {"blog/posts", "shop/db"}


async def test_always_backs_up_every_volume_each_time(protected):
    await take(protected, "first", POLICY.ALWAYS)
    again = await take(protected, "again", POLICY.ALWAYS)

    assert (again.status.bytes.done, again.status.bytes.percent) == (again.status.bytes.total, 100)
    volume = await protected.store.get(Volume, "db", "shop")
    assert decisions(again) == {"blog/posts": "Created", "shop/db": "Created"}
    assert len(await protected.all(Backup)) == 4
    assert volume.status.last_backup in {row.backup for row in again.status.volumes}


async def test_disabled_backs_up_nothing_and_says_what_would_come_back_without_data(protected):
    system = await take(protected, "bare", POLICY.DISABLED)

    assert (system.status.phase, await protected.all(Backup)) == (SystemBackupPhase.READY, [])
    assert decisions(system) == {"blog/posts": "Skipped", "shop/db": "Skipped"}
    assert (await archived(protected, "bare")).volume_backups == ()


async def test_if_changed_backs_up_only_what_was_written_to(protected):
    await take(protected, "first")
    protected.volume_probe.changed["/data/shop/db"] = protected.clock.now()

    again = await take(protected, "again", POLICY.IF_CHANGED)

    assert decisions(again) == {"blog/posts": "Reused", "shop/db": "Created"}


async def test_the_archive_holds_every_definition_and_no_work(protected):
    await protected.store.create(a_schedule("nightly", "0 3 * * *"))
    await protected.setting("limit-upload", "1MiB")
    await take(protected, "all")

    kinds = [(one.kind, one.name) for one in (await archived(protected, "all")).definitions]
    assert kinds == [
        *(("Setting", "limit-upload"), ("BackupTarget", "store")),
        *(("Volume", "posts"), ("Volume", "db"), (Schedule.model_fields["kind"].default, "nightly")),
    ]


async def test_one_failure_makes_it_an_error_that_names_the_volume_once_all_have_ended(protected):
    protected.movers.obliging = False
    await take(protected, "s")
    protected.movers.started[0].fail("SourceUnreadable", "the disk is gone")
    await protected.settle()
    waiting = await protected.store.get(SystemBackup, "s")
    protected.movers.started[1].finish(size=1)
    await protected.settle()

    system = await protected.store.get(SystemBackup, "s")
    assert waiting.status.phase is SystemBackupPhase.CREATING_VOLUME_BACKUPS
    assert system.status.phase is SystemBackupPhase.ERROR
    assert system.status.failure_reason == "volume blog/posts: the disk is gone"
    assert [str(row.state) for row in system.status.volumes] == ["Failed", "Completed"]
    assert await protected.archives.found(None) == []


@pytest.mark.parametrize("while_it_waits", [True, False])
async def test_a_volume_that_is_deleted_meanwhile_is_told_as_that(protected, while_it_waits):
    protected.movers.obliging = False
    await protected.setting("backup-queue-paused", "true")
    await take(protected, "s")
    if not while_it_waits:
        await resumed(protected)
    await protected.store.delete(Ref("Volume", "posts", "blog"))
    await protected.settle()
    if while_it_waits:
        await resumed(protected)
    await all_finish(protected)

    system = await protected.store.get(SystemBackup, "s")
    rows = {row.volume: row for row in system.status.volumes}
    assert str(rows["shop/db"].state) == "Completed"
    if while_it_waits:
        assert system.status.failure_reason == "volume blog/posts: the volume was deleted before its turn came"
    else:
        assert (str(system.status.phase), str(rows["blog/posts"].state)) == ("Ready", "Completed")


async def all_finish(world):
    """Movers that move, and those that begin once they have ended."""
    for mover in world.movers.started:
        mover.finish(size=1)
        await world.settle()


async def resumed(world):
    setting = await world.store.get(Setting, "backup-queue-paused")
    await world.store.update(setting.with_spec(value="false"))
    await world.settle()


async def test_volumes_of_one_namespace_have_the_whole_limit_each_and_never_run_side_by_side(world):
    await world.volumes("shop/a", "shop/b", "shop/c")
    await world.movers_may_be_silent()
    await world.setting("system-backup-volume-backup-timeout", "3h")
    await take(world, "s")
    seen = []
    for number in range(3):
        await world.passes(hours=2)
        assert len(world.movers.started) == number + 1
        seen.append((await world.store.get(SystemBackup, "s")).status.deadline - world.clock.now())
        world.movers.started[number].finish(size=1)
        await world.settle()

    assert await world.phase(SystemBackup, "s") == "Ready"
    assert seen == [timedelta(hours=1)] * 3


async def test_a_backup_that_somebody_deletes_counts_as_failed_at_once(protected):
    protected.movers.obliging = False
    system = await take(protected, "s")
    for row in system.status.volumes:
        await protected.store.delete(Ref("Backup", row.backup))
    await protected.settle()

    system = await protected.store.get(SystemBackup, "s")
    assert system.status.phase is SystemBackupPhase.ERROR
    assert "was deleted before it was done" in system.status.failure_reason


async def test_volumes_that_take_longer_than_a_day_make_it_an_error_and_are_called_off(protected):
    await protected.movers_may_be_silent()
    protected.movers.obliging = False
    await protected.setting("backup-queue-paused", "true")
    await take(protected, "s")
    await protected.passes(hours=23, minutes=59)
    before = await protected.phase(SystemBackup, "s")
    await protected.passes(minutes=2)

    system = await protected.store.get(SystemBackup, "s")
    assert before == "CreatingVolumeBackups"
    assert system.status.phase is SystemBackupPhase.ERROR
    assert system.status.failure_reason.startswith("not all volumes were backed up within 1d: volume blog/posts")
    assert {str(backup.status.phase) for backup in await protected.all(Backup)} == {"Canceled"}


async def test_the_limit_of_time_is_a_setting(protected):
    protected.movers.obliging = False
    await protected.setting("backup-queue-paused", "true")
    await protected.setting("system-backup-volume-backup-timeout", "2m")
    await take(protected, "s")
    await protected.passes(minutes=3)

    assert await protected.phase(SystemBackup, "s") == "Error"


async def test_a_store_that_is_away_at_the_beginning_is_waited_for_with_a_reason(protected):
    protected.archives.away = True
    waiting = await take(protected, "s")
    protected.archives.away = False
    await protected.passes(seconds=15)

    condition = waiting.status.condition("Waiting")
    assert (waiting.status.phase, condition.reason) == (SystemBackupPhase.NEW, "TargetUnavailable")
    system = await protected.store.get(SystemBackup, "s")
    assert (system.status.phase, system.status.condition("Waiting")) == (SystemBackupPhase.READY, None)


async def test_a_system_backup_waits_for_the_right_store_with_that_reason(protected):
    protected.archives.trouble = StoreIdentityMissing("what is there has no name")
    waiting = await take(protected, "s")
    protected.archives.trouble = None
    await protected.passes(seconds=15)

    assert waiting.status.condition("Waiting").reason == "StoreIdentityMissing"
    assert await protected.phase(SystemBackup, "s") == "Ready"


async def test_a_store_that_goes_away_while_volumes_are_backed_up_holds_them_in_the_queue(protected):
    protected.store_probe.down = protected.archives.away = True
    await protected.passes(seconds=31)
    protected.archives.away = False
    waiting = await take(protected, "s")
    protected.store_probe.down = False
    await protected.passes(seconds=15)

    assert waiting.status.phase is SystemBackupPhase.CREATING_VOLUME_BACKUPS
    assert await protected.phase(SystemBackup, "s") == "Ready"


@pytest.mark.parametrize(("minutes", "phase"), [(30, "Ready"), (61, "Error")])
async def test_a_store_that_goes_away_before_the_upload_is_waited_for_but_not_for_ever(protected, minutes, phase):
    protected.movers.obliging = False
    await take(protected, "s")
    protected.archives.away = True
    for mover in list(protected.movers.started):
        mover.finish(size=1)
    await protected.settle()
    for mover in protected.movers.started[1:]:
        mover.finish(size=1)
    await protected.settle()
    uploading = await protected.phase(SystemBackup, "s")
    await protected.passes(minutes=minutes)
    protected.archives.away = False
    await protected.passes(seconds=15)

    system = await protected.store.get(SystemBackup, "s")
    assert (uploading, str(system.status.phase)) == ("Uploading", phase)
    assert bool(system.status.failure_reason) == (phase == "Error")


async def test_an_existing_name_is_never_overwritten_and_not_removed_by_who_met_it(protected):
    theirs = await take(protected, "weekly", POLICY.DISABLED)
    stored = await archived(protected, "weekly")
    await protected.store.update(theirs.with_metadata(finalizers=()))
    await protected.store.delete(theirs.ref)  # the record is lost, the archive is not

    mine = await take(protected, "weekly")
    await protected.store.delete(mine.ref)
    await protected.settle()

    assert mine.status.phase is SystemBackupPhase.ERROR
    assert "already has a system backup weekly" in mine.status.failure_reason
    assert await archived(protected, "weekly") == stored


async def test_deleting_one_removes_its_archive_and_backups_but_not_those_of_a_longer_name(protected):
    for name in ("aa", "aaa"):
        await take(protected, name, POLICY.ALWAYS)
    await protected.store.delete(Ref("SystemBackup", "aa"))
    await protected.settle()

    with pytest.raises(NotFound):
        await protected.store.get(SystemBackup, "aa")
    assert [place.name for place in await protected.archives.found(None)] == ["aaa"]
    kept = {row.backup for row in (await protected.store.get(SystemBackup, "aaa")).status.volumes}
    assert {backup.name for backup in await protected.all(Backup)} == kept


async def test_volume_backups_that_a_later_one_relies_on_outlive_the_first(protected):
    await take(protected, "first")
    later = await take(protected, "later")
    await protected.store.delete(Ref("SystemBackup", "first"))
    await protected.settle()

    backups = await protected.all(Backup)
    assert {row.decision for row in later.status.volumes} == {VolumeDecision.REUSED}
    assert len(backups) == 2
    assert {owner.name for backup in backups for owner in backup.metadata.owner_references} == {"later"}


async def test_a_deletion_waits_for_a_store_that_is_away(protected):
    await take(protected, "s")
    protected.archives.away = True
    await protected.store.delete(Ref("SystemBackup", "s"))
    await protected.settle()
    waiting = await protected.store.get(SystemBackup, "s")
    protected.archives.away = False
    await protected.passes(seconds=15)

    assert (waiting.status.phase, waiting.status.condition("Waiting").reason) == ("Deleting", "TargetUnavailable")
    assert await protected.all(SystemBackup) == []
    assert await protected.archives.found(None) == []


async def test_one_that_was_found_in_a_store_is_synced_and_then_ready(protected):
    made = await take(protected, "weekly", POLICY.DISABLED)
    await protected.store.update(made.with_metadata(finalizers=()))
    await protected.store.delete(made.ref)
    found = a_system_backup("weekly", phase=SystemBackupPhase.SYNCING, version=made.status.version)
    await put(protected.store, found)
    await protected.settle()

    system = await protected.store.get(SystemBackup, "weekly")
    assert system.status.phase is SystemBackupPhase.READY
    assert (system.status.checksum, system.status.url) == (made.status.checksum, made.status.url)
    assert system.status.last_synced_at is not None

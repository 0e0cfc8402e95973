"""Schedules at work: on time, never twice, never in heaps, and visible when they do nothing."""

from datetime import timedelta

import pytest

from tidegate.errors import NotFound
from tidegate.model.backups.backup import PINNED_LABEL, Backup, BackupSpec, OnInterruption
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.resource import Metadata, Ref
from tidegate.model.restores.restore import Restore, RestorePhase, RestoreSpec
from tidegate.model.schedules.retention import Retention
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, SKIPPED_CONDITION, Schedule
from tidegate.testing.doubles.movers import FakeMovers
from tidegate.testing.resources.builders import a_backup, a_schedule

HOURLY = "0 * * * *"


async def names(world):
    return [backup.name for backup in await world.all(Backup)]


async def schedule_of(world, name="hourly"):
    return await world.store.get(Schedule, name)


@pytest.fixture
async def shop(world):
    """A world with one volume whose backups succeed at once."""
    world.movers.obliging = True
    await world.volumes("shop/db")
    return world


async def test_a_schedule_makes_a_backup_exactly_at_each_of_its_times(shop):
    await shop.store.create(a_schedule("hourly", HOURLY, "shop"))
    await shop.passes(minutes=59, seconds=59)
    before = await names(shop)
    await shop.passes(seconds=1)
    at_the_time = await names(shop)
    await shop.passes(hours=2)

    assert (before, at_the_time) == ([], ["hourly-20260101010000"])
    assert await names(shop) == ["hourly-20260101010000", "hourly-20260101020000", "hourly-20260101030000"]
    assert {backup.status.phase for backup in await shop.all(Backup)} == {"Completed"}
    schedule = await schedule_of(shop)
    assert (schedule.status.phase, schedule.status.last_backup.hour) == ("Enabled", 3)


async def test_runs_that_match_nothing_are_not_green_and_push_out_no_backup_that_holds_something(shop):
    schedule = a_schedule("hourly", HOURLY, "shop", retention=Retention(keep_last=2))
    await shop.store.create(schedule)
    await shop.passes(hours=2)
    await shop.store.delete(Ref("Volume", "db", "shop"))
    await shop.passes(hours=4)

    phases = [str(backup.status.phase) for backup in await shop.all(Backup)]
    assert phases == ["Completed"] * 2 + ["PartiallyFailed"] * 4
    assert all(backup.status.failure_reason.startswith("NothingMatched") for backup in (await shop.all(Backup))[2:])


async def test_a_backup_that_waits_in_the_queue_prevents_the_next_run_and_the_schedule_says_so(world):
    """Velero looks at New and InProgress only: one more backup would pile up every hour."""
    await world.volumes("shop/db")
    await world.movers_may_be_silent()
    await world.store.create(a_backup("slow", "shop"))
    await world.settle()
    await world.store.create(a_schedule("hourly", HOURLY, "shop"))
    await world.passes(hours=1)
    waiting = await world.phase(Backup, "hourly-20260101010000")
    await world.passes(hours=2)

    assert waiting == "Queued"
    assert await names(world) == ["hourly-20260101010000", "slow"]
    status = (await schedule_of(world)).status
    skipped = status.condition("Skipped")
    assert (status.last_backup.hour, status.last_skipped.hour) == (1, 3)
    assert skipped.reason == "EarlierBackupNotFinal"
    assert "backup hourly-20260101010000 of this schedule is still Queued" in skipped.message


async def test_after_the_earlier_one_has_ended_the_next_time_runs_and_the_mark_goes(world):
    await world.volumes("shop/db")
    await world.movers_may_be_silent()
    await world.store.create(a_schedule("hourly", HOURLY, "shop"))
    await world.passes(hours=2)
    world.movers.started[0].finish(size=1)
    await world.settle()
    at_its_end = await names(world)
    await world.passes(hours=1)

    assert at_its_end == ["hourly-20260101010000"]  # nothing catches up
    assert await names(world) == ["hourly-20260101010000", "hourly-20260101030000"]
    assert (await schedule_of(world)).status.condition("Skipped") is None


async def test_a_restart_does_not_run_a_schedule_twice(shop):
    await shop.store.create(a_schedule("hourly", HOURLY, "shop"))
    await shop.passes(hours=1)
    await shop.runtime.stop()
    # As after a crash between the backup and the note that it was made.
    schedule = await schedule_of(shop)
    await shop.store.update_status(schedule.with_status(last_backup=None))
    shop._build()
    shop.runtime.start()
    await shop.settle()

    assert await names(shop) == ["hourly-20260101010000"]
    assert (await schedule_of(shop)).status.last_backup == schedule.status.last_backup


@pytest.mark.parametrize("again", [False, True])
async def test_a_backup_that_ended_with_its_server_keeps_none_that_is_due_from_being_made(shop, again):
    policy = OnInterruption.REQUEUE if again else OnInterruption.FAIL
    schedule = a_schedule("hourly", HOURLY, "shop")
    await shop.store.create(schedule.with_spec(template=schedule.spec.template.replace(on_interruption=policy)))
    shop.movers.obliging = False
    await shop.passes(hours=1)
    assert await shop.phase(Backup, "hourly-20260101010000") == "InProgress"
    await shop.end()
    await shop.clock.advance(timedelta(hours=1))
    shop.movers = FakeMovers()
    await shop.begin_again()
    await shop.passes(seconds=2)

    skipped = (await schedule_of(shop)).status.condition(SKIPPED_CONDITION)
    if again:  # it is to be made still, so the next one would only wait behind it
        assert (await names(shop), skipped.status) == (["hourly-20260101010000"], "True")
    else:
        assert (await names(shop), skipped) == (["hourly-20260101010000", "hourly-20260101020000"], None)
        assert await shop.phase(Backup, "hourly-20260101010000") == "Failed"


async def test_a_server_that_was_away_for_days_makes_one_backup_not_one_for_each_missed_time(shop):
    await shop.store.create(a_schedule("hourly", HOURLY, "shop"))
    await shop.settle()
    await shop.runtime.stop()
    await shop.clock.advance(timedelta(days=3, minutes=10))
    shop._build()
    shop.runtime.start()
    await shop.settle()

    assert await names(shop) == ["hourly-20260104000000"]


async def test_a_paused_schedule_makes_nothing_and_resuming_catches_nothing_up(shop):
    await shop.store.create(a_schedule("hourly", HOURLY, "shop", paused=True))
    await shop.passes(hours=2, minutes=30)
    paused = await schedule_of(shop)
    await shop.store.update(paused.with_spec(paused=False))
    await shop.settle()
    at_once = await names(shop)
    await shop.passes(minutes=30)

    assert paused.status.condition("Skipped").reason == "Paused"
    assert (at_once, await names(shop)) == ([], ["hourly-20260101030000"])


async def test_a_changed_time_holds_at_once(shop):
    await shop.store.create(a_schedule("hourly", "0 12 * * *", "shop"))
    await shop.passes(minutes=10)
    await shop.store.update((await schedule_of(shop)).with_spec(schedule="*/20 * * * *"))
    await shop.passes(minutes=10)

    assert await names(shop) == ["hourly-20260101002000"]


async def test_a_schedule_whose_target_is_gone_skips_and_says_so_until_it_is_back(shop):
    template = BackupSpec(storage_location="elsewhere")
    await shop.store.create(a_schedule("hourly", HOURLY, template=template))
    await shop.passes(hours=1)

    status = (await schedule_of(shop)).status
    assert (status.phase, status.validation_errors) == ("FailedValidation", ("there is no backup target elsewhere",))
    assert status.condition("Skipped").reason == "TemplateRefused"
    assert await names(shop) == []


async def test_a_time_zone_that_nobody_knows_any_more_fails_the_schedule_and_no_other(shop):
    await shop.store.create(a_schedule("lost", HOURLY, timezone="Mars/Olympus"))
    await shop.store.create(a_schedule("hourly", HOURLY, "shop"))
    await shop.passes(hours=1)

    assert (await schedule_of(shop, "lost")).status.phase == "FailedValidation"
    assert await names(shop) == ["hourly-20260101010000"]


async def test_a_strangers_backup_with_the_same_name_is_told_not_taken_for_our_own(shop):
    await shop.store.create(a_backup("hourly-20260101010000", "shop"))
    await shop.store.create(a_schedule("hourly", HOURLY, "shop"))
    await shop.passes(hours=1)

    assert (await schedule_of(shop)).status.condition("Skipped").reason == "NameTaken"


async def test_deleting_a_schedule_takes_its_backups_along_only_if_it_owns_them(shop):
    await shop.store.create(a_schedule("owner", HOURLY, "shop", use_owner_references_in_backup=True))
    await shop.store.create(a_schedule("hourly", HOURLY, "shop"))
    await shop.passes(hours=1)
    for name in ("owner", "hourly"):
        await shop.store.delete(Ref("Schedule", name))
    await shop.passes(hours=1)

    assert await names(shop) == ["hourly-20260101010000"]


async def test_retention_deletes_what_no_rule_keeps_but_no_pinned_one(shop):
    await shop.store.create(a_schedule("hourly", HOURLY, "shop", retention=Retention(keep_last=2)))
    await shop.passes(hours=1)
    first = await shop.store.get(Backup, "hourly-20260101010000")
    pinned = {**first.metadata.labels, PINNED_LABEL: "true"}
    await shop.store.update(first.with_metadata(labels=pinned))
    await shop.passes(hours=4)

    assert await names(shop) == ["hourly-20260101010000", "hourly-20260101040000", "hourly-20260101050000"]
    first = await shop.store.get(Backup, "hourly-20260101010000")
    await shop.store.update(first.with_metadata(labels={SCHEDULE_LABEL: "hourly"}))
    await shop.settle()
    assert await names(shop) == ["hourly-20260101040000", "hourly-20260101050000"]


async def test_retention_does_not_delete_what_a_restore_reads_until_it_is_done(shop):
    await shop.store.create(a_schedule("hourly", HOURLY, "shop", retention=Retention(keep_last=1)))
    await shop.passes(hours=1)
    spec = RestoreSpec(backup_name="hourly-20260101010000", existing_data=ExistingData.OVERWRITE)
    await shop.setting("concurrent-backup-restore-limit", "0")
    await shop.store.create(Restore(metadata=Metadata(name="reading"), spec=spec))
    await shop.passes(hours=1)
    phase, while_reading = await shop.phase(Restore, "reading"), await names(shop)
    restore = await shop.store.get(Restore, "reading")
    await shop.store.update_status(restore.with_status(phase=RestorePhase.COMPLETED))
    await shop.passes(minutes=1)

    assert phase == "New"

    assert while_reading == ["hourly-20260101010000", "hourly-20260101020000"]
    assert await names(shop) == ["hourly-20260101020000"]


async def test_a_pinned_backup_does_not_expire_until_it_is_unpinned(shop):
    template = BackupSpec(ttl=timedelta(hours=1), storage_location="store")
    backup = a_backup("keep", "shop").with_metadata(labels={PINNED_LABEL: "true"}).replace(spec=template)
    await shop.store.create(backup)
    await shop.passes(hours=3)
    pinned = await shop.store.get(Backup, "keep")
    await shop.store.update(pinned.with_metadata(labels={}))
    await shop.settle()

    with pytest.raises(NotFound):
        await shop.store.get(Backup, "keep")

"""Verifications that a schedule makes by itself."""

import pytest

from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Metadata, Ref
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, Schedule, ScheduledVerification
from tidegate.model.verification.verification import CheckCommand, Verification
from tidegate.testing.resources.builders import a_backup, a_schedule

DAILY = ScheduledVerification(schedule="0 6 * * *", check=CheckCommand(command=("look",)))


@pytest.fixture
async def shop(world):
    """A schedule with a good backup, whose verifications are due at six."""
    await world.volumes("shop/db")
    world.movers.obliging = True
    await world.store.create(a_schedule("nightly", "@yearly", "shop", verification=DAILY))
    await world.store.create(a_backup("b", "shop").with_metadata(labels={SCHEDULE_LABEL: "nightly"}))
    await world.settle()
    return world


async def names(world):
    return [one.name for one in await world.all(Verification)]


async def test_the_newest_backup_is_proven_at_the_set_time(shop):
    await shop.passes(hours=5)
    assert await names(shop) == []
    await shop.passes(hours=1)

    assert await names(shop) == ["nightly-verify-20260101060000"]
    assert await shop.phase(Verification, "nightly-verify-20260101060000") == "Completed"
    assert shop.hooks.runs[0].command == ("look",)
    record = (await shop.store.get(Backup, "b")).status.verification
    assert record.verified_by == "nightly-verify-20260101060000"


async def test_of_many_missed_times_only_the_latest_is_caught_up(shop):
    await shop.runtime.stop()
    await shop.passes(days=5, hours=7)
    await shop.restart()

    assert await names(shop) == ["nightly-verify-20260106060000"]


async def test_a_time_is_passed_over_while_an_earlier_one_is_not_over(shop):
    await shop.setting("concurrent-backup-restore-limit", "0")
    await shop.passes(days=2, hours=7)

    assert await names(shop) == ["nightly-verify-20260101060000"]
    passed = (await shop.store.get(Schedule, "nightly")).status.last_verification
    assert passed.isoformat() == "2026-01-03T06:00:00+00:00"


async def test_a_paused_schedule_verifies_nothing(shop):
    schedule = await shop.store.get(Schedule, "nightly")
    await shop.store.update(schedule.with_spec(paused=True))
    await shop.passes(days=1)

    assert await names(shop) == []


async def test_old_records_go_and_all_go_with_the_schedule(shop):
    for _ in range(14):
        await shop.passes(days=1)
    assert len(await names(shop)) == 10
    await shop.store.delete(Ref("Schedule", "nightly"))
    await shop.settle()

    assert await names(shop) == []
    assert (await shop.store.get(Backup, "b")).status.verification is not None


async def test_a_schedule_without_a_good_backup_says_so_instead_of_being_silent(world):
    await world.store.create(a_schedule("empty", "@yearly", "shop", verification=DAILY))
    await world.passes(hours=7)

    found = (await world.all(Verification))[0]
    assert str(found.status.phase) == "FailedValidation"
    assert "has no backup that is Completed" in found.status.validation_errors[0]


async def test_what_is_no_schedule_makes_nothing(world):
    await world.store.create(Schedule(metadata=Metadata(name="plain"), spec=a_schedule("x", "@yearly").spec))
    await world.passes(days=2)

    assert await names(world) == []

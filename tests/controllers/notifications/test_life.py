"""From something that went wrong to somebody who knows of it."""

import pytest

from tidegate.model.backups.backup import Backup
from tidegate.model.notifications.notification import EVERY_EVENT, Notification, NotificationDelivery, NotificationSpec
from tidegate.model.resource import Metadata, Ref
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, Schedule
from tidegate.model.verification.verification import VERIFICATION_FINALIZER, Verification, VerificationSpec
from tidegate.testing.resources.builders import a_backup, a_schedule
from tidegate.testing.resources.lives import MortalWorld


def a_rule(name="ops", events=EVERY_EVENT):
    return Notification(metadata=Metadata(name=name), spec=NotificationSpec(secret="address", events=events))


async def run_backup(world, name, *, works, schedule=None):
    backup = a_backup(name, "shop")
    if schedule:
        backup = backup.with_metadata(labels={SCHEDULE_LABEL: schedule})
    await world.store.create(backup)
    await world.settle()
    mover = world.movers.started[-1]
    if works:
        mover.finish(size=1)
    else:
        mover.fail("SourceUnreadable", "the disk is broken")
    await world.settle()


@pytest.fixture
async def shop(world):
    await world.volumes("shop/db")
    await world.store.create(a_rule())
    await world.settle()
    return world


async def test_a_backup_that_failed_is_told_once_however_often_it_is_looked_at(shop):
    await run_backup(shop, "b", works=False)
    await shop.restart()
    await shop.restart()

    assert shop.notifier.told == ["Failure: Backup b is Failed"]
    assert shop.notifier.sent[0][1].message == "shop/db: the disk is broken"


async def test_a_schedule_that_works_again_is_told_and_one_that_goes_on_is_not(shop):
    await shop.store.create(a_schedule("nightly", "@yearly", "shop"))
    for name, works in (("b1", True), ("b2", False), ("b3", True), ("b4", True)):
        await run_backup(shop, name, works=works, schedule="nightly")
        await shop.passes(minutes=1)

    assert shop.notifier.told == [
        "Failure: Backup b2 is Failed",
        "Recovery: Schedule nightly works again: backup b3 is Completed",
    ]


async def test_a_time_that_went_by_without_a_backup_is_told(shop):
    await shop.movers_may_be_silent()
    await shop.store.create(a_schedule("hourly", "@hourly", "shop"))
    await shop.passes(hours=1)
    await shop.passes(hours=1)

    assert [word.partition(":")[0] for word in shop.notifier.told] == ["MissedSchedule"]
    assert "is still InProgress" in shop.notifier.sent[0][1].message


async def test_times_without_a_server_are_told_by_the_next_one(shop):
    await shop.store.create(a_schedule("hourly", "@hourly", "shop"))
    await shop.settle()
    await shop.runtime.stop()
    await shop.passes(hours=5)
    await shop.restart()

    assert (await shop.store.get(Schedule, "hourly")).status.missed_runs == 4
    assert [word.partition(":")[0] for word in shop.notifier.told] == ["MissedSchedule"]


async def test_a_verification_that_failed_is_told(shop):
    await run_backup(shop, "b", works=True)
    metadata = Metadata(name="v", finalizers=(VERIFICATION_FINALIZER,))
    await shop.store.create(Verification(metadata=metadata, spec=VerificationSpec(backup_name="b")))
    await shop.settle()
    shop.movers.started[-1].fail("DamagedBlock", "block 7 is damaged")
    await shop.settle()

    assert shop.notifier.told == ["VerificationFailure: Backup b was not proven"]


async def test_a_receiver_that_is_away_is_tried_again_across_restarts_and_hears_it_once(shop):
    shop.notifier.away = "the webhook answered 503"
    await run_backup(shop, "b", works=False)
    await shop.passes(seconds=11)
    await shop.restart()
    rule = await shop.store.get(Notification, "ops")
    assert (rule.status.last_error, shop.notifier.attempts) == ("the webhook answered 503", 2)
    shop.notifier.away = ""
    await shop.passes(minutes=1)
    await shop.passes(minutes=10)

    assert shop.notifier.told == ["Failure: Backup b is Failed"]
    assert (await shop.store.get(Notification, "ops")).status.last_error == ""


async def test_a_receiver_that_is_gone_for_ever_is_given_up_and_everything_else_goes_on(shop):
    shop.notifier.away = "the webhook could not be reached"
    await run_backup(shop, "b", works=False)
    for _ in range(30):
        await shop.passes(hours=1)
    await run_backup(shop, "good", works=True)

    delivery = (await shop.all(NotificationDelivery))[0]
    assert str(delivery.status.phase) == "GivenUp"
    attempts = shop.notifier.attempts
    await shop.passes(hours=2)
    assert shop.notifier.attempts == attempts
    assert await shop.phase(Backup, "good") == "Completed"


async def test_records_of_deliveries_go_after_a_while_and_nothing_is_told_anew(shop):
    await run_backup(shop, "b", works=False)
    await shop.passes(days=7)
    assert len(await shop.all(NotificationDelivery)) == 1
    await shop.passes(days=2)
    await shop.restart()

    assert await shop.all(NotificationDelivery) == []
    assert len(shop.notifier.told) == 1


async def test_what_is_on_its_way_goes_with_its_rule(shop):
    shop.notifier.away = "away"
    await run_backup(shop, "b", works=False)
    await shop.store.delete(Ref("Notification", "ops"))
    await shop.settle()

    assert await shop.all(NotificationDelivery) == []


# More than a backup that fails and its notification take; a test below makes sure of that.
STEPS = 24


async def a_failing_world():
    """A backup that cannot but fail, and somebody who wants to know."""
    world = await MortalWorld().with_volumes("db")
    await world.store.create(a_rule())
    await world.store.create(a_backup("b", "shop").with_spec(storage_location="nowhere"))
    return world


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_failure_is_told_whenever_the_server_dies(step):
    world = await a_failing_world()
    await world.live(writes=step)
    await world.live()

    phase = (await world.store.get(Backup, "b")).status.phase
    assert {notice.title for _, notice in world.notifier.sent} == {f"Backup b is {phase}"}
    assert len({notice.identity for _, notice in world.notifier.sent}) == 1


async def test_the_steps_above_cover_a_whole_failure_and_its_notification():
    world = await a_failing_world()

    assert not (await world.live(writes=STEPS - 1)).died
    assert len(world.notifier.sent) == 1

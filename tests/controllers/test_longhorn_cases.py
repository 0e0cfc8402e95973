"""Longhorn's own cases that a server decides: targets that refuse, movers that die, backups made by hand."""

import pytest

from tidegate.errors import StoreUnavailable, Unauthenticated
from tidegate.model.backups.backup import Backup
from tidegate.model.schedules.retention import Retention
from tidegate.model.stores.target import BackupTarget
from tidegate.testing.resources.builders import a_backup, a_schedule


@pytest.mark.parametrize(
    "error",
    [Unauthenticated("the store refuses these credentials"), StoreUnavailable("nobody has such a host")],
    ids=["L14 wrong credentials", "L16 an invalid target"],
)
async def test_a_target_that_cannot_be_used_says_why_and_no_backup_is_lost_to_it(world, error):
    async def refuse(_access):
        raise error

    usual, world.store_probe.check = world.store_probe.check, refuse
    await world.volumes("shop/db")
    await world.passes(seconds=31)
    await world.store.create(a_backup("patient", "shop"))
    await world.settle()

    status = (await world.store.get(BackupTarget, "store")).status
    condition = status.condition("Available")
    assert (status.available, condition.status, condition.message) == (False, "False", error.message)
    held = (await world.store.get(Backup, "patient")).status
    assert (str(held.phase), held.condition("Waiting").reason) == ("Queued", "TargetUnavailable")

    world.store_probe.check = usual
    await world.passes(minutes=2)
    assert (await world.store.get(BackupTarget, "store")).status.available
    assert await world.phase(Backup, "patient") == "InProgress"


async def test_when_the_mover_dies_the_backup_fails_with_its_words_and_a_new_one_works(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("unlucky", "shop"))
    await world.settle()
    world.movers.started[0].fail("MoverDied", "the mover was killed by SIGKILL")
    await world.settle()

    failed = (await world.store.get(Backup, "unlucky")).status
    assert (str(failed.phase), "killed by SIGKILL" in failed.failure_reason) == ("Failed", True)

    world.movers.obliging = True
    await world.store.create(a_backup("second", "shop"))
    await world.settle()
    assert await world.phase(Backup, "second") == "Completed"


async def test_a_backup_made_by_hand_stays_when_those_of_a_schedule_are_pruned(world):
    world.movers.obliging = True
    await world.volumes("shop/db")
    await world.store.create(a_schedule("hourly", "0 * * * *", "shop", retention=Retention(keep_last=1)))
    await world.passes(hours=1, minutes=30)
    await world.store.create(a_backup("by-hand", "shop"))
    await world.passes(hours=3)

    assert [backup.name for backup in await world.all(Backup)] == ["by-hand", "hourly-20260101040000"]

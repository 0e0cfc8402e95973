"""A target whose store is another one than before: nothing is written, everything waits and says why."""

import pytest

from tidegate.errors import StoreIdentityMissing
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import Restore, RestoreSpec
from tidegate.model.stores.target import ADOPT_STORE, BackupTarget, BackupTargetStatus, StoreIdentity
from tidegate.model.transfers.mover_job import DownloadJob, UploadJob
from tidegate.model.transfers.transfer import PodVolumeBackup, PodVolumeRestore
from tidegate.testing.resources.builders import a_backup


@pytest.fixture
async def shop(world):
    """A world with a volume, in which an hour may pass while a mover says nothing."""
    await world.volumes("shop/db")
    await world.movers_may_be_silent()
    return world


async def target(world):
    return await world.store.get(BackupTarget, "store")


async def ask(world, name="b"):
    await world.store.create(a_backup(name))
    await world.settle()


async def why(world, kind, name):
    found = await world.store.get(kind, name)
    waiting = found.status.condition("Waiting")
    return str(found.status.phase), waiting and waiting.reason


async def test_a_target_remembers_the_store_that_it_was_first_seen_with(world):
    status = (await target(world)).status

    assert (status.available, status.store.identity, status.store.url) == (True, "store-1", "file:///somewhere")


@pytest.mark.parametrize(("there", "reason"), [("", "StoreIdentityMissing"), ("store-2", "StoreIdentityChanged")])
async def test_a_target_whose_store_is_another_one_is_unavailable_and_says_what_to_do(world, there, reason):
    world.store_probe.identity = there
    await world.passes(seconds=31)

    status = (await target(world)).status
    assert (status.available, status.condition("Available").reason) == (False, reason)
    assert (status.store.identity, status.store.found) == ("store-1", there)
    assert "mount it" in status.message
    assert "tidegate target adopt store" in status.message


async def test_a_backup_waits_for_the_right_store_and_then_goes_on(shop):
    shop.store_probe.identity = ""
    await shop.passes(seconds=31)
    await ask(shop)
    assert await why(shop, Backup, "b") == ("Queued", "StoreIdentityMissing")

    shop.store_probe.identity = "store-1"
    shop.movers.obliging = True
    await shop.passes(seconds=6)

    assert await why(shop, Backup, "b") == ("Completed", None)


async def test_after_a_restart_a_store_that_is_another_one_is_still_not_taken_for_the_right_one(shop):
    shop.store_probe.identity = ""
    await shop.restart()
    await ask(shop)

    assert (await target(shop)).status.condition("Available").reason == "StoreIdentityMissing"
    assert await why(shop, Backup, "b") == ("Queued", "StoreIdentityMissing")


async def test_every_mover_is_told_which_store_it_must_be(shop):
    await ask(shop)

    assert [mover.job.target.identity for mover in shop.movers.started] == ["store-1"]


async def test_an_upload_whose_mover_finds_another_store_waits_instead_of_failing(shop):
    await ask(shop)
    (mover,) = shop.movers.started
    shop.store_probe.identity = ""

    mover.fail(StoreIdentityMissing.code, "it is not there")
    await shop.settle()

    (upload,) = await shop.all(PodVolumeBackup)
    assert await why(shop, PodVolumeBackup, upload.name) == ("New", "StoreIdentityMissing")
    assert (await target(shop)).status.available is False
    shop.store_probe.identity = "store-1"
    shop.movers.obliging = True
    await shop.passes(seconds=6)
    assert await why(shop, Backup, "b") == ("Completed", None)


async def test_a_download_whose_mover_finds_another_store_gives_its_slot_back_and_waits(backed_up):
    await backed_up.movers_may_be_silent()
    await backed_up.store.create(
        Restore(metadata=Metadata(name="r"), spec=RestoreSpec(backup_name="b", existing_data="overwrite"))
    )
    await backed_up.settle()
    backed_up.store_probe.identity = "store-2"
    for number in (0, 1):  # the second one was ready before anybody knew
        assert isinstance(backed_up.movers.started[number].job, DownloadJob)
        backed_up.movers.started[number].fail("StoreIdentityChanged", "it is another one")
        await backed_up.settle()

    waiting = [await why(backed_up, PodVolumeRestore, one.name) for one in await backed_up.all(PodVolumeRestore)]
    assert waiting
    assert set(waiting) == {("New", "StoreIdentityChanged")}
    backed_up.store_probe.identity = "store-1"
    backed_up.movers.obliging = True
    await backed_up.passes(seconds=6)
    assert await backed_up.phase(Restore, "r") == "Completed"


async def adopted(world, **seen):
    """Somebody has seen what is there and accepts it."""
    found = await target(world)
    await world.store.update(found.with_metadata(annotations={ADOPT_STORE: found.status.store.adopt}))
    vars(world.store_probe).update(seen)
    await world.settle()
    return (await target(world)).status


async def test_an_emptied_store_that_is_adopted_gets_a_new_identity_at_once(shop):
    shop.store_probe.identity = ""
    await shop.passes(seconds=31)
    shop.movers.obliging = True
    await ask(shop)

    status = await adopted(shop)

    assert (status.available, status.store) == (True, StoreIdentity(identity="store-1", url="file:///somewhere"))
    await shop.settle()
    assert await why(shop, Backup, "b") == ("Completed", None)


async def test_another_store_that_is_adopted_is_the_one_from_then_on(shop):
    shop.store_probe.identity = "store-2"
    await shop.passes(seconds=31)
    assert (await adopted(shop)).store.identity == "store-2"
    await ask(shop)

    assert [mover.job.target.identity for mover in shop.movers.started] == ["store-2"]


async def test_what_was_accepted_once_says_nothing_about_the_next_time(shop):
    shop.store_probe.identity = ""
    await shop.passes(seconds=31)
    await adopted(shop)
    shop.store_probe.identity = "store-2"
    await shop.passes(seconds=31)
    await adopted(shop)
    shop.store_probe.identity = ""
    await shop.passes(seconds=31)

    status = (await target(shop)).status
    assert (status.available, status.store.identity, status.store.found) == (False, "store-2", "")


async def test_what_is_adopted_is_what_was_seen_and_not_what_came_after_it(shop):
    shop.store_probe.identity = "store-2"
    await shop.passes(seconds=31)

    status = await adopted(shop, identity="store-3")

    assert (status.available, status.store.identity, status.store.found) == (False, "store-1", "store-3")


async def test_an_upload_that_is_cancelled_meanwhile_ends(shop):
    await ask(shop)
    (mover,) = shop.movers.started
    backup = await shop.store.get(Backup, "b")
    mover.stubborn = True
    await shop.store.cancel(backup.ref)
    await shop.settle()
    mover.fail(StoreIdentityMissing.code, "it is not there")
    await shop.passes(hours=2)

    assert (await shop.phase(Backup, "b")) in {"Canceled", "Failed", "PartiallyFailed"}


async def test_a_target_with_a_new_url_takes_the_store_that_is_there(world):
    found = await target(world)
    world.store_probe.identity = "store-2"
    await world.store.update(found.replace(spec=found.spec.replace(url="file:///elsewhere")))
    await world.settle()

    status = (await target(world)).status
    assert (status.available, status.store.identity, status.store.url) == (True, "store-2", "file:///elsewhere")


async def test_a_target_that_is_made_anew_takes_the_store_that_is_there(world):
    found = await target(world)
    await world.store.delete(found.ref)
    await world.settle()
    world.store_probe.identity = "store-2"
    await world.store.create(found.replace(status=BackupTargetStatus()).with_metadata(uid="", resource_version=""))
    await world.settle()

    assert (await target(world)).status.store.identity == "store-2"


async def upgraded(world, **seen):
    """A server of before stops, which called the target available, and one of now begins."""
    found = await target(world)
    await world.store.update_status(found.replace(status=BackupTargetStatus(available=True)))
    vars(world.store_probe).update(seen)
    await world.restart()


async def test_after_an_upgrade_the_store_is_recognised_by_the_volumes_of_finished_backups(backed_up):
    await upgraded(backed_up, identity="")

    status = (await target(backed_up)).status
    assert backed_up.store_probe.asked_for == ("blog.posts", "shop.db")
    assert (status.available, status.store.identity) == (True, "store-1")


async def test_after_an_upgrade_with_the_share_away_nothing_is_written_until_it_is_back_or_adopted(backed_up):
    await upgraded(backed_up, identity="", volumes=())
    await ask(backed_up, "late")

    status = (await target(backed_up)).status
    assert (status.available, status.store.identity, status.store.url) == (False, "", "")
    assert await why(backed_up, Backup, "late") == ("Queued", "StoreIdentityMissing")
    assert backed_up.movers.started == backed_up.movers.waiting == []
    backed_up.store_probe.volumes = None
    backed_up.movers.obliging = True
    await backed_up.passes(seconds=6)
    assert await backed_up.phase(Backup, "late") == "Completed"


async def test_after_an_upgrade_an_emptied_store_can_be_adopted(backed_up):
    await upgraded(backed_up, identity="", volumes=())

    status = await adopted(backed_up, volumes=None)

    assert (status.available, status.store.identity) == (True, "store-1")
    assert backed_up.store_probe.asked_for == ()


async def test_a_store_that_takes_no_identity_is_known_by_its_volumes_at_each_look(backed_up):
    backed_up.store_probe.takes_none = True
    await upgraded(backed_up, identity="")
    assert (await target(backed_up)).status.store == StoreIdentity(url="file:///somewhere")

    backed_up.store_probe.volumes = ()
    await backed_up.passes(seconds=31)

    status = (await target(backed_up)).status
    assert (status.available, status.condition("Available").reason) == (False, "StoreIdentityMissing")


async def test_jobs_that_write_to_a_place_that_nobody_has_looked_at_do_not_begin(shop):
    """After an upgrade: an older version called it available, and nobody knows yet which store is there now."""
    await ask(shop)
    assert isinstance(shop.movers.started[0].job, UploadJob)

    await upgraded(shop, down=True)

    assert shop.movers.started == shop.movers.waiting == []

"""The life of a restore."""

import pytest

from tidegate.model.backup import Backup
from tidegate.model.existing_data import ExistingData
from tidegate.model.resource import Metadata, Ref
from tidegate.model.restore import Restore, RestoreSpec
from tidegate.model.transfer import PodVolumeRestore
from tidegate.model.volume import Volume
from tidegate.testing.builders import a_backup


def a_restore(name="r", **spec):
    metadata = Metadata(name=name, finalizers=("tidegate.dev/restore",))
    return Restore(metadata=metadata, spec=RestoreSpec(backup_name="b", **spec))


@pytest.fixture
async def backed_up(world):
    """A world with a finished backup of two namespaces, whose further movers wait for the test."""
    await world.volumes("shop/db", "blog/posts")
    world.movers.obliging = True
    await world.store.create(a_backup("b"))
    await world.settle()
    assert await world.phase(Backup, "b") == "Completed"
    world.movers.obliging = False
    world.movers.started.clear()
    return world


async def finish_all(world):
    while not all(r.status.phase.final for r in await world.all(Restore)):
        world.movers.started[-1].finish()
        await world.settle()


async def test_every_volume_of_the_backup_is_brought_back_where_it_came_from(backed_up):
    await backed_up.store.create(a_restore())
    await backed_up.settle()
    await finish_all(backed_up)

    assert await backed_up.phase(Restore, "r") == "Completed"
    assert {m.job.path for m in backed_up.movers.started} == {"/data/blog/posts", "/data/shop/db"}


async def test_a_destination_gets_a_place_per_namespace_and_volume(backed_up):
    await backed_up.store.create(a_restore(destination="/back/", existing_data=ExistingData.OVERWRITE))
    await backed_up.settle()
    await finish_all(backed_up)

    jobs = [mover.job for mover in backed_up.movers.started]
    assert {job.path for job in jobs} == {"/back/blog/posts", "/back/shop/db"}
    assert {job.existing_data for job in jobs} == {ExistingData.OVERWRITE}


async def test_only_the_namespaces_that_were_asked_for_come_back(backed_up):
    await backed_up.store.create(a_restore(included_namespaces=("shop",)))
    await backed_up.settle()
    await finish_all(backed_up)

    assert [m.job.path for m in backed_up.movers.started] == ["/data/shop/db"]


async def test_a_volume_that_moved_is_restored_to_where_it_is_today(backed_up):
    volume = await backed_up.store.get(Volume, "db", "shop")
    await backed_up.store.update(volume.with_spec(directory="/new/place"))
    await backed_up.store.create(a_restore(included_namespaces=("shop",)))
    await backed_up.settle()

    assert backed_up.movers.started[0].job.path == "/new/place"


async def test_one_volume_that_fails_does_not_stop_the_other_and_is_named(backed_up):
    await backed_up.store.create(a_restore())
    await backed_up.settle()
    first = backed_up.movers.started[0]
    first.fail("DestinationUnusable", "it is not empty")
    await backed_up.settle()
    backed_up.movers.started[1].finish()
    await backed_up.settle()

    restore = await backed_up.store.get(Restore, "r")
    assert str(restore.status.phase) == "PartiallyFailed"
    assert restore.status.failure_reason == f"{first.job.path.removeprefix('/data/')}: it is not empty"


async def test_a_restore_of_a_backup_that_vanished_is_refused_with_a_sentence(world):
    await world.store.create(a_restore())
    await world.settle()

    restore = await world.store.get(Restore, "r")
    assert (str(restore.status.phase), restore.status.validation_errors) == (
        "FailedValidation",
        ("there is no backup b",),
    )


async def test_a_paused_restore_limit_holds_restores_and_says_so(backed_up):
    await backed_up.setting("concurrent-backup-restore-limit", "0")
    await backed_up.store.create(a_restore())
    await backed_up.settle()

    downloads = await backed_up.all(PodVolumeRestore)
    assert {d.status.condition("Waiting").reason for d in downloads} == {"RestoresDisabled"}
    assert backed_up.movers.started == []


async def test_deleting_a_running_restore_stops_it_and_leaves_the_backup_alone(backed_up):
    await backed_up.store.create(a_restore())
    await backed_up.settle()

    await backed_up.store.delete(Ref("Restore", "r"))
    await backed_up.settle()

    assert backed_up.movers.started[0].cancelled
    assert len(backed_up.movers.started) == 1
    assert await backed_up.all(Restore) == []
    assert await backed_up.phase(Backup, "b") == "Completed"

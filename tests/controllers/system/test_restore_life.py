"""The life of a system restore, and servers that are killed while it lasts."""

from datetime import timedelta

import pytest

from tidegate.decide.resources.row_pages import page_names
from tidegate.format.cfgs.backup_url import BackupUrl
from tidegate.model.resource import Metadata, Ref
from tidegate.model.restores.restore import Restore
from tidegate.model.row_page import RowPage
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.setting import Setting
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import StoredVolumeBackup, SystemBackup, VolumeBackupPolicy
from tidegate.model.system.system_restore import (
    ArchiveSource,
    RestoredVolume,
    SystemRestore,
    SystemRestorePhase,
    SystemRestoreSpec,
)
from tidegate.model.transfers.transfer import PodVolumeRestore
from tidegate.model.volumes.volume import Volume
from tidegate.testing.resources.builders import a_node, a_schedule, a_system_backup, a_target
from tidegate.testing.resources.lives import MortalWorld
from tidegate.testing.resources.put import put


def asked(url):
    """A system restore as the API lets it in: with its archive found."""
    found = ArchiveSource(target="rescue", url=url)
    spec = SystemRestoreSpec(system_backup="weekly", found=found)
    return SystemRestore(metadata=Metadata(name="back"), spec=spec)


def wanted(url, *volumes):
    """One that is planned already, as one is that an earlier version let in."""
    rows = tuple(
        RestoredVolume(
            volume=f"shop/{name}",
            stored=StoredVolumeBackup(target="rescue", store_volume=f"shop.{name}", store_backup="backup-1"),
            backup_url=BackupUrl("file:///somewhere", f"shop.{name}", "backup-1").encode(),
            state="Waiting",
        )
        for name in volumes
    )
    system = SystemRestore(metadata=Metadata(name="back"), spec=SystemRestoreSpec(system_backup="weekly"))
    return system.with_status(target="rescue", source_url=url, volumes=rows)


async def saved():
    """A world whose system backup is in a store, and the URL of it."""
    world = await MortalWorld().with_volumes("db", "files")
    await world.store.create(a_schedule("nightly", "0 3 * * *"))
    await world.store.create(a_system_backup("weekly", VolumeBackupPolicy.ALWAYS))
    await world.live()
    return world, (await world.store.get(SystemBackup, "weekly")).status.url


async def after_a_disaster():
    """Another world with nothing but a node and the store of the first."""
    lost, url = await saved()
    world = MortalWorld()
    world.archives = lost.archives
    await put(world.store, a_node())
    await world.store.create(a_target("rescue"))
    await world.store.create(asked(url))
    return world


async def names(world, kind):
    return sorted(one.name for one in (await world.store.list(kind)).items)


# More than a system restore of two volumes takes; a test below makes sure of that.
STEPS = 65


@pytest.mark.parametrize("step", range(STEPS))
async def test_a_system_restore_whose_server_dies_after_any_step_is_finished_by_the_next(step):
    world = await after_a_disaster()
    await world.live(writes=step)
    await world.live()

    system = await world.store.get(SystemRestore, "back")
    downloads = (await world.store.list(PodVolumeRestore)).items
    assert system.status.phase == "Completed", system.status.failure_reason
    assert await names(world, Volume) == ["db", "files"]
    assert (await names(world, Schedule), await names(world, BackupTarget)) == (["nightly"], ["rescue", "store"])
    assert len(await names(world, Restore)) == 2
    assert [(row.volume, str(row.state)) for row in system.status.volumes] == [
        ("shop/db", "Completed"),
        ("shop/files", "Completed"),
    ]
    assert {str(row.action) for row in system.status.definitions} == {"Create"}
    assert sorted(download.spec.path for download in downloads) == ["/data/db", "/data/files"]


async def with_long_names():
    """A system restore whose rows fill pages, of volumes that are all there."""
    world = await MortalWorld().with_volumes(*(f"{'long-' * 45}{number}" for number in range(80)))
    weekly = await world.store.create(a_system_backup("weekly", VolumeBackupPolicy.DISABLED))
    await world.live()
    url = (await world.store.get(SystemBackup, weekly.name)).status.url
    found = ArchiveSource(target="store", url=url)
    spec = SystemRestoreSpec(system_backup="weekly", found=found, volumes="none")
    await world.store.create(SystemRestore(metadata=Metadata(name="back"), spec=spec))
    return world


# Each volume is looked at once, and that counts as a write: what matters comes before and after.
STEPS_WITH_PAGES = 89


@pytest.mark.parametrize("step", [0, 1, *range(80, STEPS_WITH_PAGES)])
async def test_rows_in_pages_survive_a_server_that_dies_after_any_step(step):
    world = await with_long_names()
    await world.live(writes=step)
    await world.live()

    status = (await world.store.get(SystemRestore, "back")).status
    assert status.phase == "Completed", status.failure_reason
    assert sum(row.done for row in status.definitions) == 81
    assert len(status.volumes) == 80
    of_backup = (await world.store.get(SystemBackup, "weekly")).status
    assert page_names(status) | page_names(of_backup) == set(await names(world, RowPage))


async def test_the_steps_with_pages_are_all_of_them():
    world = await with_long_names()

    assert not (await world.live(writes=STEPS_WITH_PAGES)).died
    assert len(await names(world, RowPage)) == 3


async def test_the_steps_above_cover_a_whole_system_restore():
    world = await after_a_disaster()

    assert not (await world.live(writes=STEPS - 1)).died


@pytest.fixture
async def bare(world):
    """A world with the archive of another one, and a second target that leads to it."""
    lost, url = await saved()
    world.archives.objects = lost.archives.objects
    await world.store.create(a_target("rescue"))
    await world.settle()
    return world, url


async def test_a_volume_that_fails_does_not_stop_the_others_and_is_named_at_the_end(bare):
    world, url = bare
    await put(world.store, wanted(url, "db", "files"))
    await world.settle()
    world.movers.started[0].fail("MissingBlock", "a block is missing")
    await world.settle()
    between = await world.phase(SystemRestore, "back")
    world.movers.started[1].finish(size=1)
    await world.settle()

    system = await world.store.get(SystemRestore, "back")
    assert between == "RestoringVolumes"
    assert system.status.phase == "PartiallyFailed"
    assert [str(row.state) for row in system.status.volumes] == ["Failed", "Completed"]
    assert system.status.failure_reason.startswith("volume shop/db: ")
    assert "a block is missing" in system.status.failure_reason


async def test_a_restore_that_somebody_deletes_counts_as_failed_at_once(bare):
    world, url = bare
    await put(world.store, wanted(url, "db"))
    await world.settle()
    (row,) = (await world.store.get(SystemRestore, "back")).status.volumes
    await world.store.delete(Ref("Restore", row.restore))
    await world.settle()

    system = await world.store.get(SystemRestore, "back")
    assert (system.status.phase, "was deleted" in system.status.failure_reason) == ("PartiallyFailed", True)


async def test_restores_pass_the_restore_limit_and_what_the_operator_set_is_kept(bare):
    world, url = bare
    await world.setting("concurrent-backup-restore-limit", "0")
    await put(world.store, wanted(url, "db", "files"))
    await world.settle()

    limit = await world.store.get(Setting, "concurrent-backup-restore-limit")
    restores = await world.all(Restore)
    assert (limit.spec.value, world.movers.started) == ("0", [])
    assert {restore.status.condition("Waiting").reason for restore in restores} == {"RestoresDisabled"}
    assert await world.phase(SystemRestore, "back") == "RestoringVolumes"


@pytest.mark.parametrize(("minutes", "phase"), [(30, "RestoringVolumes"), (61, "Error")])
async def test_a_store_that_goes_away_before_the_archive_is_read_is_waited_for_but_not_for_ever(bare, minutes, phase):
    world, url = bare
    world.archives.away = True
    await put(world.store, wanted(url, "db"))
    await world.settle()
    waiting = await world.store.get(SystemRestore, "back")
    await world.passes(minutes=minutes)
    world.archives.away = False
    await world.passes(seconds=15)

    assert (waiting.status.phase, waiting.status.condition("Waiting").reason) == ("Downloading", "TargetUnavailable")
    assert await world.phase(SystemRestore, "back") == phase
    assert bool(await world.all(Volume)) == (phase != "Error")


async def test_an_archive_that_was_damaged_meanwhile_changes_nothing(bare):
    world, url = bare
    (place,) = await world.archives.found(None)
    world.archives.objects.put(place.zip_key, b"damaged")
    await put(world.store, wanted(url, "db"))
    await world.settle()

    system = await world.store.get(SystemRestore, "back")
    assert (system.status.phase, await world.all(Volume)) == ("Error", [])
    assert "checksum" in system.status.failure_reason


@pytest.mark.parametrize(("minutes", "phase"), [(30, "RestoringVolumes"), (61, "Error")])
async def test_a_store_that_goes_away_before_definitions_are_made_is_waited_for_but_not_for_ever(bare, minutes, phase):
    world, url = bare
    world.archives.away = True
    deadline = world.clock.now() + timedelta(hours=1)
    await put(world.store, wanted(url, "db").with_status(phase=SystemRestorePhase.RESTORING, deadline=deadline))
    await world.settle()
    waiting = await world.store.get(SystemRestore, "back")
    await world.passes(minutes=minutes)
    world.archives.away = False
    await world.passes(seconds=15)

    assert (waiting.status.phase, waiting.status.condition("Waiting").reason) == ("Restoring", "TargetUnavailable")
    assert await world.phase(SystemRestore, "back") == phase


async def test_a_store_that_goes_away_while_volumes_come_back_holds_them_and_fails_none(bare):
    world, url = bare
    world.store_probe.down = True
    await world.passes(seconds=31)
    await put(world.store, wanted(url, "db", "files"))
    await world.settle()
    (download,) = await world.all(PodVolumeRestore)
    started = list(world.movers.started)
    world.movers.obliging = True
    world.store_probe.down = False
    await world.passes(minutes=2)

    assert (started, download.status.condition("Waiting").reason) == ([], "TargetUnavailable")
    assert await world.phase(SystemRestore, "back") == "Completed"


async def test_without_its_target_a_system_restore_ends_and_says_so(bare):
    world, url = bare
    await world.store.delete(Ref("BackupTarget", "rescue"))
    await world.settle()
    await put(world.store, wanted(url, "db"))
    await world.settle()

    system = await world.store.get(SystemRestore, "back")
    assert (system.status.phase, "rescue" in system.status.failure_reason) == ("Error", True)


async def test_a_restore_whose_archive_was_not_looked_up_is_an_error_at_once(bare):
    world, _ = bare
    spec = SystemRestoreSpec(system_backup="weekly")
    await world.store.create(SystemRestore(metadata=Metadata(name="back"), spec=spec))
    await world.settle()

    system = await world.store.get(SystemRestore, "back")
    assert (system.status.phase, "ask for it with" in system.status.failure_reason) == ("Error", True)

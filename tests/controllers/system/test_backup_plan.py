"""The test plan of the seed and Longhorn's own cases of system backups (facts 8.6), by their numbers.

| case | where |
|---|---|
| seed 1, 2, 3 | here |
| 8.6.1 create and restore; 8.6.2 a deleted volume comes back with its data | `journeys/test_disaster.py` |
| 8.6.3 policy omitted | `api/routes/test_systems.py` |
| 8.6.4, 8.6.5, 8.6.6, 8.6.7, 8.6.8 | here |
| 8.6.9 backing image, PV, PVC | there are none here; images and trees: `journeys/test_disaster.py` |
| 8.6.10 no target, or one that is away; 8.6.11 restore in progress, unknown backup | `api/routes/test_systems.py` |
| 8.6.11 attached volume | `decide/system/test_restore.py`: what holds something is left alone |
| 8.6.12 uninstall | here |
| state table | here, but for New -> Ready -> Deleting: `test_backup_life.py` |
"""

import pytest

from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Ref
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup, SystemBackupPhase, VolumeBackupPolicy
from tidegate.model.volumes.volume import Volume
from tidegate.testing.resources.builders import a_backup, a_system_backup
from tidegate.testing.resources.put import put

POLICY = VolumeBackupPolicy


@pytest.fixture
async def shop(world):
    """One volume; movers succeed."""
    await world.volumes("shop/db")
    world.movers.obliging = True
    return world


async def take(world, name, policy):
    await world.store.create(a_system_backup(name, policy))
    await world.settle()
    system = await world.store.get(SystemBackup, name)
    assert system.status.phase is SystemBackupPhase.READY, system.status.failure_reason
    return system


async def backups(world):
    return len(await world.all(Backup))


@pytest.mark.parametrize(
    ("policy", "without", "with_one"),
    [(POLICY.IF_NOT_PRESENT, 1, 1), (POLICY.ALWAYS, 1, 2), (POLICY.DISABLED, 0, 1)],
    ids=["seed-1", "seed-2", "seed-3"],
)
@pytest.mark.parametrize("present", [False, True], ids=["no backup", "a backup"])
async def test_the_plan_of_the_seed(shop, policy, without, with_one, present):
    if present:
        await shop.store.create(a_backup("mine", "shop"))
        await shop.settle()
    await take(shop, "s", policy)

    assert await backups(shop) == (with_one if present else without)


@pytest.mark.parametrize(
    ("policy", "counts"), [(POLICY.IF_CHANGED, [1, 1, 2]), (POLICY.IF_NOT_PRESENT, [1, 1, 1])], ids=str
)
async def test_case_4_first_then_unchanged_then_after_writes(shop, policy, counts):
    found = []
    for name in ("first", "unchanged", "written"):
        if name == "written":
            shop.volume_probe.changed["/data/shop/db"] = shop.clock.now()
        await shop.passes(minutes=1)
        system = await take(shop, name, policy)
        found.append(await backups(shop))

    volume = await shop.store.get(Volume, "db", "shop")
    assert found == counts
    assert volume.status.last_backup == system.status.volumes[0].backup


async def test_case_5_always_from_one_backup_twice_under_one_name_that_is_deleted_between(shop):
    await shop.store.create(a_backup("mine", "shop"))
    await shop.settle()
    await take(shop, "s", POLICY.ALWAYS)
    first = await backups(shop)
    await shop.store.delete(Ref("SystemBackup", "s"))
    await shop.settle()
    between = await backups(shop)
    again = await take(shop, "s", POLICY.ALWAYS)

    # What it made goes with it: Longhorn leaves that for ever, and so counts 2, then 3.
    assert (first, between, await backups(shop)) == (2, 1, 2)
    assert again.status.volumes[0].backup != "mine"


async def test_case_6_disabled_makes_none(shop):
    await take(shop, "s", POLICY.DISABLED)

    assert await backups(shop) == 0


async def test_case_7_names_that_begin_the_same_survive_each_other_also_the_next_sync(shop):
    for name in ("aa", "aaa", "aaaa"):
        await take(shop, name, POLICY.DISABLED)
    await shop.store.delete(Ref("SystemBackup", "aa"))
    await shop.settle()
    target = await shop.store.get(BackupTarget, "store")
    await shop.store.update_status(target.with_status(last_synced_at=shop.clock.now()))
    await shop.passes(seconds=10)

    assert [system.name for system in await shop.all(SystemBackup)] == ["aaa", "aaaa"]
    assert [place.name for place in await shop.archives.found(None)] == ["aaa", "aaaa"]


async def test_case_8_a_name_that_is_in_the_store_is_not_made_again(shop):
    made = await take(shop, "s", POLICY.DISABLED)
    await shop.store.update(made.with_metadata(finalizers=()))
    await shop.store.delete(made.ref)
    await shop.store.create(a_system_backup("s", POLICY.ALWAYS))
    await shop.settle()

    # Longhorn hands out the old one; who asks for a backup must not get an old one (docs/decisions/0023).
    assert await shop.phase(SystemBackup, "s") == "Error"
    assert await backups(shop) == 0


async def test_case_12_without_its_target_the_record_goes_and_the_store_keeps_the_archive(shop):
    await take(shop, "s", POLICY.DISABLED)
    await shop.store.delete(Ref("BackupTarget", "store"))
    await shop.settle()
    await shop.store.delete(Ref("SystemBackup", "s"))
    await shop.settle()

    assert await shop.all(SystemBackup) == []
    assert [place.name for place in await shop.archives.found(None)] == ["s"]


@pytest.mark.parametrize("phase", [SystemBackupPhase.READY, SystemBackupPhase.ERROR])
async def test_the_state_table_what_is_over_stays_so(shop, phase):
    await put(shop.store, a_system_backup("s", POLICY.ALWAYS, phase=phase))
    await shop.settle()
    await shop.restart()

    assert (await shop.phase(SystemBackup, "s"), await backups(shop)) == (phase, 0)


async def test_the_state_table_a_cfg_that_cannot_be_read_is_an_error(shop):
    made = await take(shop, "s", POLICY.DISABLED)
    (place,) = await shop.archives.found(None)
    shop.archives.objects.put(place.cfg_key, b"{")
    await shop.store.update(made.with_metadata(finalizers=()))
    await shop.store.delete(made.ref)
    await put(shop.store, a_system_backup("s", phase=SystemBackupPhase.SYNCING, version=place.version))
    await shop.settle()

    system = await shop.store.get(SystemBackup, "s")
    assert (str(system.status.phase), "system-backup.cfg" in system.status.failure_reason) == ("Error", True)


async def test_the_state_table_an_upload_that_ends_after_its_time_is_ready_all_the_same(shop):
    now = shop.clock.now()
    late = a_system_backup("s", phase=SystemBackupPhase.UPLOADING, version="v1", created_at=now, deadline=now)
    await put(shop.store, late)
    await shop.settle()

    assert await shop.phase(SystemBackup, "s") == "Ready"


async def test_a_store_that_cannot_be_listed_at_the_beginning_is_waited_for_and_then_an_error(shop):
    shop.archives.away = True
    await shop.store.create(a_system_backup("s", POLICY.ALWAYS))
    await shop.settle()
    await shop.passes(minutes=61)

    system = await shop.store.get(SystemBackup, "s")
    assert (str(system.status.phase), await backups(shop)) == ("Error", 0)
    assert system.status.failure_reason.startswith("the target did not answer in time")


async def test_a_store_that_is_away_while_the_archive_is_generated_is_only_missed_by_the_upload(shop):
    shop.archives.away = True
    await put(shop.store, a_system_backup("s", phase=SystemBackupPhase.GENERATING))
    await shop.settle()
    waiting = await shop.store.get(SystemBackup, "s")
    shop.archives.away = False
    await shop.passes(seconds=15)

    assert (waiting.status.phase, waiting.status.condition("Waiting").reason) == ("Uploading", "TargetUnavailable")
    assert await shop.phase(SystemBackup, "s") == "Ready"


async def test_a_found_one_whose_store_goes_away_is_waited_for_too(shop):
    made = await take(shop, "s", POLICY.DISABLED)
    await shop.store.update(made.with_metadata(finalizers=()))
    await shop.store.delete(made.ref)
    shop.archives.away = True
    found = a_system_backup("s", phase=SystemBackupPhase.SYNCING, version=made.status.version)
    await put(shop.store, found)
    await shop.settle()
    waiting = await shop.store.get(SystemBackup, "s")
    shop.archives.away = False
    await shop.passes(seconds=15)

    assert (waiting.status.phase, waiting.status.condition("Waiting").reason) == ("Syncing", "TargetUnavailable")
    assert await shop.phase(SystemBackup, "s") == "Ready"


async def test_the_day_that_volumes_may_take_is_counted_across_restarts(shop):
    await shop.setting("backup-queue-paused", "true")
    await shop.store.create(a_system_backup("s", POLICY.ALWAYS))
    await shop.settle()
    await shop.passes(hours=12)
    await shop.restart()
    await shop.passes(hours=11, minutes=59)
    before = await shop.phase(SystemBackup, "s")
    await shop.passes(minutes=2)

    assert (before, await shop.phase(SystemBackup, "s")) == ("CreatingVolumeBackups", "Error")
    assert {str(backup.status.phase) for backup in await shop.all(Backup)} == {"Canceled"}

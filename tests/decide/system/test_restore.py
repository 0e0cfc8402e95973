"""What a system restore does about definitions and volumes."""

import pytest

from tidegate.decide.system.restore import Here, merged, place_of, plan_definitions
from tidegate.decide.system.restore_volumes import (
    FoundBackup,
    all_over,
    failure_of,
    plan_volume,
    restore_for,
    store_of,
    volumes_as_they_are,
    with_restore_names,
)
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import Restore, RestorePhase, RestoreSpec, RestoreStatus
from tidegate.model.restores.restore_plan import Place, PlaceState
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.system.system import StoredVolumeBackup, VolumeBackupPolicy
from tidegate.model.system.system_restore import RestoredVolume, SystemRestore, SystemRestoreSpec, VolumeChoice
from tidegate.model.system_archive import ArchivedVolumeBackup, ArchiveMetadata, SystemArchive
from tidegate.model.volumes.volume import Volume, VolumeSpec
from tidegate.model.volumes.volume_ref import Claim
from tidegate.testing.resources.builders import THEN, a_schedule, a_target, a_volume
from tidegate.testing.resources.volume_refs import a_volume_at

STORED = StoredVolumeBackup(target="store", store_volume="shop.db", store_backup="backup-1")


def a_setting(name, value="1"):
    return Setting(metadata=Metadata(name=name), spec=SettingSpec(value=value))


def planned(*archived, here=(), nodes=("node-a",), through="rescue"):
    metadata = ArchiveMetadata(
        version="v1", created_at=THEN, system_backup_uid="u", volume_backup_policy=VolumeBackupPolicy.ALWAYS
    )
    archive = SystemArchive("weekly", metadata, archived, ())
    return plan_definitions(archive, Here({place_of(one): one for one in here}, frozenset(nodes), through))


def actions(*archived, **surroundings):
    return [(one.wanted.kind, one.wanted.name, str(one.action)) for one in planned(*archived, **surroundings)]


def test_definitions_come_back_behind_those_that_they_refer_to():
    mixed = (a_schedule("nightly", "0 3 * * *"), a_volume("shop", "db"), a_target("store"), a_setting("limit-upload"))

    assert [kind for kind, _, _ in actions(*mixed)] == ["Setting", "BackupTarget", "Volume", "Schedule"]


@pytest.mark.parametrize(
    ("archived", "here", "action"),
    [
        (a_volume("shop", "db", "/new"), None, "Create"),
        (a_volume("shop", "db", "/new"), a_volume("shop", "db", "/old"), "Update"),
        (a_volume("shop", "db", "/new"), a_volume("shop", "db", "/new", own="label"), "Unchanged"),
        (a_setting("concurrent-backups", "2"), a_setting("concurrent-backups", "1"), "Update"),
        (a_setting("concurrent-backup-restore-limit", "2"), a_setting("concurrent-backup-restore-limit", "9"), "Keep"),
        (a_setting("concurrent-backup-restore-limit", "2"), None, "Keep"),
        (a_setting("concurrent-backup-restore-per-node-limit", "2"), None, "Keep"),
        (a_setting("of-a-later-version"), None, "Keep"),
        (a_setting("concurrent-backups", "none"), None, "Keep"),
        (a_target("store", url="file:///a"), a_target("store", url="file:///b"), "Keep"),
        (a_target("store", url="file:///a"), a_target("store", url="file:///a"), "Unchanged"),
    ],
)
def test_what_exists_is_updated_and_what_the_operator_needs_for_the_occasion_is_kept(archived, here, action):
    (plan,) = planned(archived, here=[here] if here else [])

    assert plan.action == action
    assert bool(plan.reason) == (action == "Keep")


def test_an_update_keeps_labels_that_only_exist_here():
    new = merged(a_volume("shop", "db", "/old", mine="1", app="old"), a_volume("shop", "db", "/new", app="new"))

    assert (new.spec.directory, new.metadata.labels) == ("/new", {"mine": "1", "app": "new"})


@pytest.mark.parametrize(
    ("archived_default", "default_here", "default"),
    [(True, False, True), (False, False, True), (True, True, False), (False, True, False)],
)
def test_the_only_target_of_the_archive_becomes_the_default_unless_there_is_one(
    archived_default, default_here, default
):
    rescue = a_target("rescue", default=default_here, url="file:///elsewhere")

    (plan,) = planned(a_target("store", default=archived_default), here=[rescue])

    assert plan.wanted.spec.default is default


def test_a_target_of_the_same_store_takes_the_secret_that_is_known_to_work():
    rescue = a_target("rescue").with_spec(credential_secret="mine")

    (same,) = planned(a_target("store").with_spec(credential_secret="lost"), here=[rescue])
    (other,) = planned(a_target("store", url="file:///b").with_spec(credential_secret="lost"), here=[rescue])

    assert (same.wanted.spec.credential_secret, same.reason) == ("mine", "")
    assert other.wanted.spec.credential_secret == "lost"
    assert "secret lost is not in the archive" in other.reason


def test_a_volume_on_a_node_that_is_not_here_is_taken_to_be_on_the_servers():
    volume = Volume(metadata=Metadata(name="db", namespace="shop"), spec=VolumeSpec(image="/i", node="gone"))

    (plan,) = planned(volume)
    (kept,) = planned(volume, nodes=("gone",))

    assert (plan.wanted.spec.node, "no node gone" in plan.reason) == (None, True)
    assert (kept.wanted.spec.node, kept.reason) == ("gone", "")


FOUND = FoundBackup(STORED, "file:///s?backup=backup-1&volume=shop.db")


@pytest.mark.parametrize(
    ("choice", "state", "found", "outcome"),
    [
        (VolumeChoice.NONE, PlaceState.FREE, FOUND, "Skipped"),
        (VolumeChoice.MISSING, PlaceState.FREE, FOUND, "Waiting"),
        (VolumeChoice.MISSING, PlaceState.EMPTY, FOUND, "Waiting"),
        (VolumeChoice.MISSING, PlaceState.DIRECTORY, FOUND, "Skipped"),
        (VolumeChoice.MISSING, PlaceState.DEVICE, FOUND, "Skipped"),
        (VolumeChoice.ALL, PlaceState.DIRECTORY, FOUND, "Waiting"),
        (VolumeChoice.MISSING, PlaceState.FREE, "it has none", "Failed"),
        (VolumeChoice.NONE, PlaceState.FREE, "it has none", "Skipped"),
    ],
)
def test_which_volumes_get_their_data_back(choice, state, found, outcome):
    row = plan_volume(a_volume("shop", "db"), found, choice, Place(state=state))

    assert row.state == outcome
    assert (row.stored == STORED) == (outcome == "Waiting")
    assert bool(row.reason) == (outcome != "Waiting")


@pytest.mark.parametrize("choice", [VolumeChoice.MISSING, VolumeChoice.ALL])
def test_a_volume_of_a_claim_does_not_come_back_on_a_machine_and_says_why(choice):
    claim = Claim("shop", "data")

    row = plan_volume(a_volume_at(claim), FOUND, choice, Place(in_the_way=claim.not_here))

    assert (row.state, row.reason) == ("Failed", f"shop/data cannot be made: {claim.not_here}")


def test_the_store_of_the_archive_is_found_again_under_another_url():
    rescue, other = a_target("rescue", url="file:///mnt/usb"), a_target("other", url="s3://b@r/")
    beside = ArchivedVolumeBackup(volume="shop/db", target_url="file:///srv/store", stored=STORED)
    apart = beside.replace(target_url="s3://b@r")
    lost = beside.replace(target_url="s3://lost@r")

    def store(row):
        return store_of(row, [rescue, other], archive_url="vfs:///srv/store/", through=rescue)

    assert (store(beside), store(apart), store(lost)) == (rescue, other, None)


def a_system_restore(*rows, volumes=VolumeChoice.MISSING):
    spec = SystemRestoreSpec(system_backup="weekly", volumes=volumes)
    return SystemRestore(metadata=Metadata(name="back", uid="u"), spec=spec).with_status(volumes=rows)


def waiting(volume):
    return RestoredVolume(volume=volume, stored=STORED, backup_url=FOUND.url, state="Waiting")


def test_restores_have_one_name_for_ever_and_read_the_very_backup_that_is_named():
    system = a_system_restore(waiting("shop/db"), RestoredVolume(volume="shop/x", state="Skipped"))
    rows = with_restore_names(system)

    restore = restore_for(system, rows[0], a_volume("shop", "db", "/data/db"))
    assert (rows, rows[1].restore) == (with_restore_names(system), None)
    assert restore.name == rows[0].restore
    assert restore.source_volume_backup.store_backup == "backup-1"
    assert restore.source_volume_backup.path == "/data/db"
    assert (restore.spec.existing_data, restore.spec.force) == (ExistingData.NONE, False)


def test_only_who_asks_for_all_volumes_overwrites_and_writes_onto_devices():
    system = a_system_restore(waiting("shop/db"), volumes=VolumeChoice.ALL)
    (row,) = with_restore_names(system)
    device = Volume(metadata=Metadata(name="db", namespace="shop"), spec=VolumeSpec(device="/dev/x"))

    assert restore_for(system, row, device).spec.force
    assert not restore_for(system, row, a_volume("shop", "db")).spec.force
    assert restore_for(system, row, device).spec.existing_data is ExistingData.OVERWRITE


def a_restore(phase, why=None):
    status = RestoreStatus(phase=phase, failure_reason=why)
    return Restore(metadata=Metadata(name="r"), spec=RestoreSpec(backup_url=FOUND.url), status=status)


@pytest.mark.parametrize(
    ("restore", "state", "words"),
    [
        (None, "Failed", "was deleted"),
        (a_restore(RestorePhase.NEW), "Waiting", ""),
        (a_restore(RestorePhase.IN_PROGRESS), "InProgress", ""),
        (a_restore(RestorePhase.COMPLETED), "Completed", ""),
        (a_restore(RestorePhase.FAILED, "no space"), "Failed", "no space"),
        (a_restore(RestorePhase.CANCELED), "Failed", "Canceled"),
    ],
)
def test_how_a_volume_stands_is_told_by_its_restore(restore, state, words):
    rows = [waiting("shop/db").replace(restore="r")]

    (row,) = volumes_as_they_are(rows, {"r": restore} if restore else {})

    assert row.state == state
    assert words in row.reason
    assert all_over([row]) == (state in {"Failed", "Completed"})
    assert (failure_of([row]) is not None) == (state == "Failed")

"""System backups and restores over REST."""

import pytest

from tidegate.controllers.system.restore_planner import SystemRestorePlanner
from tidegate.datapath.system_archives import Written, write_archive
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.cfgs.system_archive import encode_archive
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore_plan import Place, PlaceState
from tidegate.model.schedules.schedule import SCHEDULE_LABEL
from tidegate.model.system.system import (
    StoredVolumeBackup,
    SystemBackupPhase,
    SystemBackupVolume,
    VolumeBackupPolicy,
    VolumeDecision,
)
from tidegate.model.system.system_restore import ArchiveSource, SystemRestore, SystemRestorePhase, SystemRestoreSpec
from tidegate.model.system_archive import ArchivedVolumeBackup, ArchiveMetadata, SystemArchive
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.resources.builders import THEN, a_backup, a_node, a_system_backup, a_target, a_volume
from tidegate.testing.resources.put import put
from tidegate.testing.stores.system_archives import MemoryArchives


@pytest.fixture
def archives(services):
    services.archives = MemoryArchives(MemoryObjects(services.clock))
    services.restore_plans = SystemRestorePlanner(
        services.store, services.volume_probe, services.secrets, services.archives
    )
    return services.archives


@pytest.fixture
async def target(services, archives):
    await put(services.store, a_node())
    return await services.store.create(a_target("store"))


def asking(name, **spec):
    return {"metadata": {"name": name}, "spec": spec}


async def test_a_policy_that_is_not_given_reads_back_as_if_not_present(api, target):
    for name, spec in (("a", {}), ("b", {"volumeBackupPolicy": ""})):
        answer = await api.post("/v1/systembackups", json=asking(name, **spec))

        assert answer.status_code == 201
        assert answer.json()["spec"] == {"volumeBackupPolicy": "if-not-present", "target": "store"}
        assert (await api.get(f"/v1/systembackups/{name}")).json()["spec"]["volumeBackupPolicy"] == "if-not-present"


@pytest.mark.parametrize("policy", ["if-not-present", "if-changed", "always", "disabled"])
async def test_each_policy_is_taken_and_shown(api, target, policy):
    answer = await api.post("/v1/systembackups", json=asking("s", volumeBackupPolicy=policy))

    assert (answer.status_code, answer.json()["spec"]["volumeBackupPolicy"]) == (201, policy)


@pytest.mark.parametrize("policy", ["never", "Always", 1, ["always"]])
async def test_any_other_policy_is_refused_at_creation(api, target, policy):
    answer = await api.post("/v1/systembackups", json=asking("s", volumeBackupPolicy=policy))

    assert answer.status_code == 422
    assert "volumeBackupPolicy" in answer.text
    assert (await api.get("/v1/systembackups")).json()["data"] == []


async def test_without_a_target_or_with_one_that_is_away_creation_is_refused(api, services, archives):
    none = await api.post("/v1/systembackups", json=asking("s"))
    await services.store.create(a_target("store"))
    archives.away = True
    away = await api.post("/v1/systembackups", json=asking("s"))

    assert (none.status_code, away.status_code) == (422, 503)
    assert (none.json()["field"], "does not answer" in away.json()["detail"]) == ("spec.target", True)


def write(archives, name, *volumes):
    metadata = ArchiveMetadata(
        version="v1", created_at=THEN, system_backup_uid="u", volume_backup_policy=VolumeBackupPolicy.ALWAYS
    )
    rows = tuple(
        ArchivedVolumeBackup(
            volume=f"shop/{one.name}",
            target_url="file:///srv/old",
            stored=StoredVolumeBackup(target="old", store_volume=f"shop.{one.name}", store_backup="backup-1"),
        )
        for one in volumes[:2]
    )
    archive = SystemArchive(name, metadata, volumes, rows)
    written = Written(encode_archive(archive), "u", "file:///srv/old", THEN)
    write_archive(archives.objects, ArchivePlace(name, "v1"), written, key=archives.key)


async def test_a_name_that_the_store_has_already_is_refused_but_not_one_that_begins_the_same(api, target, archives):
    write(archives, "aa")

    taken = await api.post("/v1/systembackups", json=asking("aa"))
    other = await api.post("/v1/systembackups", json=asking("aaa"))

    assert (taken.status_code, other.status_code) == (409, 201)
    assert "already has a system backup aa" in taken.json()["detail"]


async def test_how_each_volume_stands_is_told_while_they_are_backed_up(api, services, target):
    row = SystemBackupVolume(volume="shop/db", decision=VolumeDecision.CREATED, backup="b", state="Waiting")
    system = a_system_backup("s", phase=SystemBackupPhase.CREATING_VOLUME_BACKUPS, volumes=(row,))
    stored = await put(services.store, system.with_status(volumes_requested_at=THEN, deadline=THEN))
    label = {"tidegate.dev/system-backup-uid": stored.metadata.uid}
    await put(services.store, a_backup("b", "shop", phase=BackupPhase.IN_PROGRESS).with_metadata(labels=label))
    await put(services.store, a_volume("shop", "db").with_status(size=700))

    status = (await api.get("/v1/systembackups/s")).json()["status"]
    listed = (await api.get("/v1/systembackups")).json()["data"][0]["status"]

    assert (status["volumes"], status["deadline"]) == (listed["volumes"], "2026-01-01T00:00:00Z")
    assert status["volumes"][0]["message"] == "backup b is InProgress"
    assert status["bytes"] == {"done": 0, "total": 700, "volumesNotMeasured": 0, "percent": 0}


async def test_a_dry_run_tells_the_plan_and_changes_nothing(api, services, volume_probe, target, archives):
    write(
        archives,
        "weekly",
        a_volume("shop", "db", "/db"),
        a_volume("shop", "files", "/files"),
        a_volume("shop", "x", "/x"),
    )
    volume_probe.places["/files"] = Place(state=PlaceState.DIRECTORY, detail="a directory with 3 entries")

    asked = asking("back", systemBackup="weekly")
    answer = await api.post("/v1/systemrestores", params={"dryRun": "true"}, json=asked)

    status = answer.json()["status"]
    assert answer.status_code == 200
    assert [(row["kind"], row["name"], row["action"]) for row in status["definitions"]] == [
        ("Volume", f"shop/{name}", "Create") for name in ("db", "files", "x")
    ]
    assert [(row["volume"], row["state"]) for row in status["volumes"]] == [
        *(("shop/db", "Waiting"), ("shop/files", "Skipped"), ("shop/x", "Failed")),
    ]
    assert status["volumes"][0]["backupUrl"] == "file:///somewhere?backup=backup-1&volume=shop.db"
    assert "a directory with 3 entries" in status["volumes"][1]["reason"]
    assert (await api.get("/v1/systemrestores")).json()["data"] == []
    assert (await api.get("/v1/volumes")).json()["data"] == []


async def test_a_system_restore_brings_no_volume_back_over_a_store(api, target, archives):
    write(archives, "weekly", a_volume("shop", "db", "/somewhere/db"))

    asked = asking("back", systemBackup="weekly")
    answer = await api.post("/v1/systemrestores", params={"dryRun": "true"}, json=asked)

    (row,) = answer.json()["status"]["volumes"]
    assert row["reason"] == (
        f"/somewhere/db cannot be made: it is, holds or lies in /somewhere, the store of target {target.name}"
    )


async def test_an_archive_is_found_by_its_url_too(api, target, archives):
    write(archives, "weekly", a_volume("shop", "db", "/db"))
    url = "file:///somewhere/backupstore/system-backups/v1/weekly"

    forged = {"target": "another", "url": "file:///forged"}
    answer = await api.post("/v1/systemrestores", json=asking("back", systemBackup=url, found=forged))

    assert (answer.status_code, answer.json()["status"]["sourceUrl"]) == (201, url)
    kept = (await api.get("/v1/systemrestores/back")).json()["spec"]["found"]
    assert kept == {"target": target.name, "url": url}, "also before its controller has planned it"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("nobody", (404, "there is no system backup nobody")),
        ("file:///elsewhere/backupstore/system-backups/v1/weekly", (404, "no backup target has the URL")),
        ("file:///somewhere/weekly", (422, "is not the URL of a system backup")),
        ("file:///somewhere/backupstore/system-backups/v1/nobody", (404, "there is no system backup nobody")),
    ],
)
async def test_a_source_that_cannot_be_restored_is_told_in_one_sentence(api, services, target, source, told):
    write(services.archives, "weekly")

    answer = await api.post("/v1/systemrestores", json=asking("back", systemBackup=source))

    status, words = told
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True)


async def test_only_one_system_restore_at_a_time_and_only_of_one_that_is_ready(api, services, target, archives):
    await services.store.create(a_system_backup("half"))
    half = await api.post("/v1/systemrestores", json=asking("a", systemBackup="half"))
    busy = SystemRestore(metadata=Metadata(name="first"), spec=SystemRestoreSpec(system_backup="weekly"))
    await services.store.create(busy)
    write(archives, "weekly")
    second = await api.post("/v1/systemrestores", json=asking("b", systemBackup="weekly"))

    assert (half.status_code, "half is New" in half.json()["detail"]) == (409, True)
    assert (second.status_code, "first is not over yet" in second.json()["detail"]) == (409, True)


async def test_no_client_says_that_an_archive_was_found(api, target):
    answer = await api.post("/v1/systembackups", json=asking("s", foundVersion="v1"))

    assert (answer.status_code, "foundVersion" in answer.json()["spec"]) == (201, False)


async def test_a_schedule_of_system_backups_can_be_run_now(api, services, target):
    spec = {"schedule": "@daily", "systemBackup": {"volumeBackupPolicy": "always"}}
    await api.post("/v1/schedules", json=asking("weekly", **spec))

    made = await api.post("/v1/schedules/weekly/run")
    again = await api.post("/v1/schedules/weekly/run")

    assert (made.status_code, made.json()["kind"]) == (201, "SystemBackup")
    assert made.json()["spec"] == {"volumeBackupPolicy": "always", "target": "store"}
    assert again.status_code == 409


async def test_a_system_backup_that_is_being_restored_cannot_be_deleted(api, services, target):
    url = "file:///somewhere/backupstore/system-backups/v1/weekly"
    await put(services.store, a_system_backup("weekly", phase=SystemBackupPhase.READY, url=url))
    source = ArchiveSource(target=target.name, url=url)
    spec = SystemRestoreSpec(system_backup="weekly", found=source)
    stored = await services.store.create(SystemRestore(metadata=Metadata(name="back"), spec=spec))

    refused = await api.delete("/v1/systembackups/weekly")
    await services.store.update_status(stored.with_status(phase=SystemRestorePhase.COMPLETED))
    accepted = await api.delete("/v1/systembackups/weekly")

    assert (refused.status_code, "restore back is reading" in refused.json()["detail"]) == (409, True)
    assert accepted.status_code == 202


async def test_what_is_wrong_with_the_target_is_told_in_the_field_of_what_was_asked_for(api, services, archives):
    one = await services.store.create(a_target("one"))
    await services.store.create(a_target("two"))
    system = {"volumeBackupPolicy": "always"}
    schedule = await api.post("/v1/schedules", json=asking("s", schedule="@daily", systemBackup=system))
    backup = await api.post("/v1/systembackups", json=asking("s"))
    await services.store.update(one.with_spec(credential_secret="lost"))
    unread = await api.post("/v1/systembackups", json=asking("s", target="one"))
    url = "file:///somewhere/backupstore/system-backups/v1/weekly"
    restore = await api.post("/v1/systemrestores", json=asking("r", systemBackup=url))

    told = [(answer.status_code, answer.json()["field"]) for answer in (schedule, backup, unread, restore)]
    assert told == [
        (422, "spec.systemBackup.target"),
        (422, "spec.target"),
        (422, "spec.target"),
        (422, "spec.systemBackup"),
    ]
    assert unread.json()["detail"] == restore.json()["detail"] == "target one: there is no secret lost"


async def test_an_archive_that_was_sealed_needs_its_key_and_says_which_one(api, target, archives):
    key, other = EncryptionKey(bytes(32)), EncryptionKey(bytes([1]) * 32)
    archives.key = key
    write(archives, "weekly", a_volume("shop", "db"))
    answers = []
    for given in (None, other, key):
        archives.key = given
        asked = asking("back", systemBackup="weekly")
        answers.append(await api.post("/v1/systemrestores", json=asked, params={"dryRun": "true"}))

    without, wrong, right = answers
    assert (without.status_code, wrong.status_code, right.status_code) == (403, 403, 200)
    sentence = f"system backup weekly is encrypted with key {key.id}, and"
    assert without.json()["detail"] == f"{sentence} no key was given"
    assert wrong.json()["detail"] == f"{sentence} the key given is {other.id}"


async def test_metrics_tell_of_system_backups_and_restores(api, services, target):
    for name, phase, schedule in (("a", "Ready", "nightly"), ("b", "Error", "nightly"), ("c", "Ready", "")):
        system = a_system_backup(name, phase=SystemBackupPhase(phase), created_at=THEN, completion_timestamp=THEN)
        labels = {SCHEDULE_LABEL: schedule} if schedule else {}
        await put(services.store, system.with_metadata(labels=labels))
    lines = (await api.get("/metrics")).text.splitlines()

    newest = {line.partition(" ")[0]: float(line.partition(" ")[2]) for line in lines if not line.startswith("#")}
    family = "tidegate_system_backup_last"
    assert newest['tidegate_system_backups{phase="Ready"}'] == 2
    assert newest['tidegate_system_backups{phase="Uploading"}'] == 0
    assert newest['tidegate_system_restores{phase="PartiallyFailed"}'] == 0
    assert newest[f'{family}_success_timestamp_seconds{{schedule="nightly"}}'] == THEN.timestamp()
    assert newest[f'{family}_failure_timestamp_seconds{{schedule="nightly"}}'] == THEN.timestamp()
    assert f'{family}_failure_timestamp_seconds{{schedule=""}}' not in newest

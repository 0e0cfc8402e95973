"""Asking for restores: what is checked, what a plan tells, and calling one off."""

import pytest

from tidegate.catalogue.changes import VolumeChange, found_in_cfg
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.resource import Condition, Metadata
from tidegate.model.restores.restore import FoundSource, Restore, RestorePhase
from tidegate.model.restores.restore_plan import Place, PlaceState, StoredBackup
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.stores.catalogue import BackupState, StoredBackupRecord
from tidegate.model.transfers.transfer import ALL_REMOVED, BACKUP_LABEL, DATA_REMOVED, DataUpload, TransferPhase
from tidegate.testing.resources.builders import THEN, a_backup, a_restore, a_target, a_transfer, a_volume, emptied
from tidegate.testing.resources.put import put

URL = "file:///somewhere?backup=backup-1&volume=pvc-1"


def restore(name="r", **spec):
    return {"metadata": {"name": name}, "spec": spec or {"backupName": "done"}}


@pytest.fixture
async def stored(services):
    """A finished backup of shop/db and blog/posts in the target `store`."""
    await services.store.create(a_target("store"))
    backup = a_backup("done", phase=BackupPhase.COMPLETED).with_metadata(labels={"tidegate.dev/schedule": "nightly"})
    uid = (await put(services.store, backup)).metadata.uid
    for namespace, name in (("shop", "db"), ("blog", "posts")):
        upload = a_transfer(f"u-{name}", TransferPhase.COMPLETED, kind=DataUpload, volume=(namespace, name))
        spec = upload.spec.replace(path=f"/data/{name}", store_backup=f"backup-{name}")
        await put(services.store, upload.replace(spec=spec).with_metadata(labels={BACKUP_LABEL: uid}))
    return services


@pytest.fixture
def taken(stored, volume_probe):
    """Puts something to where shop/db belongs."""

    def put(place):
        volume_probe.places["/data/db"] = place
        if place.used_by:
            volume_probe.users["/data/db"] = place.used_by

    return put


async def plan(api, **spec):
    answer = await api.post("/v1/restore-plans", json=restore(**spec))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_restore_from_a_schedule_notes_which_backup_it_reads(api, stored):
    made = await api.post("/v1/restores", json=restore(scheduleName="nightly"))

    assert made.status_code == 201
    assert made.json()["status"]["backupName"] == "done"
    refused = await api.delete("/v1/backups/done")
    assert refused.json()["detail"] == "restore r is reading backup done"


async def test_a_restore_from_a_url_notes_what_the_store_says_of_it(api, stored, store_probe):
    store_probe.backups["pvc-1", "backup-1"] = StoredBackup(size=7)

    made = await api.post("/v1/restores", json=restore(backupUrl=URL, destination="/back"))

    source = made.json()["status"]["source"]
    assert (source["target"], source["volumeName"], source["volumeKind"]) == ("store", "pvc-1", "image")


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"backupName": "done"}, None),
        ({"scheduleName": "nightly"}, FoundSource(backup_name="done")),
        ({"backupUrl": URL, "destination": "/back"}, ("store", "pvc-1")),
    ],
)
async def test_what_is_found_is_kept_in_the_spec_and_none_is_taken_from_a_client(api, stored, store_probe, spec, found):
    store_probe.backups["pvc-1", "backup-1"] = StoredBackup(size=7)

    await api.post("/v1/restores", json=restore(**spec, found={"backupName": "forged"}))

    kept = (await stored.store.get(Restore, "r")).spec.found
    if kept is not None and kept.volume_backup is not None:
        kept = (kept.volume_backup.target, kept.volume_backup.store_volume)
    assert kept == found


async def test_a_backup_that_holds_nothing_cannot_be_restored(api, services):
    await put(services.store, emptied(a_backup("none", phase=BackupPhase.PARTIALLY_FAILED)))

    for way in ("restores", "restore-plans"):
        refused = await api.post(f"/v1/{way}", json=restore(backupName="none"))
        assert (refused.status_code, refused.json()["code"]) == (409, "Refused")
        assert "backup none holds nothing" in refused.json()["detail"]


REFUSED = [
    ({"backupUrl": URL, "destination": "/back"}, 404, "cannot find backup backup-1"),
    ({"backupUrl": URL.replace("somewhere", "elsewhere")}, 404, "no backup target has the URL file:///elsewhere"),
    ({"backupUrl": "file:///somewhere?volume=pvc-1"}, 422, "add backup=NAME"),
    ({"backupUrl": "nonsense"}, 422, "is not a backup URL"),
    ({"scheduleName": "weekly"}, 404, "weekly"),
    ({"backupName": "done", "includedVolumes": ["shop/dbb"]}, 422, "the backup holds nothing of volume shop/dbb"),
    ({"backupName": "done", "namespaceMapping": {"shop": "copy"}}, 409, "there is no volume copy/db"),
    ({"backupName": "done", "includedPaths": ["../etc"]}, 422, "matches no path"),
    ({"backupName": "done", "scheduleName": "nightly"}, 422, "exactly one of"),
]


@pytest.mark.parametrize(("spec", "status", "sentence"), REFUSED)
async def test_what_cannot_be_restored_is_refused_at_once_and_nothing_is_stored(api, stored, spec, status, sentence):
    made = await api.post("/v1/restores", json=restore(**spec))

    assert (made.status_code, sentence in made.json()["detail"]) == (status, True), made.text
    assert (await stored.store.list(Restore)).items == ()


async def test_a_url_in_a_store_that_is_away_is_not_taken_for_one_that_is_empty(api, stored, store_probe):
    store_probe.down = True

    made = await api.post("/v1/restores", json=restore(backupUrl=URL, destination="/back"))

    assert made.status_code == 503


async def test_a_plan_tells_each_volume_and_what_is_in_its_way(api, stored, volume_probe):
    volume_probe.places["/data/db"] = Place(state=PlaceState.FILE, detail="a file of 9 bytes")

    told = await plan(api, backupName="done")

    assert [volume["volume"] for volume in told["volumes"]] == ["blog/posts", "shop/db"]
    assert [(one["volume"], "a file of 9 bytes" in one["message"]) for one in told["conflicts"]] == [("shop/db", True)]
    assert told["backupName"] == "done"
    assert (await stored.store.list(Restore)).items == ()


async def test_a_plan_tells_who_uses_what_would_be_replaced(api, stored, volume_probe):
    volume_probe.places["/data/db"] = Place(state=PlaceState.FILE, detail="a file of 9 bytes")
    volume_probe.users["/data/db"] = "qemu (process 7)"

    told = await plan(api, backupName="done", existingData="overwrite")

    assert [(one["volume"], "in use by qemu" in one["message"]) for one in told["conflicts"]] == [("shop/db", True)]
    assert (await plan(api, backupName="done", existingData="overwrite", force=True))["conflicts"] == []


async def test_a_plan_of_a_backup_that_lost_data_says_which_and_that_it_would_not_come_back(api, stored):
    upload = await stored.store.get(DataUpload, "u-db")
    removed = Condition(type=DATA_REMOVED, status="True", reason=ALL_REMOVED)
    await stored.store.update_status(upload.replace(status=upload.status.with_condition(removed)))

    told = await plan(api, backupName="done")

    (conflict,) = told["conflicts"]
    assert conflict["volume"] == "shop/db"
    assert "deleted from the store since" in conflict["message"]
    assert (await plan(api, backupName="done", includedNamespaces=["blog"]))["conflicts"] == []
    refused = await api.post("/v1/restores", json=restore(backupName="done"))
    assert (refused.status_code, "deleted from the store since" in refused.json()["detail"]) == (409, True)
    rest = restore(backupName="done", includedNamespaces=["blog"])
    assert (await api.post("/v1/restores", json=rest)).status_code == 201


async def test_a_volume_backup_that_the_last_sync_could_not_read_is_a_conflict(api, stored, tmp_path):
    """Its record here says Completed; the restore would fail on the first look into the store."""
    stored.catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")
    torn = StoredBackupRecord(name="backup-db", state=BackupState.ERROR, messages={"error": "its cfg is torn"})
    found = [found_in_cfg(torn, 1, THEN), found_in_cfg(StoredBackupRecord(name="backup-posts"), 2, THEN)]
    await stored.catalogue.apply(VolumeChange(target="store", volume="ns.volume", backups=found))

    (conflict,) = (await plan(api, backupName="done"))["conflicts"]
    refused = await api.post("/v1/restores", json=restore(backupName="done"))
    rest = await api.post("/v1/restores", json=restore(backupName="done", includedNamespaces=["blog"]))
    stored.catalogue.close()

    told = "its volume backup could not be read when target store was last synced: its cfg is torn"
    assert (conflict["volume"], conflict["message"]) == ("shop/db", told)
    assert (refused.status_code, told in refused.json()["detail"], rest.status_code) == (409, True, 201)


FULL = Place(state=PlaceState.FILE, detail="a file of 9 bytes")
OVERWRITE, FORCE = {"existingData": "overwrite"}, {"force": True}
IN_THE_WAY = [
    (FULL, {}, "/data/db holds something (a file of 9 bytes)"),
    (FULL.replace(used_by="qemu (process 7)"), OVERWRITE, "in use by qemu"),
    (FULL.replace(mounted=True), OVERWRITE, "is mounted or held"),
    (Place(in_the_way="/data belongs to the kernel and holds no files"), OVERWRITE | FORCE, "cannot be made"),
    (Place(state=PlaceState.UNREADABLE, detail="Permission denied"), {}, "cannot be looked at"),
    (Place(state=PlaceState.DIRECTORY), OVERWRITE, "exists and is not a regular file"),
]


@pytest.mark.parametrize(("place", "spec", "sentence"), IN_THE_WAY)
async def test_a_restore_is_refused_for_what_its_plan_calls_a_conflict(api, taken, place, spec, sentence):
    taken(place)

    for way in ("restores", "restores?dryRun=true"):
        refused = await api.post(f"/v1/{way}", json=restore(backupName="done", **spec))

        assert (refused.status_code, refused.json()["code"]) == (409, "Refused")
        assert refused.json()["detail"].startswith("1 of 2 volumes would not come back: shop/db: /data/db")
        assert sentence in refused.json()["detail"]
        assert "tidegate restore plan" in refused.json()["hint"]
    assert (await api.get("/v1/restores")).json()["data"] == []
    (conflict,) = (await plan(api, backupName="done", **spec))["conflicts"]
    assert sentence in conflict["message"]


@pytest.mark.parametrize("destination", ["/mnt/usb", "/mnt/usb/deep/below"])
async def test_no_restore_goes_into_the_store_of_any_target(api, stored, destination):
    await stored.store.create(a_target("usb", url="file:///mnt/usb"))

    (one, other) = (await plan(api, backupName="done", destination=destination))["conflicts"]
    refused = await api.post("/v1/restores", json=restore(backupName="done", destination=destination))

    told = "cannot be made: it is, holds or lies in /mnt/usb, the store of target usb"
    assert (told in one["message"], told in other["message"]) == (True, True)
    assert (refused.status_code, told in refused.json()["detail"]) == (409, True)
    assert (await api.post("/v1/restores", json=restore(backupName="done", destination="/mnt/usb2"))).status_code == 201


async def test_a_volume_that_holds_a_store_is_not_restored_over_it(api, stored):
    await stored.store.create(a_target("usb", url="file:///data/db/backups"))

    (conflict,) = (await plan(api, backupName="done", **OVERWRITE))["conflicts"]

    assert conflict["message"].endswith("it is, holds or lies in /data/db/backups, the store of target usb")


COVERED = [
    (FULL, OVERWRITE),
    (FULL.replace(used_by="qemu (process 7)"), OVERWRITE | FORCE),
    (FULL.replace(mounted=True), OVERWRITE | FORCE),
    (FULL, {"includedNamespaces": ["blog"]}),
    (FULL, {"destination": "/elsewhere"}),
]


@pytest.mark.parametrize(("place", "spec"), COVERED)
async def test_a_restore_whose_policy_or_choice_covers_the_conflict_is_taken(api, taken, place, spec):
    taken(place)

    made = await api.post("/v1/restores", json=restore(backupName="done", **spec))

    assert made.status_code == 201, made.text


async def test_of_many_conflicts_the_first_are_named_and_the_others_counted(api, stored, volume_probe):
    for number in range(5):
        upload = await stored.store.get(DataUpload, "u-db")
        spec = upload.spec.replace(volume_name=f"v{number}", path=f"/data/v{number}", store_backup=f"backup-{number}")
        metadata = Metadata(name=f"u-{number}", labels=upload.metadata.labels)
        await put(stored.store, upload.replace(metadata=metadata, spec=spec))
        volume_probe.places[f"/data/v{number}"] = FULL

    refused = await api.post("/v1/restores", json=restore(backupName="done"))

    assert refused.json()["detail"].startswith("5 of 7 volumes would not come back: shop/v0: ")
    assert refused.json()["detail"].endswith("; and 2 more")


async def test_a_plan_tells_what_it_would_wait_for(api, stored):
    await put(stored.store, a_backup("running", "shop", phase=BackupPhase.IN_PROGRESS))
    await put(stored.store, a_restore("earlier", "shop"))

    told = await plan(api, backupName="done")

    assert told["waits"] == [
        {"reason": "NamespaceOverlapRunning", "message": "backup running is running and shares namespace shop"}
    ]
    assert (told["queuePosition"], told["conflicts"]) == (2, [])
    assert (await plan(api, backupName="done", destination="/elsewhere"))["waits"] == []


async def test_a_plan_leaves_the_table_that_the_queues_decide_by_as_it_was(api, stored):
    """A restore that was only planned kept its namespaces from every backup, until the server was started anew."""
    await put(stored.store, a_restore("earlier", "blog"))

    assert (await plan(api, backupName="done"))["queuePosition"] == 1

    assert [claim.name for claim in stored.state.restores.claims(by_volume=False)] == ["earlier"]


async def test_a_plan_says_when_restores_are_paused(api, stored):
    limit = Setting(metadata=Metadata(name="concurrent-backup-restore-limit"), spec=SettingSpec(value="0"))
    await stored.store.create(limit)

    assert [wait["reason"] for wait in (await plan(api, backupName="done"))["waits"]] == ["RestoresDisabled"]


async def test_a_plan_shows_a_volume_that_has_no_place_instead_of_refusing(api, stored):
    await stored.store.create(a_volume("shop", "db", "/now"))

    told = await plan(api, backupName="done", namespaceMapping={"blog": "copy"})

    assert [conflict["volume"] for conflict in told["conflicts"]] == ["blog/posts", "shop/db"]


async def test_waiting_restores_have_a_position_and_others_have_none(api, services):
    await put(services.store, a_restore("r1", "a"))
    await put(services.store, a_restore("r2", "a"))
    await put(services.store, a_restore("r3", "a", phase=RestorePhase.IN_PROGRESS))

    listed = (await api.get("/v1/restores")).json()["data"]

    assert [one["status"].get("queuePosition") for one in listed] == [1, 2, None]


async def test_a_restore_is_called_off_once_and_not_after_its_end(api, services):
    await put(services.store, a_restore("r", "a"))
    await put(services.store, a_restore("over", "a", phase=RestorePhase.COMPLETED))

    first, second = [await api.post("/v1/restores/r/cancel") for _ in range(2)]
    over = await api.post("/v1/restores/over/cancel")

    assert (first.status_code, second.status_code) == (202, 202)
    assert (await services.store.get(Restore, "r")).spec.cancel
    assert (over.status_code, over.json()["detail"]) == (
        409,
        "restore over is Completed; there is nothing to cancel",
    )


async def test_the_queue_of_backups_tells_of_restores_in_the_way(api, services):
    await put(services.store, a_restore("r", "shop", phase=RestorePhase.IN_PROGRESS))
    await put(services.store, a_backup("b", "shop", phase=BackupPhase.QUEUED, ticket=1))

    (row,) = (await api.get("/v1/queue")).json()["waiting"]
    explained = (await api.get("/v1/queue/b")).json()

    assert (row["reason"], row["blockedBy"], row.get("expectedStart")) == (
        "NamespaceOverlapRunning",
        "restore r",
        None,
    )
    assert [one["name"] for one in explained["endsFirst"]] == ["restore r"]

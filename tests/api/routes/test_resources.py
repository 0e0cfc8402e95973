"""The routes that every kind has."""

import pytest

from tidegate.decide.access.forwarded import parse_networks
from tidegate.model.backups.backup import Backup, BackupPhase, BackupProgress
from tidegate.model.backups.item_block import BlockProgress
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import Restore, RestoreSpec
from tidegate.model.setting import KNOWN_SETTINGS
from tidegate.model.stores.deletion import Deletion, DeletionSpec
from tidegate.model.stores.target import BackupTarget, BackupTargetSpec
from tidegate.model.system.system import SystemBackup
from tidegate.model.transfers.transfer import BACKUP_LABEL, TransferPhase
from tidegate.model.transfers.transfer_progress import TransferProgress
from tidegate.testing.resources.builders import a_backup, a_transfer, a_volume
from tidegate.testing.resources.put import put


def volume(name, namespace="shop", **spec):
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec or {"directory": f"/data/{name}"}}


def target(name="store", url="file:///backups", **spec):
    return {"metadata": {"name": name}, "spec": {"url": url, **spec}}


def backup(name, *namespaces, **spec):
    return {"metadata": {"name": name}, "spec": {"includedNamespaces": list(namespaces), **spec}}


async def test_a_volume_is_created_and_brings_its_namespace_along(api):
    created = await api.post("/v1/volumes", json=volume("db"))

    assert created.status_code == 201
    assert created.json()["metadata"]["uid"]
    read = (await api.get("/v1/volumes/shop/db")).json()
    assert read.pop("status")["protection"]["state"] == "Never"
    assert read == {key: value for key, value in created.json().items() if key != "status"}
    assert (await api.get("/v1/namespaces/shop")).status_code == 200


async def test_a_running_backup_tells_its_bytes_as_they_are_now_and_the_rest_of_the_whole(api, services):
    known = BlockProgress(volumes=("shop/db", "shop/files"), expected_sizes={"shop/db": 100, "shop/files": 900})
    running = a_backup("nightly", phase=BackupPhase.IN_PROGRESS)
    status = running.with_status(progress=BackupProgress(total_items=2), blocks=(known,))
    stored = await put(services.store, status)
    moving = a_transfer("up", TransferPhase.IN_PROGRESS, volume=("shop", "db")).with_status(
        progress=TransferProgress(bytes_done=50, total_bytes=100, bytes_per_second=10.0)
    )
    await put(services.store, moving.with_metadata(labels={BACKUP_LABEL: stored.metadata.uid}))

    told = {"done": 50, "total": 1000, "volumesNotMeasured": 0, "percent": 5, "bytesPerSecond": 10.0, "secondsLeft": 95}
    assert (await api.get("/v1/backups/nightly")).json()["status"]["bytes"] == told
    assert (await api.get("/v1/backups")).json()["data"][0]["status"]["bytes"] == told


async def test_a_list_comes_in_pages_that_go_on_where_the_last_one_ended(api):
    for name in ("a", "b", "c"):
        await api.post("/v1/volumes", json=volume(name))
    first = (await api.get("/v1/volumes?limit=2")).json()
    second = (await api.get("/v1/volumes", params={"limit": 2, "marker": first["pagination"]["next"]})).json()

    assert first["type"] == "collection"
    assert [r["metadata"]["name"] for r in first["data"] + second["data"]] == ["a", "b", "c"]
    assert second["pagination"]["next"] is None


@pytest.mark.parametrize("kind", ["volumes", "backuptargets", "systembackups", "deletions"])
async def test_each_page_leads_on_to_the_next_by_the_address_that_the_client_came_by(api, services, kind):
    made = {
        "volumes": lambda name: a_volume("shop", name),
        "backuptargets": lambda name: BackupTarget(
            metadata=Metadata(name=name), spec=BackupTargetSpec(url="file:///b")
        ),
        "systembackups": lambda name: SystemBackup(metadata=Metadata(name=name)),
        "deletions": lambda name: Deletion(
            metadata=Metadata(name=name), spec=DeletionSpec(target="t", url="file:///b", volume="v")
        ),
    }[kind]
    for name in ("a", "b", "c"):
        await services.store.create(made(name))
    services.trusted_proxies = parse_networks("127.0.0.1")
    way, names = f"https://a.example/v1/{kind}?limit=2&labelSelector=!x", []
    while way:
        assert way.startswith(f"https://a.example/v1/{kind}?")
        came_by = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "a.example"}
        page = (await api.get(way.removeprefix("https://a.example"), headers=came_by)).json()
        assert page["links"]["self"] == way
        names.append([one["metadata"]["name"] for one in page["data"]])
        way = page["links"].get("next")

    assert names == [["a", "b"], ["c"]]


async def test_a_list_is_filtered_by_labels_and_namespace(api):
    labelled = volume("a")
    labelled["metadata"]["labels"] = {"app": "x"}
    await api.post("/v1/volumes", json=labelled)
    await api.post("/v1/volumes", json=volume("b", "other"))

    by_label = (await api.get("/v1/volumes", params={"labelSelector": "app in (x,y)"})).json()["data"]
    by_namespace = (await api.get("/v1/volumes?namespace=other")).json()["data"]

    assert [[r["metadata"]["name"] for r in rows] for rows in (by_label, by_namespace)] == [["a"], ["b"]]


async def test_a_submitted_backup_is_told_its_place_in_the_queue(api, services):
    await api.post("/v1/backuptargets", json=target())
    await api.post("/v1/volumes", json=volume("db"))
    await put(services.store, a_backup("running", "shop", phase=BackupPhase.IN_PROGRESS))
    await put(services.store, a_backup("queued", "shop", phase=BackupPhase.QUEUED, ticket=1))

    created = (await api.post("/v1/backups", json=backup("mine", "shop"))).json()

    assert created["status"]["queuePosition"] == 2
    assert created["status"]["conditions"][0]["reason"] == "NamespaceOverlapRunning"
    assert created["spec"]["storageLocation"] == "store"


async def test_positions_are_derived_when_read(api, services):
    for ticket, name in enumerate(["zebra", "ant"], start=1):
        await put(services.store, a_backup(name, "shop", phase=BackupPhase.QUEUED, ticket=ticket))

    shown = {r["metadata"]["name"]: r["status"]["queuePosition"] for r in (await api.get("/v1/backups")).json()["data"]}

    assert shown == {"zebra": 1, "ant": 2}
    assert (await services.store.get(Backup, "ant")).status.queue_position is None


async def test_a_dry_run_shows_what_would_be_and_changes_nothing(api):
    await api.post("/v1/backuptargets", json=target())
    await api.post("/v1/volumes", json=volume("db"))

    shown = await api.post("/v1/backups?dryRun=true", json=backup("maybe"))

    assert (shown.status_code, shown.json()["spec"]["storageLocation"]) == (200, "store")
    assert (await api.get("/v1/backups")).json()["data"] == []


async def test_a_name_that_is_taken_is_a_conflict(api):
    await api.post("/v1/volumes", json=volume("db"))

    again = await api.post("/v1/volumes", json=volume("db"))

    assert (again.status_code, again.json()["code"]) == (409, "AlreadyExists")


async def test_a_mistyped_namespace_is_refused_with_the_one_that_may_have_been_meant(api):
    await api.post("/v1/backuptargets", json=target())
    await api.post("/v1/volumes", json=volume("db"))

    refused = await api.post("/v1/backups", json=backup("x", "shpo"))

    assert (refused.status_code, refused.json()["field"]) == (422, "spec.includedNamespaces[0]")
    assert "did you mean shop?" in refused.json()["detail"]
    assert "--allow-empty" in refused.json()["hint"]
    assert (await api.get("/v1/backups")).json()["data"] == []


async def test_a_backup_that_may_be_empty_is_taken_and_tells_what_is_not_there(api):
    await api.post("/v1/backuptargets", json=target())

    taken = await api.post("/v1/backups", json=backup("x", "shpo", allowEmpty=True))

    assert (taken.status_code, taken.json()["status"]["unmatched"]) == (201, ["no volume is in namespace shpo"])


async def test_a_name_in_vain_beside_a_good_one_is_told_at_once(api):
    await api.post("/v1/backuptargets", json=target())
    await api.post("/v1/volumes", json=volume("db"))
    await api.post("/v1/volumes", json=volume("posts", "blog"))

    taken = await api.post("/v1/backups", json=backup("x", "shop", "blgo"))

    told = ["no volume is in namespace blgo (did you mean blog?)"]
    assert (taken.status_code, taken.json()["status"]["unmatched"]) == (201, told)
    stored = await api.get("/v1/backups/x")
    assert stored.json()["metadata"]["annotations"]["tidegate.dev/unmatched"] == told[0]


async def test_what_a_client_says_about_the_status_is_not_taken_over(api):
    await api.post("/v1/backuptargets", json=target())
    await api.post("/v1/volumes", json=volume("db"))
    body = backup("sly")
    body["status"] = {"phase": "Completed"}
    body["metadata"]["finalizers"] = []

    created = (await api.post("/v1/backups", json=body)).json()

    assert created["status"]["phase"] == "New"
    assert created["metadata"]["finalizers"] == ["tidegate.dev/backup"]


async def test_deleting_a_backup_is_answered_while_it_is_cleaned_up(api):
    await api.post("/v1/backuptargets", json=target())
    await api.post("/v1/volumes", json=volume("db"))
    await api.post("/v1/backups", json=backup("old"))

    gone = await api.delete("/v1/backups/old")

    assert gone.status_code == 202
    assert gone.json()["metadata"]["deletionTimestamp"]


async def test_deleting_a_volume_makes_it_vanish_at_once(api):
    await api.post("/v1/volumes", json=volume("db"))

    assert (await api.delete("/v1/volumes/shop/db")).status_code == 204
    assert (await api.get("/v1/volumes/shop/db")).status_code == 404


async def test_replacing_a_target_changes_its_spec_and_refuses_an_old_version(api):
    created = (await api.post("/v1/backuptargets", json=target())).json()
    changed = await api.put("/v1/backuptargets/store", json=target(default=True))

    stale = await api.put("/v1/backuptargets/store", json={**target(), "metadata": created["metadata"]})

    assert changed.json()["spec"]["default"] is True
    assert (stale.status_code, stale.json()["code"]) == (409, "StaleVersion")


async def test_transfers_can_be_read_but_not_made(api, services):
    await services.store.create(a_transfer("t"))

    assert (await api.get("/v1/datauploads/t")).status_code == 200
    assert (await api.post("/v1/datauploads", json={})).status_code == 405


IN_THE_WAY = [
    ("/v1/backups/done", "restore r is reading backup done"),
    ("/v1/backuptargets/store", "target store holds 1 backup(s), such as done"),
    ("/v1/namespaces/shop", "namespace shop still has 1 volume(s), such as db"),
    ("/v1/volumes/shop/db", "volume shop/db is in use by DataUpload t"),
]


@pytest.mark.parametrize(("path", "why"), IN_THE_WAY)
async def test_what_is_needed_cannot_be_deleted(api, services, path, why):
    await api.post("/v1/backuptargets", json=target())
    await api.post("/v1/volumes", json=volume("db"))
    await services.store.create(a_transfer("t", volume=("shop", "db")))
    await put(services.store, a_backup("done", phase=BackupPhase.COMPLETED))
    await services.store.create(Restore(metadata=Metadata(name="r"), spec=RestoreSpec(backup_name="done")))

    refused = await api.delete(path)

    assert (refused.status_code, refused.json()["code"], refused.json()["detail"]) == (409, "Refused", why)


async def test_settings_show_their_defaults_and_can_be_set_and_unset(api):
    before = (await api.get("/v1/settings/concurrent-backups")).json()["spec"]["value"]
    body = {"metadata": {"name": "concurrent-backups"}, "spec": {"value": "4"}}
    await api.put("/v1/settings/concurrent-backups", json=body)
    after = (await api.get("/v1/settings/concurrent-backups")).json()["spec"]["value"]
    await api.delete("/v1/settings/concurrent-backups")
    unset = (await api.get("/v1/settings/concurrent-backups")).json()["spec"]["value"]

    assert (before, after, unset) == ("1", "4", "1")
    assert len((await api.get("/v1/settings")).json()["data"]) == len(KNOWN_SETTINGS)

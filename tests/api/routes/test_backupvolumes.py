"""`/v1/backupvolumes` as the design writes it, and what must never be mistaken for a wish to delete a volume."""

import pytest

from api.catalogue_world import fill, furnish  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.model.stores.catalogue_listing import ListedBackup, ListedVolume


@pytest.fixture
async def catalogue(services, tmp_path):
    catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")
    await furnish(services, catalogue)
    yield catalogue
    catalogue.close()


async def ids(api):
    return [volume["id"] for volume in (await api.get("/v1/backupvolumes")).json()["data"]]


async def names(api, volume, **more):
    query = {"action": "backupList", **more}
    return [backup["name"] for backup in (await api.get(f"/v1/backupvolumes/{volume}", params=query)).json()["data"]]


async def test_all_volumes_of_all_targets_are_listed_by_ids_of_their_own(api, catalogue):
    whole = (await api.get("/v1/backupvolumes")).json()

    assert (whole["type"], whole["resourceType"]) == ("collection", "backupVolume")
    assert sorted(await ids(api)) == ["db@far", "db@near", "web@far"]
    assert [ListedVolume.model_validate(one).backup_count for one in whole["data"]].count(3) == 1


async def test_a_list_with_a_limit_comes_in_pages_that_lead_on(api, catalogue):
    first = (await api.get("/v1/backupvolumes", params={"limit": 2})).json()
    second = (await api.get(first["links"]["next"])).json()

    assert [len(first["data"]), len(second["data"])] == [2, 1]
    assert second["pagination"] == {"limit": 2, "next": None}


async def test_these_lists_take_the_filters_of_the_catalogue_and_refuse_what_is_none(api, catalogue):
    async def found(where, **query):
        return [one["name"] for one in (await api.get(f"/v1/{where}", params=query)).json()["data"]]

    assert await found("backupvolumes", target="far", search="WE") == ["web"]
    assert await found("backupvolumes", namespace="nowhere") == []
    assert await found("backupvolumes", _format="json") == await found("backupvolumes")
    whole = await found("backupvolumes/web", action="backupList")
    assert whole
    assert await found("backupvolumes/web", action="backupList", state="Completed", volume="db") == whole
    assert await found("backupvolumes/web", action="backupList", until="2000-01-01") == []
    assert (await api.post("/v1/backupvolumes/web?action=backupList&label=no=no")).json()["data"] == []

    for where in ("backupvolumes?namespaces=shop", "backupvolumes/web?Action=backupList", "backupvolumes?state=Good"):
        assert (await api.get(f"/v1/{where}")).status_code == 422, where


async def test_a_volume_tells_when_it_was_synced_by_the_name_that_the_design_gives_it(api, catalogue):
    shown = (await api.get("/v1/backupvolumes/web@far")).json()

    assert shown["lastSyncedTime"]
    assert shown["lastSyncedTime"] == shown["lastSyncedAt"]


async def test_a_volume_is_found_by_its_id_and_by_its_name_while_only_one_target_has_it(api, catalogue):
    assert (await api.get("/v1/backupvolumes/web@far")).json()["volumeName"] == "web"
    assert (await api.get("/v1/backupvolumes/web")).json()["id"] == "web@far"

    several = await api.get("/v1/backupvolumes/db")
    assert several.status_code == 409
    assert "db@" in several.json()["hint"]


async def test_what_is_not_a_volume_is_not_found_and_nothing_is_deleted(api, catalogue, services):
    for name in ("nothing", "web@near", "web@nowhere", "*", "w*", "@far", "%2E%2E", "web@far@far", "x" * 10_000):
        for method in ("GET", "DELETE"):
            assert (await api.request(method, f"/v1/backupvolumes/{name}")).status_code == 404, (method, name[:40])
    assert await services.deletions.list() == []


async def test_the_backups_of_a_volume_are_read_with_get_or_post_and_are_whole_objects(api, catalogue):
    by_post = (await api.post("/v1/backupvolumes/db@near?action=backupList")).json()

    assert await names(api, "db@near") == ["b-3", "b-2", "b-1"]
    found = ListedBackup.model_validate(by_post["data"][0])
    assert (found.state, found.progress, found.block_size) == ("Completed", 100, "2097152")
    assert (found.namespace, found.claim, found.workload, found.pod) == ("shop", "db", "web", "web-0")
    assert found.url == "file:///near?backup=b-3&volume=db"


@pytest.mark.parametrize(
    ("query", "body"),
    [("action=backupGet&name=w-1", b""), ("action=backupGet", b'{"Name": "w-1"}')],
    ids=["in the query", "in the body, in another case"],
)
async def test_one_backup_is_read_by_its_name(api, catalogue, query, body):
    found = (await api.request("GET", f"/v1/backupvolumes/web?{query}", content=body)).json()

    assert (found["type"], found["name"], found["backupTargetName"]) == ("backup", "w-1", "far")


async def test_a_deleted_backup_is_gone_from_the_list_at_once_and_the_volume_stays(api, catalogue, services):
    answer = await api.delete("/v1/backupvolumes/web", params={"action": "backupDelete", "name": "w-1"})

    assert (answer.status_code, answer.json()["type"]) == (200, "backupVolume")
    assert await names(api, "web") == ["w-2"]
    (deletion,) = await services.deletions.list()
    assert (deletion.name, deletion.spec.backups) == (answer.json()["deletion"], ("w-1",))


async def test_a_deleted_volume_is_gone_from_every_list_at_once(api, catalogue, services):
    answer = await api.delete("/v1/backupvolumes/db@near")

    assert (answer.status_code, answer.json()["kind"]) == (202, "Deletion")
    assert sorted(await ids(api)) == ["db@far", "web@far"]
    assert (await api.get("/v1/catalogue/backups", params={"namespace": "shop"})).json()["data"] == []


UNCLEAR = [
    ("DELETE", "action=backupDelete", b""),
    ("DELETE", "action=backupDelete&action=backupDelete&name=w-1", b""),
    ("DELETE", "action=", b""),
    ("DELETE", "action=backupDeletee&name=w-1", b""),
    ("DELETE", "Action=backupDelete&name=w-1", b""),
    ("DELETE", "acton=backupDelete", b""),
    ("DELETE", "name=w-1", b""),
    ("DELETE", "", b'{"name": "w-1"}'),
    ("DELETE", "", b"[]"),
    ("DELETE", "action=backupList", b""),
    ("GET", "action=backupDelete&name=w-1", b""),
    ("GET", "action=everything", b""),
    ("GET", "action=", b""),
    ("GET", "action=backupGet", b""),
    ("POST", "", b"{}"),
    ("POST", "action=explode", b"{}"),
    ("POST", "action=backupDelete", b"{}"),
    ("POST", "action=backupDelete", b'{"names": []}'),
    ("POST", "action=backupDelete", b'{"name": 7}'),
    ("POST", "action=backupGet", b"{"),
    ("POST", "action=backupGet", b"[" * 100_000),
    ("POST", "action=backupListByVolume", b'{"name": "*"}'),
    ("POST", "action=backupGet", b'{"name": "\\ud800"}'),
]


async def test_what_is_not_clearly_asked_for_is_refused_with_a_sentence(api, catalogue, services):
    for method, query, body in UNCLEAR:
        answer = await api.request(method, f"/v1/backupvolumes/web?{query}", content=body)

        assert (answer.status_code, answer.json()["code"]) == (422, "InvalidInput"), (method, query, body[:40])
        assert answer.json()["message"].startswith(answer.json()["detail"])
    assert await services.deletions.list() == []


async def test_many_backups_are_deleted_by_one_request(api, catalogue, services):
    await api.post("/v1/backupvolumes/db@near?action=backupDelete", json={"names": ["b-1", "b-3", "b-1"]})

    assert await names(api, "db@near") == ["b-2"]
    assert [one.spec.backups for one in await services.deletions.list()] == [("b-1", "b-3")]


async def test_a_list_longer_than_one_look_is_sent_whole(api, catalogue):
    await fill(catalogue, "near", "many", *(f"n-{number:04}" for number in range(1201)))

    found = await names(api, "many")

    assert found == [f"n-{number:04}" for number in range(1200, -1, -1)]
    assert await names(api, "many", limit=2) == ["n-1200", "n-1199"]


async def test_nobody_gets_in_without_the_token(api, catalogue):
    for path in ("", "/backupvolumes", "/schemas", "/catalogue/status", "/backuptargets", "/backupvolumes/web"):
        for login in ("Basic Og==", "Basic secret", "Basic c2VjcmV0Og==", "Basic /w==", ""):
            assert (await api.get(f"/v1{path}", headers={"Authorization": login})).status_code == 401

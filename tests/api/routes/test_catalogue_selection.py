"""All that match a filter: facets over HTTP, deletes that nobody is surprised by, and who wrote it."""

import pytest

from api.catalogue_world import fill, furnish  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.controllers.backups.uploads import upload_for
from tidegate.controllers.stores.deletion_desk import DeletionDesk
from tidegate.errors import Refused
from tidegate.testing.resources.builders import a_backup, a_volume


@pytest.fixture
async def catalogue(services, tmp_path):
    catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")
    await furnish(services, catalogue)
    yield catalogue
    catalogue.close()


async def names(api):
    return {one["name"] for one in (await api.get("/v1/catalogue/backups")).json()["data"]}


async def test_facets_tell_how_many_would_be_left(api, catalogue):
    found = (await api.get("/v1/catalogue/facets", params={"search": "b"})).json()

    assert found["backups"] == 6
    assert found["targets"]["values"] == [{"value": "far", "backups": 3}, {"value": "near", "backups": 3}]
    assert found["namespaces"]["values"] == [{"value": "shop", "backups": 3}]
    assert found["labels"]["values"] == [{"value": "RecurringJob=nightly", "backups": 2}]


async def test_a_page_begins_after_so_many_and_leads_on_by_its_marker(api, catalogue):
    whole = [one["name"] for one in (await api.get("/v1/catalogue/backups")).json()["data"]]
    page = (await api.get("/v1/catalogue/backups", params={"skip": 2, "limit": 2})).json()
    after = (await api.get(page["links"]["next"])).json()

    assert [one["name"] for one in page["data"]] == whole[2:4]
    assert [one["name"] for one in after["data"]] == whole[4:6]
    assert (await api.get("/v1/catalogue/backups", params={"skip": 1, "marker": "1:1"})).status_code == 422


async def test_all_that_match_go_at_once_one_deletion_for_each_volume(api, catalogue, services):
    way = "/v1/catalogue/deletions"
    seen = await api.post(way, params={"target": "far", "dryRun": True}, json={"expected": 0})
    gone = await api.post(way, params={"target": "far"}, json={"expected": 3})

    assert (seen.status_code, seen.json()["backups"], seen.json()["volumes"]) == (200, 3, 2)
    assert (gone.status_code, gone.json()["backups"], len(gone.json()["deletions"])) == (202, 3, 2)
    assert await names(api) == {"b-1", "b-2", "b-3"}
    assert sorted(one.spec.backups for one in await services.deletions.list()) == [("b-9",), ("w-2", "w-1")]


async def test_nobody_deletes_everything_or_more_than_somebody_saw(api, catalogue, services):
    way = "/v1/catalogue/deletions"
    everything = await api.post(way, json={"expected": 6})
    more = await api.post(way, params={"target": "far"}, json={"expected": 2})
    unsaid = await api.post(way, params={"target": "far"}, json={})

    assert [one.status_code for one in (everything, more, unsaid)] == [422, 409, 422]
    assert more.json()["detail"] == "3 backups match by now, not 2; nothing was deleted"
    assert await services.deletions.list() == []


class RefusingDb(DeletionDesk):
    """Something reads `db`."""

    async def ask(self, target, volume, backups=None):
        if volume == "db":
            raise Refused("restore r reads it")
        return await super().ask(target, volume, backups)


async def test_a_volume_that_may_not_go_now_keeps_no_other(api, catalogue, services):
    services.deletions = RefusingDb(services.store, services.catalogue)

    answer = (await api.post("/v1/catalogue/deletions", params={"target": "far"}, json={"expected": 3})).json()

    assert answer["kept"] == [{"volume": "db@far", "message": "restore r reads it"}]
    assert await names(api) == {"b-1", "b-2", "b-3", "b-9"}


async def test_records_are_believed_only_where_the_servers_own_uploads_bear_them_out(api, catalogue, services):
    backup = await services.store.create(a_backup("nightly", "shop").with_spec(storage_location="near"))
    upload = await services.store.create(upload_for(backup, a_volume("shop", "files")))
    claims = {"tidegate.dev/backup": "nightly"}
    await fill(catalogue, "near", upload.spec.store_volume, upload.spec.store_backup, labels=claims)
    await fill(catalogue, "near", "forged", "f-1", labels=claims)
    await fill(catalogue, "near", "lost", "l-1", labels={"tidegate.dev/backup": "long-gone"})

    found = (await api.get("/v1/catalogue/records", params={"target": "near"})).json()

    assert found == {"records": [{"name": "nightly", "backups": 1}], "strangers": 5}

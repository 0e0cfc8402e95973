"""How safe each volume is, over HTTP."""

from datetime import timedelta

import pytest

from tidegate.model.resource import Metadata
from tidegate.model.volumes.volume import Namespace, Volume
from tidegate.testing.resources.builders import a_schedule, a_volume
from tidegate.testing.resources.put import put


@pytest.fixture
async def shop(services):
    """shop/db was backed up just now and has no schedule; blog/posts never was."""
    volume = a_volume("shop", "db").with_status(last_backup_at=services.clock.now())
    for one in (volume, a_volume("blog", "posts")):
        await put(services.store, one)
    return services


async def states(api):
    found = (await api.get("/v1/protection")).json()
    assert sum(found["counts"].values()) == len(found["volumes"])
    return {one["volume"]: one["state"] for one in found["volumes"]}


async def test_a_volume_goes_from_unscheduled_over_protected_to_late(api, shop):
    assert await states(api) == {"shop/db": "NoSchedule", "blog/posts": "Never"}

    await shop.store.create(a_schedule("nightly", "0 2 * * *", "shop"))
    assert (await states(api))["shop/db"] == "Protected"

    await shop.clock.advance(timedelta(days=2))
    assert (await states(api))["shop/db"] == "Late"


async def test_every_look_at_a_volume_tells_the_same_and_nothing_of_it_is_stored(api, shop):
    listed = (await api.get("/v1/volumes")).json()["data"]
    one = (await api.get("/v1/volumes/shop/db")).json()

    wanted = {"state": "NoSchedule", "message": "backed up once, no schedule", "schedules": []}
    assert one["status"]["protection"] == wanted
    assert [volume["status"]["protection"]["state"] for volume in listed] == ["Never", "NoSchedule"]
    assert (await shop.store.get(Volume, "db", "shop")).status.protection is None


async def test_each_namespace_says_how_safe_its_volumes_are(api, shop):
    for name in ("shop", "blog", "empty"):
        await shop.store.create(Namespace(metadata=Metadata(name=name)))

    listed = (await api.get("/v1/namespaces")).json()["data"]
    one = (await api.get("/v1/namespaces/shop")).json()

    counts = {one["metadata"]["name"]: one["status"]["protection"] for one in listed}
    assert counts == {"shop": {"NoSchedule": 1}, "blog": {"Never": 1}, "empty": {}}
    assert one["status"]["protection"] == {"NoSchedule": 1}


async def test_what_a_client_says_about_protection_is_not_taken_over(api, shop):
    body = (await api.get("/v1/volumes/shop/db")).json()
    body["status"]["protection"]["state"] = "Protected"

    assert (await api.put("/v1/volumes/shop/db", json=body)).status_code == 200
    assert (await states(api))["shop/db"] == "NoSchedule"

"""Deletions over HTTP: asked for, listed, called off."""

import pytest

from tidegate.controllers.stores.deletion_desk import DeletionDesk
from tidegate.model.stores.deletion import Deletion, DeletionPhase
from tidegate.testing.resources.builders import a_target


@pytest.fixture
async def asked(api, services):
    services.deletions = DeletionDesk(services.store)
    await services.store.create(a_target("store"))
    answer = await api.post("/v1/deletions", json={"target": "store", "volume": "shop.db", "backups": ["backup-1"]})
    assert answer.status_code == 202
    return answer.json()


async def test_a_deletion_is_listed_and_can_be_looked_at(api, asked):
    name = asked["metadata"]["name"]
    (listed,) = (await api.get("/v1/deletions")).json()["data"]

    assert listed["metadata"]["name"] == name
    assert listed["status"]["phase"] == "Waiting"
    one = (await api.get(f"/v1/deletions/{name}")).json()
    assert one["spec"] == {
        "target": "store",
        "url": "file:///somewhere",
        "volume": "shop.db",
        "backups": ["backup-1"],
        "upload": "",
        "cancel": False,
        "retryNowAfter": 0,
    }


async def test_a_deletion_can_be_called_off_once(api, asked):
    path = f"/v1/deletions/{asked['metadata']['name']}/cancel"

    assert (await api.post(path)).status_code == 202
    second = await api.post(path)
    assert (second.status_code, second.json()["code"]) == (409, "Refused")


async def test_only_a_deletion_that_failed_can_be_tried_at_once(api, asked, services):
    path = f"/v1/deletions/{asked['metadata']['name']}/retry"
    assert (await api.post(path)).status_code == 409

    stored = await services.store.get(Deletion, asked["metadata"]["name"])
    await services.store.update_status(stored.with_status(phase=DeletionPhase.RETRYING, attempts=3))
    tried = await api.post(path)

    assert (tried.status_code, tried.json()["spec"]["retryNowAfter"]) == (202, 3)


@pytest.mark.parametrize(
    ("wish", "status"),
    [
        ({"target": "store", "volume": "shop.db"}, 422),
        ({"target": "store", "volume": "shop.db", "backups": []}, 422),
        ({"target": "store", "volume": "shop.db", "backups": ["b-1"], "wholeVolume": True}, 422),
        ({"target": "store", "volume": "../shop", "wholeVolume": True}, 422),
        ({"target": "store", "volume": "shop.db", "backups": ["../../x"]}, 422),
        ({"target": "store", "volume": "shop.db", "backup": "b-1"}, 422),
        ({"target": "store", "volume": "shop.db", "wholeVolume": "yes"}, 422),
        ({"target": "nowhere", "volume": "shop.db", "wholeVolume": True}, 404),
    ],
)
async def test_a_wish_that_is_not_clear_deletes_nothing(api, asked, wish, status):
    answer = await api.post("/v1/deletions", json=wish)

    assert answer.status_code == status
    assert len((await api.get("/v1/deletions")).json()["data"]) == 1


async def test_a_server_without_a_desk_says_so(api, services):
    answer = await api.post("/v1/deletions", json={"target": "s", "volume": "shop.db", "wholeVolume": True})

    assert (answer.status_code, answer.json()["code"]) == (409, "Refused")


async def test_deletions_are_not_for_strangers(api):
    stranger = {"Authorization": "Bearer wrong"}

    assert (await api.get("/v1/deletions", headers=stranger)).status_code == 401
    assert (await api.post("/v1/deletions", json={}, headers=stranger)).status_code == 401

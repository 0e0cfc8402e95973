"""Adopting the store that is there: only what the caller has seen, and only an administrator."""

import pytest

from tidegate.model.stores.target import ADOPT_STORE, BackupTarget, StoreIdentity
from tidegate.testing.resources.builders import a_target
from tidegate.testing.resources.put import put

WAY = "/v1/backuptargets/usb?action=backupTargetAdopt"
OTHER = StoreIdentity(identity="mine", url="file:///somewhere", found="other", adopt="abc123")


@pytest.fixture
async def other(services):
    """A target behind which another store was found."""
    return await put(services.store, a_target("usb").with_status(available=False, store=OTHER))


async def test_what_was_seen_is_adopted_by_its_mark(api, services, other):
    answer = await api.post(WAY, json={"mark": "abc123"})

    stored = await services.store.get(BackupTarget, "usb")
    assert (answer.status_code, answer.json()["metadata"]["name"]) == (200, "usb")
    assert stored.metadata.annotations == {ADOPT_STORE: "abc123"}
    assert stored.status == other.status


@pytest.mark.parametrize("body", [{"mark": "abc124"}, {"mark": ""}, {}])
async def test_another_mark_changes_nothing(api, services, other, body):
    answer = await api.post(WAY, json=body)

    assert (answer.status_code, answer.json()["field"]) == (422, "mark")
    assert "tidegate target describe usb" in answer.json()["hint"]
    assert (await services.store.get(BackupTarget, "usb")).metadata.annotations == {}


async def test_a_target_that_leads_to_its_own_store_has_nothing_to_adopt(api, services):
    await put(services.store, a_target("usb").with_status(available=True))

    answer = await api.post(WAY, json={"mark": "abc123"})

    assert (answer.status_code, "nothing to adopt" in answer.json()["detail"]) == (409, True)


async def test_a_target_that_does_not_exist_is_not_found(api):
    assert (await api.post(WAY, json={"mark": "abc123"})).status_code == 404

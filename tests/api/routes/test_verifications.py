"""Asking for verifications and notifications: what is checked, and what is never shown."""

import re

import pytest

from tidegate.model.backups.backup import BackupPhase
from tidegate.model.verification.verification import Verification, VerificationPhase
from tidegate.testing.doubles.notifier import FakeNotifier
from tidegate.testing.resources.builders import a_backup, a_target
from tidegate.testing.resources.put import put


def verification(name="v", **spec):
    return {"metadata": {"name": name}, "spec": spec or {"backupName": "done"}}


@pytest.fixture
async def stored(services):
    """A finished backup of a schedule, and one that runs."""
    await services.store.create(a_target("store", default=True))
    done = a_backup("done", phase=BackupPhase.COMPLETED)
    await put(services.store, done.with_metadata(labels={"tidegate.dev/schedule": "nightly"}))
    await put(services.store, a_backup("running", phase=BackupPhase.IN_PROGRESS))
    return services


async def test_a_verification_is_stored_and_keeps_its_backup(api, stored):
    made = await api.post("/v1/verifications", json=verification(scheduleName="nightly"))
    await api.post("/v1/verifications", json=verification("w"))

    assert (made.status_code, made.json()["status"]["phase"]) == (201, "New")
    refused = await api.delete("/v1/backups/done")
    assert (refused.status_code, refused.json()["detail"]) == (409, "verification w is reading backup done")


@pytest.mark.parametrize(
    ("spec", "status", "sentence"),
    [
        ({"backupName": "gone"}, 404, "gone"),
        ({"backupName": "running"}, 409, "backup running is InProgress"),
        ({"scheduleName": "nobody"}, 404, "nobody"),
        ({"backupName": "done", "scheduleName": "nightly"}, 422, "exactly one"),
        ({"cancel": False}, 422, "exactly one"),
        ({"backupName": "done", "check": {"command": ["reboot"]}}, 422, "there is no hook reboot"),
        ({"backupName": "done", "check": {"command": ["../reboot"]}}, 422, "not the plain name"),
        ({"backupName": "done", "check": {"command": ["freeze"], "timeout": "3h"}}, 422, "at most one hour"),
    ],
)
async def test_what_cannot_be_verified_is_refused_with_a_sentence(api, stored, spec, status, sentence):
    refused = await api.post("/v1/verifications", json=verification(**spec))

    assert (refused.status_code, sentence in refused.json()["detail"]) == (status, True), refused.text


async def test_one_can_be_called_off_until_it_is_over(api, stored):
    await api.post("/v1/verifications", json=verification())
    called_off = await api.post("/v1/verifications/v/cancel")
    assert (called_off.status_code, called_off.json()["spec"]["cancel"]) == (202, True)
    found = await stored.store.get(Verification, "v")
    await stored.store.update_status(found.with_status(phase=VerificationPhase.CANCELED))

    assert (await api.post("/v1/verifications/v/cancel")).status_code == 409
    assert (await api.delete("/v1/backups/done")).status_code in {202, 204}


async def test_a_schedule_whose_verification_makes_no_sense_is_refused_with_the_field(api, stored):
    for wanted, field in (
        ({"schedule": "every day"}, "spec.verification.schedule"),
        ({"schedule": "@daily", "check": {"command": ["reboot"]}}, "spec.verification.check.command"),
    ):
        body = {"metadata": {"name": "s"}, "spec": {"schedule": "@daily", "verification": wanted}}
        refused = await api.post("/v1/schedules", json=body)
        assert (refused.status_code, refused.json()["field"]) == (422, field)


async def test_metrics_tell_of_verifications(api, stored):
    await api.post("/v1/verifications", json=verification())
    found = await stored.store.get(Verification, "v")
    ended = stored.clock.now()
    await stored.store.update_status(
        found.with_status(phase=VerificationPhase.COMPLETED, completion_timestamp=ended, backup_schedule="nightly")
    )

    text = (await api.get("/metrics")).text
    assert 'tidegate_verifications{phase="Completed"} 1.0' in text
    found = re.search(r'verification_last_success_timestamp_seconds\{schedule="nightly"\} (\S+)', text)
    assert float(found[1]) == ended.timestamp()


@pytest.fixture
def notifier(services):
    services.notifier = FakeNotifier(secrets=("ops",))
    return services.notifier


def rule(name="n", **spec):
    return {"metadata": {"name": name}, "spec": {"secret": "ops", **spec}}


async def test_a_rule_is_stored_with_all_events_and_can_be_tried(api, notifier):
    made = await api.post("/v1/notifications", json=rule())
    tried = await api.post("/v1/notifications/n/test")

    assert made.json()["spec"]["events"] == ["Failure", "Recovery", "MissedSchedule", "VerificationFailure"]
    assert tried.json()["delivered"] is True
    assert notifier.told == ["Test: A test of notification n"]


async def test_a_try_that_does_not_arrive_says_why(api, notifier):
    await api.post("/v1/notifications", json=rule())
    notifier.away = "the webhook answered 500"

    tried = await api.post("/v1/notifications/n/test")

    assert (tried.status_code, tried.json()["code"]) == (502, "NotDelivered")
    assert tried.json()["detail"] == "the webhook answered 500"


@pytest.mark.parametrize(
    "spec", [{"secret": "nobody"}, {"events": ["Rain"]}, {"events": []}, {"events": ["Test"]}, {"url": "http://x"}]
)
async def test_a_rule_that_cannot_work_is_refused(api, notifier, spec):
    assert (await api.post("/v1/notifications", json=rule(**spec))).status_code == 422


async def test_deliveries_can_be_read_and_not_written(api, notifier):
    assert (await api.get("/v1/notificationdeliveries")).json()["data"] == []
    assert (await api.post("/v1/notificationdeliveries", json=rule())).status_code == 405

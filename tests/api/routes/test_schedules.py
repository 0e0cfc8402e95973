"""Schedules and pins over HTTP."""

from datetime import timedelta

import pytest

from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.schedules.schedule import Schedule
from tidegate.testing.resources.builders import a_schedule, a_target

NIGHTLY = {"metadata": {"name": "nightly"}, "spec": {"schedule": "30 2 * * *", "timezone": "Europe/Berlin"}}


def but(**spec):
    return {**NIGHTLY, "spec": {**NIGHTLY["spec"], **spec}}


@pytest.fixture
async def store(api):
    await api.post("/v1/backuptargets", json={"metadata": {"name": "store"}, "spec": {"url": "file:///b"}})
    volume = {"metadata": {"name": "db", "namespace": "shop"}, "spec": {"directory": "/data/db"}}
    await api.post("/v1/volumes", json=volume)


@pytest.fixture
async def nightly(api, store):
    created = await api.post("/v1/schedules", json=NIGHTLY)
    assert created.status_code == 201
    return created.json()


BAD_SCHEDULES = [
    (but(schedule="30 2 * *"), 422, "spec.schedule", "five fields"),
    (but(schedule="99 2 * * *"), 422, "spec.schedule", "bad minute"),
    (but(schedule="0 0 30 2 *"), 422, "spec.schedule", "bad day-of-month"),
    (but(schedule=""), 422, "spec.schedule", ""),
    (but(schedule="1 " * 500), 422, "spec.schedule", "at most 200 characters"),
    (but(timezone="Mars/Olympus"), 422, "spec.timezone", "is not a known time zone"),
    (but(timezone="../../etc/passwd"), 422, "spec.timezone", "is not a known time zone"),
    (but(retention={"keepLast": -1}), 422, "spec.retention.keepLast", ""),
    (but(retention={"keepCenturies": 1}), 422, "spec.retention.keepCenturies", "is not a known field"),
    (but(template={"includedNamespaces": ["a**"]}), 422, "spec.template.includedNamespaces[0]", ""),
    (but(template={"cancel": True}), 422, "spec.template.cancel", "pause the schedule"),
    (but(template={"queueTicket": 1}), 422, "spec.template.queueTicket", "leave it out"),
    (but(template={"storageLocation": "nowhere"}), 404, None, "there is no backup target nowhere"),
    ({**NIGHTLY, "metadata": {"name": "n" * 64}}, 422, "metadata.name", "at most 63 characters"),
]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("body", "status", "field", "says"), BAD_SCHEDULES)
async def test_a_bad_schedule_is_refused_with_its_field_and_nothing_is_stored(api, body, status, field, says):
    refused = await api.post("/v1/schedules", json=body)

    assert (refused.status_code, refused.json().get("field")) == (status, field)
    assert says in refused.json()["detail"]
    assert (await api.get("/v1/schedules")).json()["data"] == []


TYPO = "no volume is in namespace shpo (did you mean shop?)"


async def test_a_schedule_says_at_once_and_whenever_it_is_looked_at_what_it_asks_for_in_vain(api, services, nightly):
    """A name that matches nothing beside one that does, or in a schedule that may be empty, is still a slip."""
    changed = await api.put("/v1/schedules/nightly", json=but(template={"includedNamespaces": ["shop", "shpo"]}))
    second = {**but(template={"includedNamespaces": ["shpo"], "allowEmpty": True}), "metadata": {"name": "second"}}
    made = await api.post("/v1/schedules", json=second)

    for answer in (changed, made, await api.get("/v1/schedules/nightly"), await api.get("/v1/schedules/second")):
        assert answer.json()["status"]["unmatched"] == [TYPO]
    assert (await services.store.get(Schedule, "nightly")).status.unmatched == ()


@pytest.mark.usefixtures("store")
async def test_a_paused_schedule_that_matches_nothing_is_refused_like_any_other(api):
    """It would be resumed one day, and nothing looks at its names then."""
    assert (await api.post("/v1/schedules", json=but(paused=True, **SHPO))).status_code == 422


async def test_a_schedule_cannot_be_changed_into_a_bad_one(api, nightly):
    refused = await api.put("/v1/schedules/nightly", json=but(timezone="Mars/Olympus"))

    assert (refused.status_code, refused.json()["field"]) == (422, "spec.timezone")
    assert (await api.get("/v1/schedules/nightly")).json()["spec"]["timezone"] == "Europe/Berlin"


async def test_a_schedule_is_paused_by_replacing_its_spec_and_deleted_at_once(api, nightly):
    paused = await api.put("/v1/schedules/nightly", json={**nightly, "spec": {**nightly["spec"], "paused": True}})

    assert (paused.status_code, paused.json()["spec"]["paused"]) == (200, True)
    assert (await api.delete("/v1/schedules/nightly")).status_code == 204


async def test_a_schedule_whose_target_is_gone_can_be_paused_but_not_resumed(api, nightly):
    await api.delete("/v1/backuptargets/store")

    assert (await api.put("/v1/schedules/nightly", json=but(paused=True))).status_code == 200
    refused = await api.put("/v1/schedules/nightly", json=but(paused=False))
    assert (refused.status_code, refused.json()["field"]) == (422, "spec.template.storageLocation")


@pytest.mark.parametrize(
    ("spec", "ttl"),
    [
        ({}, "30d"),
        ({"retention": {}}, "30d"),
        ({"retention": {"keepMonthly": 12}}, "36500d"),
        ({"retention": {"keepMonthly": 12}, "template": {"ttl": "60d"}}, "60d"),
    ],
)
async def test_the_default_ttl_does_not_end_what_retention_rules_keep(api, store, spec, ttl):
    created = await api.post("/v1/schedules", json=but(**spec))

    assert created.json()["spec"]["template"]["ttl"] == ttl


async def test_the_coming_times_are_told_in_the_zone_of_the_schedule_and_in_utc(api, nightly):
    answer = (await api.get("/v1/schedules/nightly/next", params={"count": 2})).json()

    assert answer["times"] == [
        {"local": "2026-01-01T02:30:00+01:00", "utc": "2026-01-01T01:30:00+00:00"},
        {"local": "2026-01-02T02:30:00+01:00", "utc": "2026-01-02T01:30:00+00:00"},
    ]
    assert len((await api.get("/v1/schedules/nightly/next")).json()["times"]) == 5


@pytest.mark.parametrize("count", ["0", "101", "x"])
async def test_an_odd_number_of_coming_times_is_refused(api, nightly, count):
    assert (await api.get("/v1/schedules/nightly/next", params={"count": count})).status_code == 422


async def test_what_is_asked_of_an_unknown_schedule_or_backup_is_not_found(api):
    assert (await api.get("/v1/schedules/none/next")).status_code == 404
    assert (await api.post("/v1/schedules/none/run")).status_code == 404
    assert (await api.post("/v1/backups/none/pin")).status_code == 404
    assert (await api.post("/v1/backups/none/unpin")).status_code == 404


async def test_a_paused_schedule_can_still_be_run_by_hand(api, services, nightly):
    stored = await services.store.get(Schedule, "nightly")
    await services.store.update(stored.with_spec(paused=True))

    made = await api.post("/v1/schedules/nightly/run")

    assert made.status_code == 201
    assert made.json()["metadata"]["name"] == "nightly-20260101000000"
    assert made.json()["metadata"]["labels"] == {"tidegate.dev/schedule": "nightly"}
    assert made.json()["spec"]["storageLocation"] == "store"
    assert (await services.store.get(Backup, "nightly-20260101000000")).metadata.finalizers


async def test_a_run_by_hand_is_refused_while_an_earlier_one_is_not_final_unless_forced(api, services, nightly):
    first = (await api.post("/v1/schedules/nightly/run")).json()["metadata"]["name"]
    await services.clock.advance(timedelta(seconds=5))

    refused = await api.post("/v1/schedules/nightly/run")
    forced = await api.post("/v1/schedules/nightly/run", params={"force": "true"})

    assert (refused.status_code, refused.json()["code"]) == (409, "Refused")
    assert f"backup {first} of schedule nightly is still New" in refused.json()["detail"]
    assert (forced.status_code, forced.json()["metadata"]["name"]) == (201, "nightly-20260101000005")


async def test_a_pin_is_a_label_that_comes_and_goes(api, services, nightly):
    name = (await api.post("/v1/schedules/nightly/run")).json()["metadata"]["name"]

    for _ in range(2):  # pinning twice is harmless
        pinned = await api.post(f"/v1/backups/{name}/pin")
        assert pinned.json()["metadata"]["labels"]["tidegate.dev/pinned"] == "true"
    unpinned = await api.post(f"/v1/backups/{name}/unpin")

    assert unpinned.json()["metadata"]["labels"] == {"tidegate.dev/schedule": "nightly"}


async def test_a_backup_that_is_being_deleted_cannot_be_pinned_any_more(api, services, nightly):
    name = (await api.post("/v1/schedules/nightly/run")).json()["metadata"]["name"]
    backup = await services.store.get(Backup, name)
    await services.store.update_status(backup.with_status(phase=BackupPhase.COMPLETED))
    await services.store.delete(backup.ref)

    assert (await api.post(f"/v1/backups/{name}/pin")).status_code == 409


@pytest.mark.parametrize("method", ["POST", "PUT"])
async def test_a_hook_that_cannot_be_run_is_refused_when_the_schedule_is_made_or_changed(api, services, method):
    await services.store.create(a_target("store"))
    if method == "PUT":
        await services.store.create(a_schedule("nightly", "30 2 * * *"))
    hooks = {"resources": [{"name": "db", "pre": [{"exec": {"command": ["nothere"]}}]}]}
    body = {"metadata": {"name": "nightly"}, "spec": {"schedule": "@daily", "template": {"hooks": hooks}}}

    path = "/v1/schedules" if method == "POST" else "/v1/schedules/nightly"
    answer = await api.request(method, path, json=body)

    assert answer.status_code == 422
    assert answer.json()["field"] == "spec.template.hooks.resources[0].pre[0].exec"


SHPO = {"template": {"includedNamespaces": ["shpo"]}}


@pytest.mark.usefixtures("store")
async def test_a_schedule_whose_template_matches_nothing_is_refused_unless_it_may_be_empty(api):
    refused = await api.post("/v1/schedules", json=but(**SHPO))
    allowed = await api.post("/v1/schedules", json=but(template={**SHPO["template"], "allowEmpty": True}))

    assert (refused.status_code, refused.json()["field"]) == (422, "spec.template.includedNamespaces[0]")
    assert "did you mean shop?" in refused.json()["detail"]
    assert "spec.template.allowEmpty" in refused.json()["hint"]
    assert allowed.status_code == 201


async def test_a_schedule_cannot_be_changed_into_one_that_matches_nothing(api, nightly):
    refused = await api.put("/v1/schedules/nightly", json=but(**SHPO))

    assert (refused.status_code, refused.json()["field"]) == (422, "spec.template.includedNamespaces[0]")


@pytest.mark.parametrize("change", [{"paused": True}, {"schedule": "@hourly"}, {"retention": {"keepLast": 3}}])
async def test_a_schedule_whose_volumes_are_gone_can_still_be_changed_in_all_else(api, nightly, change):
    await api.delete("/v1/volumes/shop/db")

    assert (await api.put("/v1/schedules/nightly", json=but(**change))).status_code == 200


async def test_a_run_by_hand_that_would_match_nothing_is_refused(api, nightly):
    await api.delete("/v1/volumes/shop/db")

    refused = await api.post("/v1/schedules/nightly/run")

    assert (refused.status_code, refused.json()["code"]) == (422, "InvalidInput")
    assert "there is no volume yet" in refused.json()["detail"]
    assert (await api.get("/v1/backups")).json()["data"] == []

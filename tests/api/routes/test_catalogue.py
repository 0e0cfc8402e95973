"""Search, counts and state of the catalogue over HTTP."""

from datetime import timedelta

import pytest

from api.catalogue_world import NOON, fill, furnish  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.model.resource import Condition
from tidegate.model.stores.catalogue import BackupState, FullSync
from tidegate.model.stores.target import CONFIRM_VANISHED, BackupTarget, SyncStatus
from tidegate.testing.resources.builders import a_target


@pytest.fixture
async def catalogue(services, tmp_path):
    catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")
    await furnish(services, catalogue)
    await fill(catalogue, "near", "broken", "x-1", state=BackupState.ERROR, messages={"error": "torn"})
    yield catalogue
    catalogue.close()


HOUR_AGO = (NOON - timedelta(hours=1)).isoformat()
FILTERS = [
    ({"volume": "web"}, {"w-1", "w-2"}),
    ({"volume": "w*"}, {"w-1", "w-2"}),
    ({"target": "far", "volume": "db"}, {"b-9"}),
    ({"namespace": "shop"}, {"b-1", "b-2", "b-3"}),
    ({"claim": "db", "workload": "web", "pod": "web-0", "since": HOUR_AGO}, {"b-2", "b-3"}),
    ({"search": "WEB", "target": "near", "until": HOUR_AGO}, {"b-1"}),
    ({"label": "RecurringJob=nightly"}, {"w-1", "w-2"}),
    ({"label": ["RecurringJob", "Missing"]}, set()),
    ({"state": "Error"}, {"x-1"}),
    ({"since": "2026-01-01T12:00:00", "target": "far"}, {"b-9", "w-2"}),
    ({"namespace": "no*where"}, set()),
]


async def test_backups_are_found_and_counted_by_whatever_is_known_of_them(api, catalogue):
    for query, expected in FILTERS:
        found = (await api.get("/v1/catalogue/backups", params=query)).json()["data"]
        counted = (await api.get("/v1/catalogue/counts", params=query)).json()

        assert {one["name"] for one in found} == expected, query
        assert counted["backups"] == len(expected), query


async def test_what_of_a_target_cannot_be_read_is_counted_and_named(api, catalogue):
    await catalogue.blame("near", "web", {"error": "volume.cfg is not valid JSON"})

    assert (await api.get("/v1/catalogue/damage/near")).json() == {
        "volumes": 1,
        "backups": 1,
        "named": ["volume web: volume.cfg is not valid JSON", "backup x-1 of volume broken: torn"],
    }
    assert (await api.get("/v1/catalogue/damage/far")).json() == {"volumes": 0, "backups": 0, "named": []}
    assert (await api.get("/v1/catalogue/damage/nowhere")).status_code == 404


async def test_of_much_damage_only_the_first_is_named(catalogue):
    for number in range(9):
        torn = {"error": f"torn {number}"}
        await fill(catalogue, "far", f"pvc-{number}", f"y-{number}", state=BackupState.ERROR, messages=torn)

    found = await catalogue.damage("far", most=3)

    assert (found.volumes, found.backups, len(found.named)) == (0, 9, 3)


@pytest.mark.parametrize("way", ["catalogue/backups", "catalogue/volumes", "catalogue/counts", "backupvolumes"])
async def test_what_runs_in_the_background_is_told_to_make_way_for_whoever_looks(api, services, catalogue, way):
    told = []
    services.make_way = lambda: told.append(way)

    assert [(await api.get(probe)).status_code for probe in ("/livez", "/metrics", "/v1/version")] == [200, 200, 200]
    assert told == [], "a probe looks at nothing"
    assert (await api.get(f"/v1/{way}")).status_code == 200
    assert set(told) == {way}


async def test_volumes_are_found_by_their_backups_and_pages_lead_to_the_end(api, catalogue):
    by_label = (await api.get("/v1/catalogue/volumes", params={"label": "RecurringJob"})).json()
    seen, way = [], "/v1/catalogue/backups?limit=2&target=*ar"
    while way:
        page = (await api.get(way)).json()
        seen += [one["name"] for one in page["data"]]
        way = page["links"].get("next")

    assert [one["id"] for one in by_label["data"]] == ["web@far"]
    assert sorted(seen) == ["b-1", "b-2", "b-3", "b-9", "w-1", "w-2", "x-1"]


async def test_what_cannot_be_a_filter_or_a_marker_is_refused_with_a_sentence(api, catalogue):
    wrong = [
        {"naemspace": "shop"},
        {"pvc": "db"},
        {"namespace": ["shop", "web"]},
        {"since": HOUR_AGO, "until": HOUR_AGO},
        {"until": "2026-13-01"},
        {"state": "Fine"},
        {"since": "yesterday"},
        {"limit": 0},
        {"limit": 1001},
        {"limit": 10**30},
        {"marker": "x"},
        {"marker": f"1:{10**30}"},
        {"marker": f"{10**30}:1"},
        {"label": "=x"},
        {"volume": "*" * 9},
        {"search": "x" * 2000},
        {"label": [f"l{number}" for number in range(17)]},
    ]
    for query in wrong:
        answer = await api.get("/v1/catalogue/backups", params=query)

        assert (answer.status_code, bool(answer.json()["detail"])) == (422, True), query


async def test_the_state_tells_what_runs_what_failed_and_what_is_held_back(api, catalogue, services):
    near = await services.store.get(BackupTarget, "near")
    held = Condition(
        type="VolumesVanished", status="True", reason="HeldBack", message="9 of 10 are gone", last_transition_time=NOON
    )
    sync = SyncStatus(stage="ReadingBackups", done=4, total=9, started_at=NOON, vanished="abc")
    status = near.status.with_condition(held).replace(available=True, sync=sync)
    await services.store.update_status(near.replace(status=status))

    found = (await api.get("/v1/catalogue/status")).json()

    told = {one["name"]: one for one in found["targets"]}
    assert (found["volumes"], found["backups"]) == (4, 7)
    assert (told["near"]["sync"]["done"], told["near"]["sync"]["total"], told["near"]["backups"]) == (4, 9, 4)
    assert (told["near"]["heldBack"], told["far"]["heldBack"]) == ("9 of 10 are gone", "")


async def test_what_is_held_back_is_confirmed_only_by_its_own_mark(api, catalogue, services):
    near = await services.store.get(BackupTarget, "near")
    await services.store.update_status(near.replace(status=near.status.replace(sync=SyncStatus(vanished="abc"))))

    async def confirm(target, mark):
        way = f"/v1/backuptargets/{target}?action=backupTargetSync"
        return (await api.post(way, content=f'{{"confirmVanished": "{mark}"}}'.encode())).status_code

    assert [await confirm("near", "abd"), await confirm("far", "abc")] == [422, 409]
    assert await confirm("near", "abc") == 200
    confirmed = await services.store.get(BackupTarget, "near")
    assert confirmed.metadata.annotations == {CONFIRM_VANISHED: "abc"}


async def test_one_volume_is_synced_on_request_also_if_nobody_has_seen_it_yet(api, catalogue, services):
    way = "/v1/backuptargets/far?action=backupTargetSync"
    asked = (await api.post(way, json={"volume": "brand-new"})).json()
    wrong = await api.post(way, json={"volume": "../etc"})

    assert (asked["pending"], services.syncs.asked) == (True, [("far", "brand-new")])
    assert (await api.get("/v1/catalogue/syncs/far/brand-new")).json()["pending"] is True
    assert (wrong.status_code, (await api.get("/v1/catalogue/syncs/nowhere/vol")).status_code) == (422, 404)


async def test_what_has_not_been_read_yet_is_told_and_never_taken_for_absent(api, services, catalogue):
    await services.store.create(a_target("new", url="file:///new"))

    for path in (
        "backupvolumes",
        "backupvolumes?limit=1",
        "catalogue/volumes",
        "catalogue/backups",
        "catalogue/counts",
    ):
        answer = await api.get(f"/v1/{path}")
        assert (answer.status_code, answer.json()["notReadYet"]) == (200, ["new"]), path
    assert "notReadYet" not in (await api.get("/v1/backupvolumes?target=near")).json()
    told = {one["name"]: one for one in (await api.get("/v1/catalogue/status")).json()["targets"]}
    assert ("lastSyncedAt" in told["new"], "lastSyncedAt" in told["near"]) == (False, True)

    for path in ("nobody", "nobody@new", "nobody@new?action=backupList"):
        answer = await api.get(f"/v1/backupvolumes/{path}")
        assert (answer.status_code, answer.json()["code"]) == (503, "CatalogueNotRead"), path
        assert answer.json()["detail"] == "not known yet: the catalogue has not read target new"
    assert (await api.get("/v1/backupvolumes/nobody@near")).status_code == 404

    await catalogue.note_full_sync("new", FullSync("file:///new", NOON))
    assert "notReadYet" not in (await api.get("/v1/backupvolumes")).json()
    assert (await api.get("/v1/backupvolumes/nobody")).status_code == 404


async def test_another_place_has_not_been_read_although_the_one_before_was(api, services, catalogue):
    far = await services.store.get(BackupTarget, "far")
    await services.store.update(far.replace(spec=far.spec.replace(url="file:///moved")))

    assert (await api.get("/v1/backupvolumes")).json()["notReadYet"] == ["far"]

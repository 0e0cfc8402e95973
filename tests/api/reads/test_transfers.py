"""What the API tells of transfers that wait: always the reason as it is now."""

import pytest

from tidegate.model.reasons import Reason
from tidegate.model.restores.restore import RestorePhase
from tidegate.model.transfers.transfer import DataDownload, TransferPhase
from tidegate.testing.resources.builders import a_node, a_restore, a_target, a_transfer
from tidegate.testing.resources.put import put
from tidegate.testing.resources.resources import a_setting

P = TransferPhase


def asked_for(name, *given, **wishes):
    return a_transfer(name, *given, volume=("ns", name), **wishes)


@pytest.fixture
async def crowd(services):
    """One moves, one is ready for the same node, a restore runs, another waits: nobody was told anything."""
    for resource in (
        a_node("node-a", slots=1),
        a_node("node-b"),
        a_target("store"),
        a_setting("concurrent-backup-restore-limit", "1"),
        asked_for("moves", P.IN_PROGRESS, node="node-a"),
        asked_for("ready", P.PREPARED, node="node-a"),
        asked_for("restores", P.ACCEPTED, node="node-b", kind=DataDownload),
        asked_for("waits", kind=DataDownload),
    ):
        await put(services.store, resource)
    return services


def waiting(wire):
    return [(c["reason"], c["message"]) for c in wire["status"].get("conditions", []) if c["type"] == "Waiting"]


async def test_the_reason_is_told_fresh_though_nobody_wrote_it_down(api, crowd):
    waits = (await api.get("/v1/datadownloads/waits")).json()
    listed = {one["metadata"]["name"]: waiting(one) for one in (await api.get("/v1/datauploads")).json()["data"]}

    assert waiting(waits) == [("RestoreLimit", "1/1, position 1")]
    assert listed == {"moves": [], "ready": [("NodeLoad", "node-a 1/1")]}


async def test_a_reason_that_was_written_down_and_is_old_is_not_repeated(api, crowd):
    stored = await crowd.store.get(DataDownload, "waits")
    told = stored.status.waiting("PrepareQueueFull", "4/4", since=crowd.clock.now())
    await crowd.store.update_status(stored.replace(status=told))

    assert waiting((await api.get("/v1/datadownloads/waits")).json()) == [("RestoreLimit", "1/1, position 1")]


async def test_a_restore_that_has_begun_tells_what_its_next_volume_waits_for_now(api, crowd):
    restore = a_restore("r", phase=RestorePhase.IN_PROGRESS)
    long_ago = restore.status.waiting(Reason.PREPARE_QUEUE_FULL, "4/4", since=crowd.clock.now())
    restore = await put(crowd.store, restore.replace(status=long_ago))
    for name in ("one", "two"):
        mine = asked_for(name, kind=DataDownload)
        await put(crowd.store, mine.with_metadata(owner_references=(restore.as_owner(),)))
    next_one = [("RestoreLimit", "1/1, position 1 (ns/one, the next of 2 volumes)")]

    assert waiting((await api.get("/v1/restores/r")).json()) == next_one
    assert [waiting(one) for one in (await api.get("/v1/restores")).json()["data"]] == [next_one]


async def test_the_gates_are_measured_from_what_is_stored(api, crowd):
    lines = set((await api.get("/metrics")).text.splitlines())

    assert {
        'tidegate_transfers_waiting{reason="NodeLoad"} 1.0',
        'tidegate_transfers_waiting{reason="RestoreLimit"} 1.0',
        'tidegate_transfers_waiting{reason="PrepareQueueFull"} 0.0',
        "tidegate_restores_in_progress 1.0",
        "tidegate_restores_waiting 1.0",
        'tidegate_node_transfers{node="node-a",state="moving"} 1.0',
        'tidegate_node_transfers{node="node-a",state="preparing"} 1.0',
        'tidegate_node_transfers{node="node-b",state="preparing"} 1.0',
        'tidegate_node_transfers{node="node-b",state="moving"} 0.0',
        'tidegate_node_transfers_limit{node="node-a"} 1.0',
    } <= lines


async def test_a_restore_of_which_nothing_moves_is_counted_under_its_reason(api, services):
    paused = a_restore("paused").status.waiting(Reason.RESTORES_DISABLED, "paused", since=services.clock.now())
    for restore in (
        a_restore("new"),
        a_restore("paused").replace(status=paused),
        a_restore("moves", phase=RestorePhase.IN_PROGRESS),
        a_restore("over", phase=RestorePhase.COMPLETED),
    ):
        await put(services.store, restore)

    lines = set((await api.get("/metrics")).text.splitlines())

    assert {
        'tidegate_restores{phase="New"} 2.0',
        'tidegate_restore_queue_length{reason="RestoresDisabled"} 1.0',
        'tidegate_restore_queue_length{reason="PendingEvaluation"} 1.0',
        'tidegate_restore_queue_length{reason="NamespaceOverlapRunning"} 0.0',
    } <= lines
    assert (await api.get("/v1/load")).json()["restores"]["queued"] == 2


async def test_a_setting_tells_how_careful_one_should_be(api):
    listed = {
        one["metadata"]["name"]: one["status"]["category"] for one in (await api.get("/v1/settings")).json()["data"]
    }

    assert listed["concurrent-backup-restore-limit"] == "danger zone"
    assert listed["concurrent-backups"] == "general"
    body = {"kind": "Setting", "metadata": {"name": "concurrent-backup-restore-per-node-limit"}, "spec": {"value": "2"}}
    answer = await api.put("/v1/settings/concurrent-backup-restore-per-node-limit", json=body)
    assert (answer.status_code, answer.json()["status"]["category"]) == (200, "danger zone")
    one = (await api.get("/v1/settings/concurrent-backup-restore-per-node-limit")).json()
    assert (one["spec"]["value"], one["status"]["category"]) == ("2", "danger zone")


@pytest.mark.parametrize("value", ["-1", "many", "1.5", ""])
async def test_a_restore_limit_that_is_no_whole_number_is_refused(api, value):
    name = "concurrent-backup-restore-limit"
    body = {"kind": "Setting", "metadata": {"name": name}, "spec": {"value": value}}

    assert (await api.put(f"/v1/settings/{name}", json=body)).status_code == 422

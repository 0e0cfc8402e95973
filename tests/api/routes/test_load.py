"""The routes of the load: one picture to read, one document to change."""

import pytest

from tidegate.model.resource import Metadata
from tidegate.model.setting import Setting
from tidegate.model.transfers.load_status import LoadStatus
from tidegate.model.transfers.node import Node, NodeStatus
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.testing.resources.builders import a_transfer
from tidegate.testing.resources.put import put

NAME = "load-concurrency"


@pytest.fixture
async def nodes(services):
    for name, labels in (("node-a", {"disk": "slow"}), ("node-b", {})):
        node = Node(metadata=Metadata(name=name, labels=labels), status=NodeStatus(ready=True))
        await put(services.store, node)


async def limits(api, **query):
    status = LoadStatus.model_validate((await api.get("/v1/load", params=query)).json())
    return {node.name: node.load.limit for node in status.nodes}


async def stored_text(services):
    return (await services.store.get(Setting, NAME)).spec.value


async def test_the_load_is_counted_from_what_is_stored(api, services, nodes):
    await put(services.store, a_transfer("moving", TransferPhase.IN_PROGRESS, node="node-a"))
    await services.store.create(a_transfer("waiting"))

    shown = (await api.get("/v1/load")).json()

    assert shown["nodes"][0] == {
        "name": "node-a",
        "ready": True,
        "load": {"running": 1, "preparing": 0, "limit": 2, "limitedBy": "default: 1 backup, 1 restore"},
    }
    assert shown["prepareQueue"] == {"backups": 0, "restores": 0, "restoreShare": 1}
    assert shown["restores"] == {"inUse": 0, "limit": 5, "queued": 0}
    assert shown["waiting"] == [{"phase": "New", "reason": "PendingEvaluation", "backups": 1, "restores": 0}]


@pytest.mark.parametrize("envelope", [False, True])
async def test_new_limits_hold_at_once(api, services, nodes, envelope):
    slow = {"nodeSelector": {"matchLabels": {"disk": "slow"}}, "number": 1}
    document = {"globalConfig": 4, "perNodeConfig": [slow]}

    answer = await api.put("/v1/load", json={"loadConcurrency": document} if envelope else document)

    assert answer.status_code == 200
    assert await limits(api) == {"node-a": 1, "node-b": 4}
    assert '"globalConfig": 4' in await stored_text(services)


async def test_a_dry_run_tells_what_would_be_and_changes_nothing(api, nodes):
    answer = await api.put("/v1/load", params={"dryRun": "true"}, json={"globalConfig": 7})

    assert [node["load"]["limit"] for node in answer.json()["nodes"]] == [7, 7]
    assert await limits(api) == {"node-a": 2, "node-b": 2}


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({"globalConfig": 0}, "globalConfig: must be at least 1, not 0"),
        (
            {"loadConcurrency": {}, "prepareQueueLength": 2},
            "prepareQueueLength: belongs into loadConcurrency, not beside it",
        ),
        ({"loadConcurrency": {"x": 1}}, "loadConcurrency.x: is not a known key here"),
    ],
)
async def test_a_mistake_is_refused_with_its_path_and_changes_nothing(api, services, document, sentence):
    answer = await api.put("/v1/load", json=document)

    assert (answer.status_code, answer.json()["code"]) == (422, "InvalidInput")
    assert answer.json()["detail"].startswith(sentence)
    assert (await services.store.list(Setting)).items == ()


async def test_more_rules_than_a_setting_can_hold_are_refused_in_a_sentence(api):
    rules = [{"nodeSelector": {"matchLabels": {"host": f"n{number}" * 9}}, "number": 1} for number in range(900)]

    answer = await api.put("/v1/load", json={"perNodeConfig": rules})

    assert answer.status_code == 422
    assert "there is room for 65536; choose nodes by fewer labels" in answer.json()["detail"]


@pytest.mark.parametrize("set_before", [False, True])
async def test_of_two_people_who_read_the_same_limits_the_second_is_told(api, nodes, set_before):
    if set_before:
        await api.put("/v1/load", json={"globalConfig": 2})
    version = (await api.get("/v1/load")).json()["version"]

    first = await api.put("/v1/load", params={"version": version}, json={"globalConfig": 3})
    second = await api.put("/v1/load", params={"version": version}, json={"globalConfig": 9})

    assert (first.status_code, second.status_code) == (200, 409)
    assert second.json()["code"] == "StaleVersion"
    assert await limits(api) == {"node-a": 3, "node-b": 3}


async def test_limits_that_were_cleared_meanwhile_are_not_brought_back(api):
    await api.put("/v1/load", json={"globalConfig": 2})
    version = (await api.get("/v1/load")).json()["version"]
    await api.delete(f"/v1/settings/{NAME}")

    assert (await api.put("/v1/load", params={"version": version}, json={"globalConfig": 3})).status_code == 409


async def test_a_node_tells_what_it_carries_alone_and_in_a_list(api, services, nodes):
    await put(services.store, a_transfer("ready", TransferPhase.PREPARED, node="node-b"))
    expected = {"running": 0, "preparing": 1, "limit": 2, "limitedBy": "default: 1 backup, 1 restore"}

    alone = (await api.get("/v1/nodes/node-b")).json()
    listed = (await api.get("/v1/nodes")).json()["data"]

    assert alone["status"]["load"] == listed[1]["status"]["load"] == expected
    assert (await services.store.get(Node, "node-b")).status.load is None


async def test_a_volume_on_a_node_that_nobody_knows_is_refused_with_those_that_exist(api, nodes):
    def a_volume(node):
        metadata = {"name": "db", "namespace": "shop"}
        return {"kind": "Volume", "metadata": metadata, "spec": {"directory": "/data", "node": node}}

    refused = await api.post("/v1/volumes", json=a_volume("node-x"))
    taken = await api.post("/v1/volumes", json=a_volume("node-b"))

    assert (refused.status_code, refused.json()["detail"]) == (404, "there is no node node-x")
    assert refused.json()["hint"] == "there are: node-a, node-b"
    assert (taken.status_code, taken.json()["spec"]["node"]) == (201, "node-b")

"""Two nodes that are one machine: rules hold them back, and a person changes the rules while data moves."""

import json

import pytest

from tidegate.testing.sample_data import fill_image

SLOW = {"nodeSelector": {"matchLabels": {"disk": "slow"}}, "number": 1}
NODES = [{"name": "node-a", "labels": {"disk": "slow"}}, {"name": "node-b", "slots": 2}]
MOVING = {"InProgress", "Canceling"}


def write(path, document):
    path.write_text(json.dumps(document))
    return str(path)


def limits(server):
    return {node["name"]: node["load"]["limit"] for node in server.get("load", "status")["nodes"]}


def most_at_once(seen):
    """For each limit of node-a that held, the most transfers that moved there at once under it."""
    limit, moving, most = 1, set(), {}
    for resource in seen:
        name = resource["metadata"]["name"]
        if name == "load-concurrency":
            limit = json.loads(resource["spec"]["value"])["perNodeConfig"][0]["number"]
        elif resource["kind"] == "DataUpload":
            (moving.add if resource["status"]["phase"] in MOVING else moving.discard)(name)
            most[limit] = max(most.get(limit, 0), len(moving))
    return most


def test_limits_hold_and_change_while_data_moves(idle_server, tmp_path):
    server = idle_server
    load = write(tmp_path / "load.json", {"loadConcurrency": {"globalConfig": 3, "perNodeConfig": [SLOW]}})
    server.start("--nodes", write(tmp_path / "nodes.json", NODES), "--load-config", load)
    assert limits(server) == {"node-a": 1, "node-b": 2}
    (tmp_path / "store").mkdir()
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    server.tidegate("setting", "set", "item-block-worker-count", "6")
    for number in range(6):
        image = fill_image(tmp_path / f"disk{number}.img")
        server.tidegate("volume", "create", f"vms/d{number}", "--image", str(image), "--node", "node-a")

    server.tidegate("backup", "create", "all", "--include-namespaces", "vms")
    server.wait_for_phase("DataUpload", "InProgress")
    server.tidegate("load", "set", "--node-rule", "disk=slow:2")
    assert limits(server) == {"node-a": 2, "node-b": 2}
    server.tidegate("backup", "wait", "all", "--timeout", "120s")

    seen = server.history("settings", "datauploads")
    assert all(most <= limit for limit, most in most_at_once(seen).items())
    assert most_at_once(seen)[1] == 1
    assert {r["spec"]["node"] for r in seen if r["kind"] == "DataUpload"} == {"node-a"}
    assert "node-a  Ready         0          0      2  perNodeConfig[0] disk=slow" in server.tidegate("load", "status")


def test_nodes_follow_their_file_from_start_to_start(idle_server, tmp_path):
    server = idle_server
    nodes = write(tmp_path / "nodes.json", NODES)
    server.start("--nodes", nodes)
    refused = server.run("volume", "create", "v", "-n", "x", "--directory", str(tmp_path), "--node", "node-x")
    assert (refused.returncode, "there are: node-a, node-b" in refused.stderr) == (5, True)
    server.tidegate("load", "set", "--global", "4")
    server.stop()

    write(tmp_path / "nodes.json", [{"name": "node-a", "labels": {"disk": "fast"}, "slots": 3}])
    server.start("--nodes", nodes)

    assert limits(server)["node-a"] == 3
    shown = {node["metadata"]["name"]: node for node in server.get("node", "get")["items"]}
    assert {name: node["status"]["ready"] for name, node in shown.items()} == {"node-a": True, "node-b": False}
    assert shown["node-a"]["metadata"]["labels"]["disk"] == "fast"
    assert "the server was started without it" in server.tidegate("node", "describe", "node-b")


@pytest.mark.parametrize(
    ("option", "document", "sentence"),
    [
        ("--load-config", {"loadConcurrency": {}, "prepareQueueLength": 1}, "belongs into loadConcurrency"),
        ("--load-config", {"perNodeConfig": [{**SLOW, "number": 0}]}, "perNodeConfig[0].number: must be at least 1"),
        ("--nodes", [{"name": "a"}, {"name": "a"}], "[1].name: a is already the name of [0]"),
        ("--nodes", {"nodes": []}, "the document: must be a list in brackets"),
    ],
)
def test_a_server_with_a_bad_file_does_not_start_at_all(idle_server, tmp_path, option, document, sentence):
    refused = idle_server.run_process("server", option, write(tmp_path / "file.json", document))

    assert refused.returncode == 4
    assert refused.stderr.startswith(f"Error: {option}: {tmp_path}/file.json: ")
    assert sentence in refused.stderr
    assert not idle_server.state.exists()

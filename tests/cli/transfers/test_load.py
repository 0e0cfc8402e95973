"""`tidegate load` and `tidegate node`: looking and changing."""

import copy
import json

import pytest
import yaml

LOAD = {
    "configuration": {
        "globalConfig": 2,
        "perNodeConfig": [
            {"nodeSelector": {"matchLabels": {"disk": "slow"}, "matchExpressions": []}, "number": 1},
        ],
        "prepareQueueLength": 4,
        "restoreShare": 1,
    },
    "version": "17",
    "nodes": [
        {
            "name": "node-a",
            "ready": True,
            "slots": 4,
            "load": {"running": 1, "preparing": 2, "limit": 1, "limitedBy": "perNodeConfig[0] disk=slow"},
        },
        {
            "name": "node-b",
            "ready": False,
            "load": {"running": 0, "preparing": 0, "limit": 2, "limitedBy": "globalConfig"},
        },
    ],
    "prepareQueue": {"length": 4, "backups": 3, "restores": 1, "restoreShare": 1},
    "restores": {"inUse": 1, "limit": 5},
    "waiting": [{"phase": "New", "reason": "PrepareQueueFull", "backups": 12, "restores": 0}],
    "aFieldOfANewerServer": 1,
}
TABLE = """\
NODE    STATUS    RUNNING  PREPARING  LIMIT  LIMITED BY
node-a  Ready           1          2      1  perNodeConfig[0] disk=slow
node-b  NotReady        0          0      2  globalConfig

Prepare queue
  In use:                 4 of 4 (3 backups, 1 restore)
  Kept for restores:      1 place ahead of a node's turn

Restores
  In progress:            1 of 5

Waiting
  New, PrepareQueueFull:  12 backups, 0 restores
"""


@pytest.fixture
def load(server):
    """The server tells this load, and answers a change with node-b at 3."""
    after = copy.deepcopy(LOAD)
    after["nodes"][1]["load"]["limit"] = 3
    server.answers["GET", "/v1/load"] = (200, LOAD)
    server.answers["PUT", "/v1/load"] = (200, after)
    return server


def sent(server):
    """The query and the document of the only change."""
    ((_, _, query, body),) = [request for request in server.requests if request[0] == "PUT"]
    return query, body


def test_the_status_is_a_table_of_nodes_above_the_queue_and_who_waits(run, load):
    result = run("load", "status")

    assert (result.code, result.out, result.err) == (0, TABLE, "")


def test_the_status_comes_in_every_form(run, load):
    assert run("load", "status", "-o", "json").json == LOAD
    assert yaml.safe_load(run("load", "status", "-o", "yaml").out) == LOAD
    assert run("load", "status", "-o", "name").out == "node/node-a\nnode/node-b\n"
    lines = run("load", "status", "-o", "jsonl").out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["node-a", "node-b"]
    assert run("load", "status", "-o", "wide").out.splitlines()[1].split()[-1] == "4"


def test_watching_shows_the_whole_load_again_after_a_change(run, load):
    later = {**LOAD, "waiting": []}

    def change():
        load.answers["GET", "/v1/load"] = (200, later)
        load.put({"kind": "Node", "metadata": {"name": "node-a"}, "spec": {}, "status": {}})

    def interrupt():
        load.answers["GET", "/v1/load"] = (404, {"code": "NotFound", "detail": "gone"})
        load.put({"kind": "Node", "metadata": {"name": "node-b"}, "spec": {}, "status": {}})

    load.when_listening(lambda: (change(), load.break_streams()), interrupt)

    result = run("load", "status", "-w", "-o", "json")

    assert [json.loads(line) for line in result.out.splitlines()] == [LOAD, later]


def test_what_is_not_given_stays_and_the_change_names_the_version_that_was_read(run, load):
    result = run("load", "set", "--global", "3", "--prepare-queue", "0", "--restore-share", "2")

    query, body = sent(load)
    assert query == {"version": "17"}
    assert body == {**LOAD["configuration"], "globalConfig": 3, "prepareQueueLength": 0, "restoreShare": 2}
    assert result.err == "Changed:\n  node node-b: 2 (globalConfig) -> 3 (globalConfig)\n"
    assert "node-b  NotReady        0          0      3  globalConfig" in result.out


def test_rules_that_are_given_replace_all_rules(run, load):
    run("load", "set", "--node-rule", "disk=fast,!old:4", "--node-rule", "zone in (a,b):2")

    _, body = sent(load)
    assert body["perNodeConfig"] == [
        {
            "nodeSelector": {
                "matchLabels": {"disk": "fast"},
                "matchExpressions": [{"key": "old", "operator": "DoesNotExist", "values": []}],
            },
            "number": 4,
        },
        {
            "nodeSelector": {
                "matchLabels": {},
                "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}],
            },
            "number": 2,
        },
    ]
    assert body["globalConfig"] == 2


def test_all_rules_can_be_removed(run, load):
    run("load", "set", "--no-node-rules")

    assert sent(load)[1]["perNodeConfig"] == []


def test_a_dry_run_shows_before_and_after_and_asks_the_server_to_change_nothing(run, load):
    result = run("load", "set", "--global", "3", "--dry-run")

    assert sent(load)[0] == {"version": "17", "dryRun": "true"}
    assert result.err.splitlines()[0] == "Nothing was changed; it would be:"


def test_a_change_that_changes_no_limit_says_so(run, load):
    load.answers["PUT", "/v1/load"] = (200, LOAD)

    assert run("load", "set", "--global", "2").err == "All limits stay as they are.\n"


def test_clearing_sends_the_empty_document(run, load):
    run("load", "set", "--clear")

    assert sent(load)[1] == {}


@pytest.mark.parametrize("envelope", [False, True])
def test_a_file_is_taken_whole_in_both_of_its_forms(run, load, tmp_path, envelope):
    document = {"globalConfig": 9}
    (tmp_path / "load.json").write_text(json.dumps({"loadConcurrency": document} if envelope else document))

    assert run("load", "set", "--file", "load.json").code == 0
    assert sent(load)[1]["globalConfig"] == 9
    assert sent(load)[1]["perNodeConfig"] == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b'{"loadConcurrency": {}, "globalConfig": 2}', "globalConfig: belongs into loadConcurrency, not beside it."),
        (b"{", "not JSON: Expecting property name"),
        (b"\xff\xfe", "is not text in UTF-8."),
        (b" " * 1_000_001, "has more than 1000000 bytes; it is another file."),
        (None, "cannot be read: No such file or directory."),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_its_name_before_the_server_is_asked(
    run, load, tmp_path, content, sentence
):
    if content is not None:
        (tmp_path / "load.json").write_bytes(content)

    result = run("load", "set", "--file", "load.json")

    assert (result.code, load.requests) == (4, [])
    assert result.err.startswith(f"Error: --file: {tmp_path}/load.json")
    assert sentence in result.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "What shall be changed?"),
        (("--clear", "--global", "2"), "That is more than one way to say it."),
        (("--clear", "--file", "x"), "That is more than one way to say it."),
        (("--node-rule", "a=b:1", "--no-node-rules"), "contradict each other"),
        (("--node-rule", "disk=slow"), "--node-rule 'disk=slow' is not a rule."),
        (("--node-rule", "disk=slow:"), "is not a rule."),
        (("--node-rule", "disk=slow:two"), "is not a rule."),
        (("--node-rule", "disk=slow:-1"), "is not a rule."),
        (("--node-rule", ":2"), "is not a rule."),
        (("--node-rule", "di sk=slow:2"), "'di sk' is not a label key"),
        (("--node-rule", "disk=very slow:2"), "a value has at most 63 letters"),
        (("--node-rule", "zone in (a,b c):2"), "label zone='b c': a value has at most 63 letters"),
        (("--node-rule", "zone in ():2"), "has an empty list of values"),
        (("--global", "two"), "Invalid value for '--global'"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence_and_nothing_is_sent(run, load, words, sentence):
    result = run("load", "set", *words)

    assert (result.code, load.requests) == (2, [])
    assert sentence in result.err
    assert "validation error" not in result.err


def test_what_the_server_refuses_is_told_as_it_is(run, load):
    detail = "globalConfig: must be at least 1, not 0"
    load.answers["PUT", "/v1/load"] = (422, {"code": "InvalidInput", "detail": detail})

    result = run("load", "set", "--global", "0")

    assert (result.code, result.err) == (4, f"Error: {detail}\n")


NODE = {
    "apiVersion": "tidegate.dev/v1alpha1",
    "kind": "Node",
    "metadata": {"name": "node-a", "labels": {"disk": "slow"}},
    "spec": {"slots": 4},
    "status": {"ready": True, "load": {"running": 1, "preparing": 2, "limit": 3, "limitedBy": "globalConfig"}},
}


def test_nodes_are_rows_with_what_they_carry(run, server):
    server.put(NODE)

    assert run("node", "get").rows == [
        ["NAME", "STATUS", "RUNNING", "SLOTS", "AGE"],
        ["node-a", "Ready", "1/3", "4", "1h"],
    ]
    assert "disk=slow" in run("node", "get", "-o", "wide").out


def test_a_node_is_described_with_what_limits_it(run, server):
    server.put(NODE)

    described = run("node", "describe", "node-a").out

    assert "Running:     1 of 3" in described
    assert "Limited by:  globalConfig" in described
    assert run("node", "describe", "nobody").code == 5


def test_a_volume_can_be_on_a_node(run, server, tmp_path):
    run("volume", "create", "db", "-n", "shop", "--directory", str(tmp_path), "--node", "node-a")

    assert server.resources["volumes", "shop", "db"]["spec"]["node"] == "node-a"

"""Asking for a restore, looking at its plan, and reading what happened."""

import json

import pytest

from tidegate.model.restores.restore import RestorePhase
from tidegate.testing.resources.builders import a_restore

PLAN = ("POST", "/v1/restore-plans")


def sent(server):
    return server.resources["restores", "", "r"]["spec"]


def test_everything_that_can_be_said_is_sent(run, server):
    run(
        *("restore", "create", "r", "--from-schedule", "nightly", "--exclude-namespaces", "tmp-*"),
        *("--namespace-mappings", "shop:copy, blog:other", "--volume-order", "shop/db,shop/files"),
        *("--include-paths", "etc/**", "--include-paths", "a,b", "--force"),
    )

    assert sent(server) == {
        "scheduleName": "nightly",
        "excludedNamespaces": ["tmp-*"],
        "namespaceMapping": {"shop": "copy", "blog": "other"},
        "volumeOrder": ["shop/db", "shop/files"],
        "includedPaths": ["etc/**", "a,b"],
        "existingData": "none",
        "force": True,
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Say what to restore from"),
        (("--from-backup", "b", "--from-schedule", "s"), "Say what to restore from"),
        (("--from-backup", "b", "--namespace-mappings", "shop"), "'shop' is not a mapping"),
        (("--from-backup", "b", "--namespace-mappings", "a:b,a:c"), "a is there twice"),
    ],
)
@pytest.mark.parametrize("verb", ["create", "plan"])
def test_what_cannot_be_meant_is_wrong_usage(run, server, verb, words, sentence):
    result = run("restore", verb, *words)

    assert (result.code, sentence in result.err) == (2, True)


def test_a_restore_from_a_url_is_named_after_its_volume(run, server):
    url = "file:///store?backup=backup-1&volume=pvc-1"

    assert run("restore", "create", "--from-url", url, "--to", "/x").out == "restore/pvc-1-20260101120000\n"


VOLUME = {
    "volume": "shop/db",
    "targetVolume": "shop/db",
    "kind": "image",
    "target": "store",
    "storeBackup": "backup-1",
    "size": 2048,
    "destination": "/x",
    "place": {"state": "file", "detail": "a file of 9 bytes"},
}


def test_a_plan_without_conflicts_ends_well_and_says_when(run, server):
    waits = [{"reason": "NamespaceOverlapRunning", "message": "backup b is running and shares namespace shop"}]
    server.answers[PLAN] = (200, {"backupName": "n", "queuePosition": 2, "waits": waits, "volumes": [VOLUME]})

    result = run("restore", "plan", "--from-backup", "n")

    assert result.code == 0
    assert result.err == (
        "Nothing was changed. 1 volume of backup n would be restored after a wait at position 2 "
        "(NamespaceOverlapRunning).\n"
    )
    assert "backup b is running" in result.out
    assert "shop/db" in result.out.splitlines()[-1]


def test_a_plan_with_conflicts_tells_them_first_and_ends_with_6(run, server):
    conflict = {"volume": "shop/db", "message": "/x holds something"}
    server.answers[PLAN] = (200, {"conflicts": [conflict], "volumes": [VOLUME]})

    table, data = (
        run("restore", "plan", "--from-backup", "n"),
        run("restore", "plan", "--from-backup", "n", "-o", "json"),
    )

    assert (table.code, data.code) == (6, 6)
    assert table.out.startswith("Conflicts")
    assert json.loads(data.out)["conflicts"] == [conflict]


def test_a_restore_is_called_off_by_the_verb_cancel(run, server):
    server.put(a_restore("r", "shop"))
    server.answers["POST", "/v1/restores/r/cancel"] = (202, a_restore("r", "shop").to_wire())

    result = run("restore", "cancel", "r", "--yes")

    assert result.err == "Cancelling restore r: it leaves the queue and ends as Canceled.\n"


def test_the_log_tells_what_happened_oldest_first(run, server):
    event = {"type": "Normal", "reason": "Started", "message": "began to restore", "count": 1}
    times = {"firstTimestamp": "2026-01-01T11:30:00Z", "lastTimestamp": "2026-01-01T11:30:00Z"}
    server.put(a_restore("r", "shop", phase=RestorePhase.IN_PROGRESS), events=[event | times])

    table = run("restore", "logs", "r").out
    lines = [json.loads(line) for line in run("restore", "logs", "r", "-o", "jsonl").out.splitlines()]

    assert "began to restore" in table
    assert [line["what"] for line in lines] == ["Created", "Started"]
    assert run("restore", "logs", "nothing").code == 5

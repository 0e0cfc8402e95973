"""Three backups and one slot: a person pauses, asks why, changes the order, and calls one of them off."""

import pytest

from tidegate.format.cfgs.lock_file import LockFile, LockType
from tidegate.format.cfgs.paths import lock_key, store_volume_name
from tidegate.testing.sample_data import fill_image, fill_tree


def reasons(server):
    return [(row["name"], row["reason"]) for row in server.get("queue", "list")["waiting"]]


def test_three_backups_and_one_slot(server, tmp_path):
    (tmp_path / "store").mkdir()
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    server.tidegate("volume", "create", "docs", "-n", "home", "--directory", str(fill_tree(tmp_path / "docs")))
    server.tidegate("queue", "pause")
    for name in ("b1", "b2", "b3"):
        server.tidegate("backup", "create", name, "--include-namespaces", "home")
        server.wait_for_log("backup queued", backup=name)

    assert reasons(server) == [("b1", "Paused"), ("b2", "Paused"), ("b3", "Paused")]
    explained = server.get("queue", "explain", "b2")
    assert [one["reason"] for one in explained["obstacles"]] == ["Paused", "NamespaceOverlapQueued"]
    assert [one["name"] for one in explained["endsFirst"]] == ["b1"]
    server.tidegate("queue", "move", "b3", "--to", "1")
    server.tidegate("backup", "cancel", "b1", "--yes", "--wait", "--timeout", "60s")
    assert server.tidegate("queue", "list", "-o", "name") == "backup/b3\nbackup/b2\n"

    server.tidegate("queue", "resume")
    server.tidegate("backup", "wait", "b2", "--timeout", "60s")

    started = [server.get("backup", "get", name)["status"]["startTimestamp"] for name in ("b3", "b2")]
    assert started == sorted(started)
    refused = server.run("backup", "cancel", "b3", "--yes")
    assert (refused.returncode, "backup b3 is Completed" in refused.stderr) == (6, True)


def test_two_that_wait_for_each_other_by_their_patterns_name_them_and_no_invented_namespace(server, tmp_path):
    (tmp_path / "store").mkdir()
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    for namespace in ("qa-docs", "shop-prod"):
        server.tidegate("volume", "create", "v", "-n", namespace, "--directory", str(fill_tree(tmp_path / namespace)))
    server.tidegate("queue", "pause")
    server.tidegate("backup", "create", "tests", "--include-namespaces", "qa-*")
    server.wait_for_log("backup queued", backup="tests")
    sentence = "backup tests is ahead in the queue, and `*-prod` and `qa-*` can match the same namespace"

    server.tidegate("backup", "create", "shops", "--include-namespaces", "*-prod")
    server.wait_for_log("backup queued", backup="shops")

    overlap = server.get("queue", "explain", "shops")["obstacles"][1]
    assert (overlap["message"], overlap["shared"]) == (sentence, ["*-prod", "qa-*"])
    assert sentence in server.tidegate("queue", "explain", "shops")
    with server.client() as client:
        assert client.get("/v1/queue/shops").json()["obstacles"][1] == overlap


def test_the_limit_of_the_command_line_wins_at_each_start_over_what_was_set(idle_server):
    def limit():
        return idle_server.get("setting", "get", "concurrent-backups")["spec"]["value"]

    idle_server.start("--concurrent-backups", "3")
    assert limit() == "3"
    idle_server.tidegate("setting", "set", "concurrent-backups", "5")
    idle_server.stop()
    idle_server.start()
    assert limit() == "5"
    idle_server.stop()
    idle_server.start("--concurrent-backups", "2")
    assert limit() == "2"


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_a_limit_that_lets_nothing_run_is_refused_at_the_start(idle_server, value):
    refused = idle_server.run_process("server", "--concurrent-backups", value)

    assert refused.returncode == 4
    assert f"--concurrent-backups: {value!r} must be a whole number of at least 1" in refused.stderr


def test_a_backup_that_runs_is_called_off_and_the_next_one_starts(server, tmp_path):
    store = tmp_path / "store"
    store.mkdir()
    fill_image(tmp_path / "image")
    server.tidegate("target", "create", "disk", str(store))
    server.tidegate("volume", "create", "image", "-n", "vm", "--image", str(tmp_path / "image"))
    # Somebody else deletes in the volume: however fast the machine is, the mover is at work when it is cancelled.
    lock = store / lock_key(store_volume_name("vm", "image"), "lock-0123456789abcdef")
    lock.parent.mkdir(parents=True)
    lock.write_bytes(LockFile("lock-0123456789abcdef", LockType.DELETION, acquired=True).encode())
    server.tidegate("backup", "create", "runs")
    server.wait_for_phase("DataUpload", "InProgress")
    server.tidegate("backup", "create", "next")
    server.wait_for_log("backup queued", backup="next")
    assert reasons(server) == [("next", "NamespaceOverlapRunning")]

    # The lock goes only when the mover has: one that found the volume free could be done before it is told to stop.
    server.tidegate("backup", "cancel", "runs", "--yes", "--wait", "--timeout", "60s")
    lock.unlink()
    server.tidegate("backup", "wait", "next", "--timeout", "60s")

    called_off = server.get("backup", "get", "runs")["status"]
    assert (called_off["phase"], called_off["failureReason"]) == (
        "Canceled",
        "cancelled on request; 0 of 1 volumes were done",
    )
    assert server.get("backup", "get", "next")["status"]["phase"] == "Completed"
    with server.client() as client:
        uploads = client.get("/v1/datauploads").json()["data"]
    assert sorted(upload["status"]["phase"] for upload in uploads) == ["Canceled", "Completed"]
    assert len(list(store.rglob("backup_*.cfg"))) == 1
    assert list(store.rglob("*.lck")) == []
    verified = server.run("store", "verify", str(store))
    assert verified.returncode == 0, verified

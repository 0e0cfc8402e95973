"""kill -9 between any two steps of a backup, then a restart: nothing lost, nothing doubled."""

import json
from collections import Counter

import pytest

from tidegate.testing.sample_data import fill_image, fill_tree, picture

# A backup of two volumes makes about this many stored changes; the last kills come after its end.
STEPS = [0, 1, 2, 3, 4, 6, 8, 10, 12, 15]


def changes(server):
    """Every stored change, as it happens."""
    with server.client() as client, client.stream("GET", "/v1/events", params={"since": "0"}) as stream:
        yield "connected"
        for line in stream.iter_lines():
            if line.startswith("data:"):
                yield json.loads(line.removeprefix("data:"))


def kill_after(server, steps):
    """Kill the server right after the backup and its transfers have changed `steps` times more."""
    seen = changes(server)
    next(seen)
    body = {"metadata": {"name": "b"}, "spec": {"includedNamespaces": ["home"]}}
    with server.client() as client:
        assert client.post("/v1/backups", json=body).status_code == 201
    if steps:
        wanted = {"Backup", "DataUpload", "PodVolumeBackup"}
        for resource in seen:
            steps -= resource["kind"] in wanted
            over = resource["kind"] == "Backup" and resource["status"]["phase"] in {"Completed", "Failed"}
            if steps <= 0 or over:
                break
    server.kill()
    seen.close()


@pytest.mark.parametrize("steps", STEPS)
def test_a_backup_whose_server_is_killed_ends_honestly_and_the_store_stays_whole(server, tmp_path, steps):
    (tmp_path / "store").mkdir()
    docs, disk = fill_tree(tmp_path / "docs"), fill_image(tmp_path / "disk.img")
    load = {"metadata": {"name": "load-concurrency"}, "spec": {"value": '{"globalConfig": 4}'}}
    with server.client() as client:
        client.put("/v1/settings/load-concurrency", json=load).raise_for_status()
        target = {"metadata": {"name": "disk"}, "spec": {"url": f"file://{tmp_path}/store"}}
        client.post("/v1/backuptargets", json=target).raise_for_status()
        for name, spec in (("docs", {"directory": str(docs)}), ("disk", {"image": str(disk)})):
            volume = {"metadata": {"name": name, "namespace": "home"}, "spec": spec}
            client.post("/v1/volumes", json=volume).raise_for_status()

    kill_after(server, steps)
    server.start()
    ended = server.run("backup", "wait", "b", "--timeout", "60s")
    backup = server.get("backup", "get", "b")

    assert backup["status"]["phase"] in {"Completed", "Failed"}
    assert ended.returncode == (0 if backup["status"]["phase"] == "Completed" else 1)
    if backup["status"]["phase"] == "Failed":
        assert backup["status"]["failureReason"] == "the server stopped while this was in progress"
        server.tidegate("backup", "delete", "b", "--yes", "--wait", "--timeout", "200s")
        server.tidegate("backup", "create", "b", "--include-namespaces", "home", "--wait")
    cfgs = [json.loads(path.read_text()) for path in (tmp_path / "store").rglob("backup_*.cfg")]
    assert Counter(cfg["VolumeName"] for cfg in cfgs) == {"home.docs": 1, "home.disk": 1}
    assert all(cfg["CreatedTime"] for cfg in cfgs)
    server.tidegate("restore", "create", "--from-backup", "b", "--to", str(tmp_path / "back"), "--wait")
    assert picture(tmp_path / "back" / "home" / "docs") == picture(docs)
    assert (tmp_path / "back" / "home" / "disk").read_bytes() == disk.read_bytes()

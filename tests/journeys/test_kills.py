"""kill -9 between any two steps of a backup, then a restart: nothing lost, nothing doubled."""

import json
from collections import Counter

import pytest

from tidegate.testing.sample_data import fill_image, fill_tree, picture

# A backup of two volumes makes about this many stored changes; the last kills come after its end.
STEPS = [0, 1, 2, 3, 4, 6, 8, 10, 12, 15]
# Each round is about a namespace, volumes and a backup of its own, so several can share a server: what the earlier ones
# left must not matter.
ROUNDS_PER_SERVER = 5
GROUPS = [tuple(STEPS[place::2]) for place in range(len(STEPS) // ROUNDS_PER_SERVER)]


def changes(server):
    """Every stored change from now on, as it happens."""
    with server.client() as client, client.stream("GET", "/v1/events") as stream:
        yield "connected"
        for line in stream.iter_lines():
            if line.startswith("data:"):
                yield json.loads(line.removeprefix("data:"))


def kill_after(server, name, steps):
    """Kill the server right after the backup and its transfers have changed `steps` times more."""
    seen = changes(server)
    next(seen)
    with server.client() as client:
        body = {"metadata": {"name": name}, "spec": {"includedNamespaces": [name]}}
        created = client.post("/v1/backups", json=body)
        assert created.status_code == 201
    uid = created.json()["metadata"]["uid"]
    for resource in seen if steps else ():
        metadata = resource["metadata"]
        steps -= uid in {metadata["uid"], *(owner["uid"] for owner in metadata.get("ownerReferences", ()))}
        over = metadata["uid"] == uid and resource["status"]["phase"] in {"Completed", "Failed"}
        if steps <= 0 or over:
            break
    server.kill()
    seen.close()


def protect(server, place, name):
    """A tree and an image in a namespace of this name."""
    place.mkdir()
    docs, disk = fill_tree(place / "docs"), fill_image(place / "disk.img")
    with server.client() as client:
        for volume, spec in (("docs", {"directory": str(docs)}), ("disk", {"image": str(disk)})):
            body = {"metadata": {"name": volume, "namespace": name}, "spec": spec}
            client.post("/v1/volumes", json=body).raise_for_status()
    return docs, disk


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_a_backup_whose_server_is_killed_ends_honestly_and_the_store_stays_whole(server, tmp_path, group):
    store = tmp_path / "store"
    store.mkdir()
    server.tidegate("setting", "set", "load-concurrency", '{"globalConfig": 4}')
    server.tidegate("target", "create", "disk", str(store))
    for steps in group:
        name = f"after-{steps}"
        docs, disk = protect(server, tmp_path / name, name)

        kill_after(server, name, steps)
        server.start()
        ended = server.run("backup", "wait", name, "--timeout", "60s")

        status = server.get("backup", "get", name)["status"]
        assert status["phase"] in {"Completed", "Failed"}
        assert ended.returncode == (0 if status["phase"] == "Completed" else 1)
        if status["phase"] == "Failed":
            assert status["failureReason"] == "the server stopped while this was in progress"
            server.tidegate("backup", "delete", name, "--yes", "--wait", "--timeout", "200s")
            server.tidegate("backup", "create", name, "--include-namespaces", name, "--wait")
        back = tmp_path / "back"
        server.tidegate("restore", "create", "--from-backup", name, "--to", str(back), "--wait")
        assert picture(back / name / "docs") == picture(docs)
        assert (back / name / "disk").read_bytes() == disk.read_bytes()

    cfgs = [json.loads(path.read_text()) for path in store.rglob("backup_*.cfg")]
    wanted = Counter(f"after-{steps}.{volume}" for steps in group for volume in ("docs", "disk"))
    assert Counter(cfg["VolumeName"] for cfg in cfgs) == wanted
    assert all(cfg["CreatedTime"] for cfg in cfgs)

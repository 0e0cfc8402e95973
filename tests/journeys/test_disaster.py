"""The machine is lost, with everything on it but the store: a new server, one target, one command."""

import json
import shutil

import pytest

from tidegate.testing.sample_data import fill_image, fill_tree, picture

NAMESPACES = ("shop", "blog", "vm")


@pytest.fixture
def data(tmp_path):
    """Where each of the twelve volumes is, by NAMESPACE/NAME: trees and images in three namespaces."""
    places = {}
    for number, namespace in enumerate(NAMESPACES):
        (tmp_path / "data" / namespace).mkdir(parents=True)
        for nth in (1, 2):
            tree, image = (tmp_path / "data" / namespace / f"{kind}{nth}" for kind in ("tree", "image"))
            places[f"{namespace}/tree{nth}"] = fill_tree(tree, seed=10 * number + nth)
            places[f"{namespace}/image{nth}"] = fill_image(image, 4 * 1024 * 1024 + 1000 * number + nth)
    return places


def pictures(data):
    return {name: picture(path) if path.is_dir() else path.read_bytes() for name, path in data.items()}


@pytest.fixture
def protected(server, data, tmp_path):
    (tmp_path / "store").mkdir()
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    for name, path in data.items():
        kind = "--directory" if path.is_dir() else "--image"
        server.tidegate("volume", "create", name, kind, str(path), "--labels", f"app={name.split('/')[0]}")
    server.tidegate("setting", "set", "item-block-worker-count", "2")
    server.tidegate("setting", "set", "concurrent-backup-restore-limit", "1")
    server.tidegate("schedule", "create", "nightly", "--schedule", "0 3 * * *", "--keep-daily", "7")
    server.tidegate("schedule", "create", "system", "--schedule", "@weekly", "--system-backup", "if-changed")
    return server


def definitions(server):
    """Everything that people wrote, without what belongs to one server."""
    return {
        noun: [
            (wire["metadata"].get("namespace"), wire["metadata"]["name"], wire["metadata"].get("labels"), wire["spec"])
            for wire in server.get(noun, "get")["items"]
        ]
        for noun in ("volume", "schedule", "namespace")
    }


def cfgs(store, volume):
    """The cfgs of one volume's backups, oldest first."""
    namespace, _, name = volume.partition("/")
    found = (store / "backupstore" / "volumes").glob(f"*/*/{namespace}.{name}/backups/backup_*.cfg")
    read = [json.loads(path.read_bytes()) for path in found]
    return sorted(read, key=lambda cfg: cfg["CreatedTime"])


def blocks(cfg):
    return {block["BlockChecksum"] for block in cfg["Blocks"]}


def lose_everything(server, tmp_path):
    server.kill()
    server.state.rename(tmp_path / "lost")  # not deleted: its last process is still closing its files
    shutil.rmtree(tmp_path / "data")
    for namespace in NAMESPACES:
        (tmp_path / "data" / namespace).mkdir(parents=True)


def test_everything_comes_back_byte_for_byte_and_the_next_backup_is_incremental(protected, data, tmp_path):
    server, before, defined = protected, pictures(data), definitions(protected)
    server.tidegate("system", "backup", "create", "weekly", "--wait", "--timeout", "240s")
    lose_everything(server, tmp_path)

    server.start()
    server.tidegate("target", "create", "rescue", str(tmp_path / "store"))
    server.tidegate("setting", "set", "concurrent-backup-restore-limit", "3")
    server.tidegate("system", "restore", "create", "back", "--from", "weekly", "--wait", "--timeout", "240s")

    assert pictures(data) == before
    assert definitions(server) == defined
    assert server.get("setting", "get", "item-block-worker-count")["spec"]["value"] == "2"
    assert server.get("setting", "get", "concurrent-backup-restore-limit")["spec"]["value"] == "3"
    assert [wire["metadata"]["name"] for wire in server.get("target", "get")["items"]] == ["disk", "rescue"]

    made = server.tidegate("schedule", "run-now", "nightly", "-o", "name").strip().removeprefix("backup/")
    server.tidegate("backup", "wait", made, "--timeout", "240s")
    for volume, path in data.items():
        first, second = (blocks(cfg) for cfg in cfgs(tmp_path / "store", volume))
        # A tree has a new list of its files, for these have other inodes now; their contents are in the store.
        assert len(second - first) <= path.is_dir(), volume


def test_a_plan_is_shown_first_and_a_volume_that_cannot_come_back_stops_no_other(protected, data, tmp_path):
    server, before = protected, pictures(data)
    server.tidegate("system", "backup", "create", "weekly", "--wait", "--timeout", "240s")
    for cfg in (tmp_path / "store").rglob("shop.tree1/backups/backup_*.cfg"):
        cfg.unlink()
    lose_everything(server, tmp_path)
    server.start()
    server.tidegate("target", "create", "rescue", str(tmp_path / "store"))

    plan = server.run("system", "restore", "create", "--from", "weekly", "--dry-run")
    assert (plan.returncode, server.get("volume", "get")["items"]) == (0, [])
    assert plan.stdout.count("comes back") == 12
    ended = server.run("system", "restore", "create", "back", "--from", "weekly", "--wait", "--timeout", "240s")

    assert (ended.returncode, "volume shop/tree1" in ended.stderr) == (3, True)
    there = {name: path for name, path in data.items() if name != "shop/tree1"}
    assert pictures(there) == {name: shown for name, shown in before.items() if name != "shop/tree1"}
    assert "Failed" in server.tidegate("system", "restore", "describe", "back")


def test_a_new_machine_finds_what_the_lost_one_wrote_without_being_told(protected, tmp_path):
    server = protected
    server.tidegate("system", "backup", "create", "aa", "--volume-backup-policy", "disabled", "--wait")
    server.tidegate("system", "backup", "create", "aaa", "--volume-backup-policy", "disabled", "--wait")
    lose_everything(server, tmp_path)
    server.start()
    server.tidegate("target", "create", "rescue", str(tmp_path / "store"))

    server.wait_for_log("system backups found")
    server.tidegate("system", "backup", "wait", "aa", "aaa", "--timeout", "60s")
    server.tidegate("system", "backup", "delete", "aa", "--yes", "--wait", "--timeout", "60s")

    assert [wire["metadata"]["name"] for wire in server.get("system", "backup", "get")["items"]] == ["aaa"]
    assert [path.parent.name for path in (tmp_path / "store").rglob("system-backup.*")] == ["aaa", "aaa"]

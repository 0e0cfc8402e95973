"""Restores on real servers while backups move that end only when the test lets them."""

import json
from random import Random

import pytest

from tidegate.app.machine.clock import SystemClock
from tidegate.testing.machine.server_process import FROM_THE_BEGINNING

NODES = [{"name": f"node-{letter}"} for letter in "abcd"]
LOAD = {"globalConfig": 1, "prepareQueueLength": 2, "restoreShare": 1}
TRANSFERS = {"DataUpload", "DataDownload"}
PATIENCE_SECONDS = 60
# What does not get smaller takes twice as long as any test waits, at the lowest limit that can be set.
LONG_BYTES = 2 * PATIENCE_SECONDS * 64 * 1024
CLOCK = SystemClock()


class Works:
    """A server with a backup `old` of `old/disk` to restore, whose further uploads do not end."""

    def __init__(self, server, root):
        self.server, self.root = server, root
        (root / "store").mkdir()
        server.tidegate("target", "create", "disk", str(root / "store"))
        for name, value in [("concurrent-backups", "9"), ("item-block-worker-count", "9")]:
            server.tidegate("setting", "set", name, value)

    def back_up_old(self, *, node=None):
        self.volume("old/disk", node=node)
        self.server.tidegate("backup", "create", "old", "--include-namespaces", "old", "--wait", "--timeout", "60s")
        self.server.tidegate("setting", "set", "limit-upload", "64KiB")

    def volume(self, name, *, node=None):
        image = self.root / f"{name.replace('/', '-')}.img"
        image.write_bytes(Random(name).randbytes(LONG_BYTES))
        on = ("--node", node) if node else ()
        self.server.tidegate("volume", "create", name, "--image", str(image), *on)

    def back_up(self, namespace):
        self.server.tidegate("backup", "create", namespace, "--include-namespaces", namespace)

    def restore(self, *options):
        place = str(self.root / "back")
        self.server.tidegate("restore", "create", "r", "--from-backup", "old", "--to", place, *options)

    def until(self, is_so):
        """The phases of all transfers by name, each time that one changes, until it is so; and the last look."""
        until, phases, started = CLOCK.monotonic() + PATIENCE_SECONDS, {}, []
        with (
            self.server.client() as client,
            client.stream("GET", "/v1/events", params={"since": FROM_THE_BEGINNING}) as stream,
        ):
            for line in stream.iter_lines():
                assert CLOCK.monotonic() < until, f"not so within {PATIENCE_SECONDS} seconds: {phases}"
                one = json.loads(line.removeprefix("data:")) if line.startswith("data:") else {"kind": ""}
                if one["kind"] not in TRANSFERS:
                    continue
                name, phase = one["spec"]["volumeNamespace"], one["status"]["phase"]
                name = "restore" if one["kind"] == "DataDownload" else f"{name}/{one['spec']['volumeName']}"
                if phase == "InProgress" != phases.get(name):
                    started.append(name)
                phases[name] = phase
                if is_so(phases):
                    return phases, started
        raise AssertionError("the events ended")


@pytest.fixture
def four_nodes(idle_server, tmp_path):
    (tmp_path / "nodes.json").write_text(json.dumps(NODES))
    (tmp_path / "load.json").write_text(json.dumps({"loadConcurrency": LOAD}))
    options = ("--nodes", str(tmp_path / "nodes.json"), "--load-config", str(tmp_path / "load.json"))
    return Works(idle_server.start(*options), tmp_path)


def test_a_restore_moves_after_the_one_transfer_that_moves_on_its_node_and_before_all_older_ones(four_nodes):
    works = four_nodes
    works.back_up_old(node="node-a")
    disks = [f"vms/d{number}" for number in range(8)]
    for disk in disks:
        works.volume(disk, node="node-a")
    works.back_up("vms")
    full = ["InProgress", *["New"] * 6, "Prepared"]
    works.until(lambda phases: sorted(phases.get(disk, "") for disk in disks) == full)

    works.restore()
    works.until(lambda phases: "restore" in phases)
    works.server.tidegate("setting", "set", "limit-upload", "0")
    _, started = works.until(lambda phases: phases.get("restore") == "Completed" and "New" not in phases.values())

    assert started.index("restore") == 2, started  # after `old`, and the one that moved


def test_transfers_for_a_full_node_hold_up_no_other_node(four_nodes):
    works = four_nodes
    works.back_up_old(node="node-c")
    disks = [f"full/d{number}" for number in range(4)]
    for disk in disks:
        works.volume(disk, node="node-a")
    works.volume("second/disk", node="node-b")
    works.volume("fourth/disk", node="node-d")
    works.back_up("full")
    full = ["InProgress", "New", "New", "Prepared"]
    works.until(lambda phases: sorted(phases.get(disk, "") for disk in disks) == full)

    for namespace in ("second", "fourth"):
        works.back_up(namespace)
    works.restore("--wait", "--timeout", "60s")
    phases, started = works.until(
        lambda phases: {phases.get(f"{name}/disk") for name in ("second", "fourth")} == {"InProgress"}
    )

    assert sorted(phases[disk] for disk in disks) == full
    assert sum(name in disks for name in started) == 1


def test_by_default_a_restore_does_not_wait_for_a_running_backup_of_another_volume(server, tmp_path):
    works = Works(server, tmp_path)
    works.back_up_old()
    works.volume("slow/disk")
    works.back_up("slow")
    works.until(lambda phases: phases.get("slow/disk") == "InProgress")

    works.restore("--wait", "--timeout", "60s")

    assert server.get("backup", "get", "slow")["status"]["phase"] == "InProgress"
    assert server.get("restore", "get", "r")["status"]["phase"] == "Completed"

"""A target on a real mount that goes away: nothing is written below it, and everything waits for it."""

import itertools
import json
import subprocess

import pytest


class Share:
    """A directory that is mounted somewhere, or is not."""

    def __init__(self, root):
        self.place = root / "mnt"
        self.place.mkdir()
        self.disk = self.another(root, "disk")
        self.mounted = 0

    @staticmethod
    def another(root, name):
        disk = root / name
        disk.mkdir()
        return disk

    def mount(self, disk=None, *options):
        done = mount("--bind", disk or self.disk, self.place)
        if done.returncode == 0 and options:
            done = mount("-o", ",".join(("remount", "bind", *options)), self.place)
        if done.returncode != 0:
            pytest.skip(f"mounting is not allowed here: {done.stderr.strip()}")
        self.mounted += 1

    def unmount(self):
        subprocess.run(["umount", "-l", self.place], check=True)
        self.mounted -= 1

    @property
    def below(self):
        """What lies in the place itself; only while nothing is mounted there."""
        assert not self.mounted
        return sorted(self.place.rglob("*"))


def mount(*words):
    return subprocess.run(["mount", *words], capture_output=True, text=True, check=False)


@pytest.fixture
def share(tmp_path):
    share = Share(tmp_path)
    share.mount()
    yield share
    while share.mounted:
        share.unmount()


@pytest.fixture
def shop(server, share, tmp_path):
    """A server with one finished backup on the share."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.txt").write_text("one")
    server.tidegate("target", "create", "usb", str(share.place), "--default")
    server.tidegate("volume", "create", "shop/db", "--directory", str(data))
    server.tidegate("backup", "create", "first", "--wait")
    server.tidegate("target", "sync", "usb", "--wait")
    return server


def ask(server, name):
    server.tidegate("backup", "create", name)


def wait_until(server, noun, *, holds):
    """Return the first of these for which it holds, now or when it changes."""
    with server.client() as client, client.stream("GET", "/v1/events") as stream:
        lines = stream.iter_lines()
        next(lines)  # from here on no change is missed
        now = server.get(noun, "get")["items"]
        changed = (json.loads(line.removeprefix("data:")) for line in lines if line.startswith("data:"))
        kinds = {"target": {"BackupTarget"}, "backup": {"Backup"}, "transfer": {"PodVolumeBackup"}}[noun]
        found = itertools.chain(now, (one for one in changed if one["kind"] in kinds))
        return next(one for one in found if holds(one))


def available(server, *, reason):
    def holds(target):
        conditions = target["status"]["conditions"]
        return any(one["type"] == "Available" and one["reason"] == reason for one in conditions)

    return wait_until(server, "target", holds=holds)


def waits(server, noun, name, reason):
    def holds(one):
        conditions = one["status"].get("conditions", [])
        return name in one["metadata"]["name"] and any(
            condition["type"] == "Waiting" and condition["reason"] == reason for condition in conditions
        )

    return wait_until(server, noun, holds=holds)


def completed(server, name):
    def holds(backup):
        return backup["metadata"]["name"] == name and backup["status"]["phase"] == "Completed"

    return wait_until(server, "backup", holds=holds)


def backups_on(disk):
    return sorted(path.name for path in disk.rglob("backup_*.cfg"))


def test_a_backup_whose_share_is_not_mounted_waits_and_nothing_is_written_below_it(shop, share):
    share.unmount()
    ask(shop, "late")  # before anybody has looked: its mover is the first to notice

    waits(shop, "transfer", "late", "StoreIdentityMissing")
    target = available(shop, reason="StoreIdentityMissing")
    assert "mount it" in target["status"]["message"]
    assert "tidegate target adopt usb" in target["status"]["message"]
    assert share.below == []
    (known,) = shop.get("catalog", "status")["targets"]
    assert known["backups"] == 1

    share.mount()
    completed(shop, "late")
    assert len(backups_on(share.disk)) == 2


def test_after_a_restart_without_the_share_backups_wait_until_it_is_mounted_again(shop, share):
    shop.stop()
    share.unmount()
    shop.start()
    available(shop, reason="StoreIdentityMissing")
    ask(shop, "late")
    waits(shop, "backup", "late", "StoreIdentityMissing")
    shop.kill()
    shop.start()
    waits(shop, "backup", "late", "StoreIdentityMissing")
    assert shop.run("target", "sync", "usb", "--wait", "--timeout", "1s").returncode != 0
    assert shop.get("backup", "get", "late")["status"]["phase"] == "Queued"
    assert share.below == []

    share.mount()
    completed(shop, "late")
    shop.tidegate("target", "sync", "usb", "--wait")
    (known,) = shop.get("catalog", "status")["targets"]
    assert (known["backups"], known["heldBack"]) == (2, "")


def test_another_share_at_the_same_place_is_written_to_only_when_a_person_adopts_it(shop, share, tmp_path):
    share.unmount()
    other = share.another(tmp_path, "other")
    share.mount(other)
    ask(shop, "late")
    waits(shop, "transfer", "late", "StoreIdentityMissing")
    available(shop, reason="StoreIdentityMissing")
    assert list(other.rglob("*")) == []

    adopted = shop.run("target", "adopt", "usb", "--yes")

    assert (adopted.returncode, "nothing that has an identity" in adopted.stderr) == (0, True)
    completed(shop, "late")
    assert len(backups_on(other)) == 1
    shop.tidegate("target", "sync", "usb", "--wait")
    (known,) = shop.get("catalog", "status")["targets"]
    assert (known["backups"], known["heldBack"]) == (1, "")


def test_a_store_that_is_mounted_read_only_takes_no_identity_and_is_restored_from(server, share, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("one")
    url = server.tidegate(
        "store", "backup", str(tmp_path / "data"), "--to", str(share.place), "--volume", "v-1"
    ).strip()
    share.unmount()
    share.mount(None, "ro")

    server.tidegate("target", "create", "usb", str(share.place))

    target = wait_until(server, "target", holds=lambda one: one["status"].get("available") is not None)
    assert (target["status"]["available"], target["status"]["store"]["identity"]) == (True, "")
    server.tidegate("target", "sync", "usb", "--wait")
    assert server.get("catalog", "search", "--target", "usb", "--count")["backups"] == 1
    server.tidegate("restore", "create", "r", "--from-url", url, "--to", str(tmp_path / "back"), "--wait")
    assert [file.read_text() for file in (tmp_path / "back").rglob("a.txt")] == ["one"]

"""A store that hangs in the middle of a backup, a restore, a sync or a delete holds up that work and nothing else."""

import random

import pytest

from tidegate.testing.sample_data import fill_tree, picture
from tidegate.testing.stores.distance import Distance

MIB = 1024 * 1024
PATIENCE = "200s"


class TwoStores:
    """A volume whose backups go to a bucket behind a line, and one whose backups go to a disk."""

    def __init__(self, server, home, line, bucket):
        self.server, self.home, self.line, self.bucket = server, home, line, bucket
        (home / "store").mkdir()
        server.tidegate("target", "create", "disk", str(home / "store"))
        self.docs, self.far = fill_tree(home / "docs"), home / "far.img"
        self.change()
        server.tidegate("volume", "create", "near/docs", "--directory", str(self.docs))
        server.tidegate("volume", "create", "far/data", "--image", str(self.far))
        server.tidegate("setting", "set", "load-concurrency", '{"globalConfig": 2}')
        server.tidegate("setting", "set", "concurrent-backups", "2")
        self.count = 0

    def change(self):
        self.far.write_bytes(random.Random(str(self.far)).randbytes(8 * MIB))

    def far_backup(self, name, *words):
        backup = ("backup", "create", name, "--include-namespaces", "far", "--storage-location", "far", *words)
        return self.server.tidegate(*backup)

    def assert_the_rest_works(self):
        """A server whose far store hangs answers, and backs up and restores what is near."""
        self.count += 1
        name, place = f"near-{self.count}", self.home / f"near-{self.count}"
        near = ("--include-namespaces", "near", "--storage-location", "disk", "--wait", "--timeout", PATIENCE)
        self.server.tidegate("backup", "create", name, *near)
        self.server.tidegate("restore", "create", "--from-backup", name, "--to", str(place), "--wait")
        assert picture(place / "near" / "docs") == picture(self.docs)
        with self.server.client() as client:
            assert client.get("/readyz").status_code == 200

    def phase(self, noun, name):
        return self.server.get(*noun.split(), "get", name)["status"]["phase"]

    def assert_far_restores(self, name):
        place = self.home / f"back-{name}"
        self.server.tidegate("restore", "create", "--from-backup", name, "--to", str(place), "--wait")
        assert (place / "far" / "data").read_bytes() == self.far.read_bytes()


@pytest.fixture
def stores(server, rclone, bucket, tmp_path):
    with Distance(rclone.endpoint) as line:
        secret = server.state / "secrets" / "far"
        secret.parent.mkdir(mode=0o700, exist_ok=True)
        words = rclone.credentials(AWS_ENDPOINTS=line.url)
        secret.write_text("".join(f"{key}={value}\n" for key, value in words.items()))
        secret.chmod(0o600)
        url = f"s3://{bucket}@us-east-1/backups/"
        server.tidegate("target", "create", "far", url, "--credential-secret", "far")
        yield TwoStores(server, tmp_path, line, rclone.root / "buckets" / bucket)
        server.stop()


def test_a_backup_whose_store_hangs_goes_on_when_the_store_does(stores):
    hung = stores.line.after(20, stores.line.hang)
    stores.far_backup("first")
    assert hung.wait(60)

    stores.assert_the_rest_works()
    assert stores.phase("backup", "first") == "InProgress"
    stores.line.mend()

    stores.server.tidegate("backup", "wait", "first", "--timeout", PATIENCE)
    stores.assert_far_restores("first")


def test_a_backup_whose_store_hangs_can_be_cancelled_and_cleans_up_when_the_store_goes_on(stores):
    hung = stores.line.after(20, stores.line.hang)
    stores.far_backup("first")
    assert hung.wait(60)

    stores.server.tidegate("backup", "cancel", "first", "--yes")
    stores.assert_the_rest_works()
    stores.line.mend()
    ended = stores.server.run("backup", "wait", "first", "--timeout", PATIENCE)

    assert (ended.returncode, stores.phase("backup", "first")) == (1, "Canceled"), ended.stderr
    assert list(stores.bucket.rglob("backup_*.cfg")) == []
    stores.far_backup("second", "--wait", "--timeout", PATIENCE)
    stores.assert_far_restores("second")


def test_a_restore_whose_store_hangs_goes_on_when_the_store_does(stores):
    stores.far_backup("first", "--wait")
    place = stores.home / "back"
    hung = stores.line.after(6, stores.line.hang)
    stores.server.tidegate("restore", "create", "back", "--from-backup", "first", "--to", str(place))
    assert hung.wait(60)

    stores.assert_the_rest_works()
    assert stores.phase("restore", "back") == "InProgress"
    assert not (place / "far" / "data").exists()
    stores.line.mend()

    stores.server.tidegate("restore", "wait", "back", "--timeout", PATIENCE)
    assert (place / "far" / "data").read_bytes() == stores.far.read_bytes()


def test_a_sync_that_hangs_forgets_nothing_and_ends_when_the_store_goes_on(stores):
    stores.far_backup("first", "--wait")
    stores.server.tidegate("target", "sync", "far", "--wait")
    known = stores.server.get("catalog", "search", "--target", "far")["items"]
    hung = stores.line.after(1, stores.line.hang)
    stores.server.tidegate("target", "sync", "far")
    assert hung.wait(60)

    stores.assert_the_rest_works()
    assert stores.server.get("catalog", "search", "--target", "far")["items"] == known != []
    stores.line.mend()

    stores.server.tidegate("target", "sync", "far", "--wait", "--timeout", PATIENCE)
    stores.assert_far_restores("first")


def test_a_delete_whose_store_hangs_is_done_when_the_store_goes_on_and_takes_nothing_else(stores):
    stores.far_backup("first", "--wait")
    stores.far_backup("second", "--wait")
    hung = stores.line.after(8, stores.line.hang)
    stores.server.tidegate("backup", "delete", "first", "--yes")
    assert hung.wait(60)

    stores.assert_the_rest_works()
    stores.line.mend()

    gone = stores.server.run("backup", "delete", "first", "--yes", "--wait", "--timeout", PATIENCE)
    assert gone.returncode in {0, 5}, gone.stderr
    stores.assert_far_restores("second")

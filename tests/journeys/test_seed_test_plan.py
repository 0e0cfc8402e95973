"""The test plan of the catalogue's design, step by step: a real S3 server behind a long way, real processes.

Here with few volumes and a short way; `make bench-catalogue` measures lists, syncs and deletes at the full size.
"""

import json

import pytest

from tidegate.app.machine.clock import SystemClock
from tidegate.format.cfgs.paths import backup_cfg_key, volume_dir
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.open import open_store
from tidegate.testing.stores.distance import Distance
from tidegate.testing.stores.stored_samples import backup_name, volume_name, write_volumes

VOLUMES, BACKUPS = 30, 30
WAY_SECONDS = 0.02
PATIENCE_SECONDS = 60
CLOCK = SystemClock()
GONE, KEPT = volume_name(7), volume_name(8)
OLD, NEW = backup_name(3), backup_name(4)


class FarStore:
    """A server whose only target is far away, and the store as a person beside it sees it."""

    def __init__(self, server, rclone, bucket):
        self.server = server
        self.root = rclone.root / "buckets" / bucket / "backups"
        self.objects = open_store(
            TargetAccess(url=f"s3://{bucket}@us-east-1/backups/", credentials=rclone.credentials())
        )
        self.bucket = bucket

    def connect(self, credentials):
        secret = self.server.state / "secrets" / "far"
        secret.parent.mkdir(mode=0o700, exist_ok=True)
        secret.write_text("".join(f"{key}={value}\n" for key, value in credentials.items()))
        secret.chmod(0o600)
        url = f"s3://{self.bucket}@us-east-1/backups/"
        self.server.tidegate(
            *("target", "create", "far", url, "--credential-secret", "far", "--poll-interval", "1s"),
        )
        self.wait_for("backuptargets", lambda target: target["status"].get("lastSyncedAt"))

    def wait_for(self, kind, is_so):
        """The first of this kind of which this is so, now or as soon as it is."""
        until = CLOCK.monotonic() + PATIENCE_SECONDS
        with self.server.client() as client:
            page = client.get(f"/v1/{kind}").json()
            for one in filter(is_so, page["data"]):
                return one
            query = {"since": page["resourceVersion"], "kinds": kind}
            with client.stream("GET", "/v1/events", params=query) as stream:
                for line in stream.iter_lines():
                    if line.startswith("data:") and is_so(news := json.loads(line.removeprefix("data:"))):
                        return news
                    assert CLOCK.monotonic() < until, f"not so within {PATIENCE_SECONDS} seconds: {line}"
        raise AssertionError("the events ended")

    def wait_for_a_poll(self):
        """Until a sync has ended that began after now: not the next one, which may have begun before, but one more."""
        for _ in range(2):
            (target,) = self.server.get("target", "get")["items"]
            last = target["status"].get("lastSyncedAt", "")
            self.wait_for("backuptargets", lambda one, last=last: one["status"].get("lastSyncedAt", "") > last)

    def delete(self, volume, *, backups=None, whole_volume=False):
        path = f"/v1/backupvolumes/{volume}"
        with self.server.client() as client:
            if whole_volume:
                answer = client.delete(path)
            else:
                answer = client.request("DELETE", path, params={"action": "backupDelete"}, json={"names": backups})
        assert answer.status_code in {200, 202}, answer.text
        return answer.json()["id"] if whole_volume else answer.json()["deletion"]

    def wait_until_done(self, name):
        self.wait_for("deletions", lambda one: one["metadata"]["name"] == name and one["status"]["phase"] == "Done")

    def volumes(self):
        with self.server.client() as client:
            return sorted(one["name"] for one in client.get("/v1/backupvolumes").json()["data"])

    def backups(self, volume):
        with self.server.client() as client:
            answer = client.get(f"/v1/backupvolumes/{volume}", params={"action": "backupList"})
        return [] if answer.status_code == 404 else sorted(one["name"] for one in answer.json()["data"])


@pytest.fixture
def far(server, rclone, bucket):
    far = FarStore(server, rclone, bucket)
    write_volumes(far.root, volumes=VOLUMES, backups=BACKUPS)
    with Distance(rclone.endpoint, seconds=WAY_SECONDS) as way:
        far.connect(rclone.credentials(AWS_ENDPOINTS=way.url))
        yield far
        server.stop()


def test_the_six_steps_of_the_plan(far):
    every_volume = [volume_name(number) for number in range(VOLUMES)]
    every_backup = [backup_name(number) for number in range(BACKUPS)]

    # 1, 2: both lists, whatever the way.
    assert far.volumes() == every_volume
    assert far.backups(KEPT) == every_backup

    # 3: a volume is gone from the list immediately, and from the store after a while.
    deletion = far.delete(GONE, whole_volume=True)
    assert GONE not in far.volumes()
    assert far.backups(GONE) == []
    far.wait_until_done(deletion)
    assert list(far.objects.list_all(volume_dir(GONE))) == []

    # 4: so is a backup.
    deletion = far.delete(KEPT, backups=[OLD])
    assert far.backups(KEPT) == [name for name in every_backup if name != OLD]
    far.wait_until_done(deletion)
    assert len(list(far.objects.list_all(volume_dir(KEPT)))) == 2 * BACKUPS + 1  # cfgs, blocks, volume.cfg, the index

    # 5, 6: what somebody deletes in the store by hand is gone from the lists after the poll.
    by_hand = volume_name(9)
    for info in list(far.objects.list_all(volume_dir(by_hand))):
        far.objects.delete(info.key)
    far.objects.delete(backup_cfg_key(KEPT, NEW))
    far.wait_for_a_poll()
    assert far.volumes() == [name for name in every_volume if name not in {GONE, by_hand}]
    assert far.backups(KEPT) == [name for name in every_backup if name not in {OLD, NEW}]


def test_many_backups_go_with_one_worker_and_a_restart_brings_nothing_back(far):
    names = [backup_name(number) for number in range(BACKUPS - 1)]
    deletion = far.delete(KEPT, backups=names)
    whole = far.delete(GONE, whole_volume=True)
    far.server.kill()
    (far.server.state / "catalogue.sqlite").unlink()
    far.server.start()

    far.wait_until_done(deletion)
    far.wait_until_done(whole)
    far.wait_for_a_poll()

    assert far.backups(KEPT) == [backup_name(BACKUPS - 1)]
    assert GONE not in far.volumes()
    assert len(far.volumes()) == VOLUMES - 1
    assert list(far.objects.list_all(volume_dir(GONE))) == []

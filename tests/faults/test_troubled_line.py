"""A real S3 server whose line hangs, slows down or answers late in the middle of the work: no backup is lost.

The client's own time-outs are short here, so that a test takes seconds. What they mean is the same.
"""

import random
import threading

import pytest

from tidegate.datapath.inspection.verify import Verification
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import RetryableError
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.backoff import Patience
from tidegate.objects.open import open_store
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.distance import Distance

VOLUME = "shop.db"
PATIENT = Patience(waiting_seconds=60.0, request_seconds=2.0)
# With a store that stays away; a busy machine may take a second for a good answer.
SOON_TIRED = Patience(waiting_seconds=0.7, request_seconds=2.0)
LATER_THAN_PATIENCE_SECONDS = 2.5
SLOW_BYTES_PER_SECOND = 4_000_000
HALF_NEW = {"backup-1": "AB", "backup-2": "BC", "backup-3": "CD", "backup-4": "DE"}


class FarStore:
    """A bucket behind the line, with two backups in it."""

    def __init__(self, home, rclone, bucket, line):
        self.home, self.line = home, line
        self.patience = PATIENT
        url = f"s3://{bucket}@us-east-1/backups/"
        self._near = TargetAccess(url=url, credentials=rclone.credentials())
        self._far = TargetAccess(url=url, credentials=rclone.credentials(AWS_ENDPOINTS=line.url))
        for name, letters in HALF_NEW.items():
            blocks = [random.Random(letter).randbytes(BLOCK) for letter in letters]
            (home / name).write_bytes(b"".join(blocks))
        self.finished = set()
        for name in ("backup-1", "backup-2"):
            self.upload(name, far=False)

    def objects(self, *, far):
        if not far:
            return open_store(self._near)
        return open_store(self._far, patience=self.patience, pause=threading.Event().wait)

    def upload(self, name, *, far):
        MoverBench(self.objects(far=far)).upload(self.home / name, name)
        self.finished.add(name)

    def remove(self, name, *, far):
        self.finished.discard(name)
        MoverBench(self.objects(far=far)).remove(name)

    def download(self, name, *, far):
        back = self.home / f"{name}-{'far' if far else 'near'}"
        MoverBench(self.objects(far=far)).download(back, name)
        assert back.read_bytes() == (self.home / name).read_bytes()
        back.unlink()

    def assert_whole(self):
        volume = StoredVolume(self.objects(far=False), VOLUME)
        verdict = Verification(percent=100, now=MoverBench(volume.objects).clock.now()).volume(volume)
        assert verdict.problems == []
        assert [backup.problems for backup in verdict.backups if backup.problems] == []
        whole = {backup.backup for backup in verdict.backups if backup.whole}
        assert self.finished <= whole
        for name in whole:
            self.download(name, far=False)


WORK = {
    "a backup": lambda store: store.upload("backup-3", far=True),
    "a restore": lambda store: store.download("backup-1", far=True),
    "a delete": lambda store: store.remove("backup-1", far=True),
}


def answer_late(line):
    """Three requests come so late that the client has given each of them up, and they are done all the same."""
    line.seconds = LATER_THAN_PATIENCE_SECONDS
    line.after(3, lambda: setattr(line, "seconds", 0.0))


PASSING = {
    "forgets its connections": lambda line: line.forget_connections(),
    "answers later than the client waits": answer_late,
    "slows down": lambda line: setattr(line, "bytes_per_second", SLOW_BYTES_PER_SECOND),
}


@pytest.fixture
def far_store(tmp_path, rclone, bucket):
    with Distance(rclone.endpoint) as line:
        yield FarStore(tmp_path, rclone, bucket, line)


@pytest.fixture
def requests_of(far_store):
    """A function: how many pieces of requests this work takes on a good line, on a volume like the one of the test."""

    def count(work):
        before = far_store.line.requests
        WORK[work](far_store)
        if work == "a backup":
            far_store.remove("backup-3", far=False)
        if work == "a delete":
            far_store.upload("backup-1", far=False)
        return far_store.line.requests - before

    return count


@pytest.mark.parametrize("part", [0.3, 0.8])
@pytest.mark.parametrize("trouble", PASSING)
@pytest.mark.parametrize("work", WORK)
def test_work_outlasts_a_line_that_is_bad_for_a_while(far_store, requests_of, work, trouble, part):
    line = far_store.line
    happened = line.after(max(1, int(requests_of(work) * part)), lambda: PASSING[trouble](line))

    WORK[work](far_store)

    assert happened.is_set()
    line.mend()
    far_store.assert_whole()


@pytest.mark.parametrize("part", [0.2, 0.8])
@pytest.mark.parametrize("work", WORK)
def test_work_whose_store_hangs_ends_with_a_reason_and_is_done_again_once_the_store_is_back(
    far_store, requests_of, work, part
):
    line = far_store.line
    happened = line.after(max(1, int(requests_of(work) * part)), line.hang)
    far_store.patience = SOON_TIRED

    with pytest.raises(RetryableError):
        WORK[work](far_store)
    assert happened.is_set()
    line.mend()  # what was sent and never answered arrives now
    far_store.patience = PATIENT
    far_store.assert_whole()
    WORK[work](far_store)

    far_store.assert_whole()
    far_store.upload("backup-4", far=True)
    far_store.assert_whole()

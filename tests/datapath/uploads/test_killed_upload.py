"""An upload that is killed between any two writes leaves a store that is whole."""

import asyncio

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import NotFound, Refused
from tidegate.format.cfgs.lock_file import EXPIRY
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects

# Two for the lock, volume.cfg, the in-progress cfg, three blocks, the lock again, the final cfg, volume.cfg, and the
# lock's removal.
MOST_WRITES = 11


@pytest.fixture(params=range(MOST_WRITES + 1))
def writes(request):
    return request.param


@pytest.fixture
def killed(writes, image):
    """A store with one old backup, in which an upload of a larger volume died after so many writes."""
    clock = ManualClock()
    store = MemoryObjects(clock)
    MoverBench(store, clock=clock).upload(image("ABC"), "backup-old")
    dying = MoverBench(FaultyObjects(store, dies_after_writes=writes), clock=clock)
    try:
        dying.upload(image("AXYZ"), "backup-new")
    except RuntimeError as died:
        assert "ProcessDied" in str(died)  # noqa: PT017  dying or not depends on the number of writes
    asyncio.run(clock.advance(EXPIRY * 2))  # the dead one's lock
    return MoverBench(store, clock=clock)


def restored(bench, backup, tmp_path):
    bench.download(tmp_path / backup, backup)
    return (tmp_path / backup).read_bytes()


def test_the_new_backup_is_whole_or_cannot_be_restored_at_all(killed, image, tmp_path):
    try:
        content = restored(killed, "backup-new", tmp_path)
    except (NotFound, Refused):
        return
    assert content == image("AXYZ").read_bytes()


def test_the_old_backup_still_restores(killed, image, tmp_path):
    assert restored(killed, "backup-old", tmp_path) == image("ABC").read_bytes()


def test_the_same_upload_again_succeeds_and_settles(killed, image, tmp_path):
    killed.upload(image("AXYZ"), "backup-new")

    assert restored(killed, "backup-new", tmp_path) == image("AXYZ").read_bytes()
    assert StoredVolume(killed.objects, killed.volume).volume_cfg().last_backup_name == "backup-new"


def test_the_leftovers_can_be_removed_without_touching_what_is_finished(killed, image, tmp_path):
    finished = "backup-new" in _finished(killed)
    killed.remove("backup-new", "backup-old", only_unfinished=True)

    assert restored(killed, "backup-old", tmp_path) == image("ABC").read_bytes()
    assert _finished(killed) == {"backup-old"} | ({"backup-new"} if finished else set())
    assert len(list(StoredVolume(killed.objects, killed.volume).block_sizes())) == (6 if finished else 3)


def _finished(bench):
    volume = StoredVolume(bench.objects, bench.volume)
    return {name for name in volume.backup_names() if not volume.backup_cfg(name).in_progress}


def test_an_upload_has_no_more_writes_than_were_killed_above(image):
    counting = FaultyObjects(MemoryObjects(ManualClock()))
    bench = MoverBench(counting)
    bench.upload(image("ABC"), "backup-old")
    counting.calls.clear()
    bench.upload(image("AXYZ"), "backup-new")

    assert sum(method in {"put", "put_if_absent", "delete"} for method, _ in counting.calls) <= MOST_WRITES

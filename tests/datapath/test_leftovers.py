"""What the dead left goes away, what the living write stays."""

import asyncio
import os
from datetime import timedelta

import pytest

from tidegate.datapath.leftovers import BEGUN_DEAD_AFTER, DEAD_AFTER
from tidegate.datapath.locks import VolumeLock
from tidegate.datapath.maintenance.gc import collect_garbage
from tidegate.datapath.progress import Progress
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import StoreLocked
from tidegate.format.cfgs.lock_file import LockFile, LockType
from tidegate.format.cfgs.paths import backup_cfg_key, lock_key, volume_dir
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects

VOLUME = "shop.db"
OURS, LONGHORNS = "0123456789abcdef", "1763245678000000000"
LONG_DEAD, JUST_DEAD, ALIVE = DEAD_AFTER * 2, timedelta(minutes=5), timedelta(seconds=20)
OLD_LOCK = lock_key(VOLUME, "lock-00000000000000aa")


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "store"
    root.mkdir()
    return root


@pytest.fixture
def store(root):
    return DirectoryObjects(str(root))


@pytest.fixture
def bench(store, image):
    bench = MoverBench(store, clock=ManualClock())
    bench.upload(image("AB"), "backup-1")
    return bench


@pytest.fixture
def half_block(root, bench):
    """A function that leaves half a block beside a whole one."""

    def leave(age, suffix=OURS):
        block = next(root.rglob("*.blk"))
        return aged(block.with_name(f"{block.name}.tmp.{suffix}"), age)

    return leave


def aged(path, age):
    """A file that was last written so long ago, by the clock of the file system."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"half")
    then = path.stat().st_mtime - age.total_seconds()
    os.utime(path, (then, then))
    return path


def lock_of(root, age, key=OLD_LOCK, lock_type=LockType.BACKUP_OR_RESTORE):
    path = aged(root / key, age)
    stamp = path.stat().st_mtime
    path.write_bytes(LockFile(path.stem, lock_type, acquired=True).encode())
    os.utime(path, (stamp, stamp))
    return path


def temporaries(root):
    return sorted(path.name for path in root.rglob("*.tmp.*"))


@pytest.mark.parametrize("suffix", [OURS, LONGHORNS])
def test_the_next_upload_of_a_volume_clears_away_the_half_blocks_of_the_dead(root, bench, half_block, image, suffix):
    half_block(LONG_DEAD, suffix)

    bench.upload(image("AC"), "backup-2")

    assert temporaries(root) == []
    bench.download(root / "back", "backup-1")


def test_half_a_block_that_is_young_stays(root, bench, half_block, image):
    half = half_block(JUST_DEAD)

    bench.upload(image("AC"), "backup-2")

    assert temporaries(root) == [half.name]


@pytest.mark.parametrize("lock_type", [LockType.BACKUP_OR_RESTORE, LockType.UNTYPED])
def test_half_a_block_stays_while_anybody_else_has_a_living_lock_on_the_volume(root, bench, half_block, lock_type):
    half = half_block(LONG_DEAD)
    with VolumeLock(bench.objects, VOLUME, LockType.BACKUP_OR_RESTORE, shop=bench.shop, cancelled=bench.cancelled):
        list(StoredVolume(bench.objects, VOLUME).block_sizes())
        lock_of(root, ALIVE, lock_type=lock_type)

    assert temporaries(root) == [half.name]
    assert (root / OLD_LOCK).exists()


def test_half_a_block_goes_although_a_lock_of_the_dead_still_lies_there(root, bench, half_block, image):
    half_block(LONG_DEAD)
    lock_of(root, JUST_DEAD)

    bench.upload(image("AC"), "backup-2")

    assert temporaries(root) == []


def test_a_lock_from_the_future_counts_as_living(root, bench, half_block, image):
    half = half_block(LONG_DEAD)
    lock_of(root, -LONG_DEAD)

    bench.upload(image("AC"), "backup-2")

    assert temporaries(root) == [half.name]


def test_an_upload_without_leftovers_asks_the_store_for_nothing_more(root, image):
    watched = FaultyObjects(DirectoryObjects(str(root)))
    MoverBench(watched).upload(image("AB"), "backup-1")

    looks = [key for method, key in watched.calls if method == "list_level" and key.endswith("/locks")]
    # Once to get the lock, once to know whether others back the volume up too; for leftovers not at all.
    assert len(looks) == 2
    assert not [key for _, key in watched.calls if key.endswith(".probe")]


def test_work_that_failed_clears_nothing_away(root, bench, half_block, image):
    half_block(LONG_DEAD)
    lock_of(root, LONG_DEAD)
    list(StoredVolume(bench.objects, VOLUME).block_sizes())

    with (
        pytest.raises(StoreLocked),
        VolumeLock(bench.objects, VOLUME, LockType.DELETION, shop=bench.shop, cancelled=bench.cancelled),
    ):
        raise StoreLocked("lost")
    assert len(temporaries(root)) == 1
    assert (root / OLD_LOCK).exists()


def test_who_lost_its_lock_clears_nothing_away(root, bench, half_block):
    half = half_block(LONG_DEAD)
    with VolumeLock(bench.objects, VOLUME, LockType.DELETION, shop=bench.shop, cancelled=bench.cancelled):
        list(StoredVolume(bench.objects, VOLUME).block_sizes())
        for lock in (root / volume_dir(VOLUME) / "locks").iterdir():
            lock.unlink()
        lock_of(root, ALIVE)  # somebody else's, and the only one

    assert temporaries(root) == [half.name]


@pytest.mark.parametrize(("age", "stays"), [(LONG_DEAD, False), (JUST_DEAD, True), (ALIVE, True)])
def test_a_lock_goes_when_its_owner_was_silent_for_very_long(root, bench, image, age, stays):
    lock_of(root, age)

    bench.upload(image("AC"), "backup-2")

    assert (root / OLD_LOCK).exists() == stays
    assert not list(root.rglob("*.probe"))


def test_locks_of_the_dead_go_in_every_kind_of_store(image):
    clock = ManualClock()
    store = MemoryObjects(clock)
    store.put(OLD_LOCK, b"not even a lock")
    asyncio.run(clock.advance(LONG_DEAD))
    MoverBench(store, clock=clock).upload(image("A"))

    assert not [info.key for info in store.list_all("") if "/locks/" in info.key]


def test_a_removal_clears_away_half_blocks_too(root, bench, half_block):
    half_block(LONG_DEAD)

    bench.remove("backup-1")

    assert temporaries(root) == []


def collect(bench, *, locked):
    volume = StoredVolume(bench.objects, VOLUME)
    progress = Progress(bench.hear, bench.clock)
    if not locked:
        return collect_garbage(volume, progress=progress)
    with VolumeLock(bench.objects, VOLUME, LockType.DELETION, shop=bench.shop, cancelled=bench.cancelled) as lock:
        return collect_garbage(volume, progress=progress, lock=lock)


def test_gc_counts_half_blocks_as_blocks_that_no_backup_names_and_removes_them(root, bench, half_block):
    half_block(LONG_DEAD)

    looked = collect(bench, locked=False)
    assert temporaries(root) != []
    collected = collect(bench, locked=True)

    assert temporaries(root) == []
    assert looked == collected
    assert (collected.blocks, collected.bytes) == (1, len(b"half"))


def test_gc_removes_no_half_block_that_is_young(root, bench, half_block):
    half_block(JUST_DEAD)

    assert collect(bench, locked=True).blocks == 0
    assert len(temporaries(root)) == 1


OVERDUE = BEGUN_DEAD_AFTER * 2
BEGUN = backup_cfg_key(VOLUME, "backup-2")


@pytest.fixture
def begun(root, bench, image):
    """A function that lets an upload die after it has sent blocks, so and so long ago."""

    def die(age):
        with pytest.raises(RuntimeError, match="ProcessDied"):
            MoverBench(FaultyObjects(bench.objects, dies_after_writes=6)).upload(image("XYZ", "dying"), "backup-2")
        for path in [root / BEGUN, *(root / volume_dir(VOLUME) / "locks").iterdir()]:
            then = path.stat().st_mtime - age.total_seconds()
            os.utime(path, (then, then))
        return len(list(root.rglob("*.blk")))

    return die


def test_a_backup_that_we_began_long_ago_stops_no_deletion_once_its_writer_is_surely_dead(root, bench, begun):
    assert begun(OVERDUE) > 2

    result = bench.remove("backup-1")

    assert (result.warnings, list(root.rglob("*.blk")), (root / BEGUN).exists()) == ((), [], False)


def test_gc_removes_what_a_writer_of_ours_left_that_is_surely_dead(root, bench, begun):
    before = begun(OVERDUE)
    looked, collected = collect(bench, locked=False), collect(bench, locked=True)

    assert (looked.blocks, looked.begun, len(looked.warnings)) == (0, ("backup-2",), 1)
    assert (collected.blocks, collected.warnings) == (before - 2, ())
    assert (len(list(root.rglob("*.blk"))), (root / BEGUN).exists()) == (2, False)
    bench.download(root / "back", "backup-1")


@pytest.mark.parametrize("why", ["young", "locked", "longhorn"])
def test_a_backup_in_progress_that_somebody_may_still_write_stops_all_deletion(root, bench, begun, why):
    before = begun(LONG_DEAD if why == "young" else OVERDUE)
    if why == "locked":
        lock_of(root, ALIVE, lock_type=LockType.DELETION)
    if why == "longhorn":
        stamp = (root / BEGUN).stat().st_mtime
        (root / BEGUN).write_text((root / BEGUN).read_text().replace("tidegate.dev/writer", "somebody/else"))
        os.utime(root / BEGUN, (stamp, stamp))

    assert "backup-2 is still in progress" in collect(bench, locked=True).warnings[0]
    assert (len(list(root.rglob("*.blk"))), (root / BEGUN).exists()) == (before, True)

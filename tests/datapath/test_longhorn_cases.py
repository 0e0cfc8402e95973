"""Longhorn's own cases of backups that are written, read and removed side by side, and of restores from odd stores."""

import json
import random
import threading

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import MissingBlock, StoreLocked
from tidegate.format.cfgs.paths import backup_cfg_key, backups_dir, block_key
from tidegate.model.transfers.mover_job import BackupMode
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects

VOLUME = "shop.db"
BLOCK = 2 * 1024 * 1024
GIB = 1024**3
# Early, in the middle and late in the work that is interrupted, whatever it is.
MOMENTS = [1, 4, 6, 8, 10]


def content_of(bench, tmp_path, backup):
    place = tmp_path / "restored"
    place.unlink(missing_ok=True)
    bench.download(place, backup)
    return place.read_bytes()


def names(store):
    return sorted(StoredVolume(store, VOLUME).backup_names())


def interrupted(bench, moment, meanwhile):
    """Another mover on the same store, during whose work something else happens."""
    faulty = FaultyObjects(bench.objects)
    faulty.interrupt(before_call=moment, meanwhile=meanwhile)
    return MoverBench(faulty, clock=bench.clock)


class Attempt:
    """Work of another mover, which may find the volume locked; then it is done again when the first has ended."""

    def __init__(self, work):
        self.work = work
        self.tries = 0
        self.done = False

    def __call__(self):
        self.tries += 1
        try:
            self.work()
        except StoreLocked:
            return
        self.done = True

    def made_up_for(self):
        assert self.tries == 1, "it happened in the middle of the other's work"
        if not self.done:
            self.work()


def test_one_of_1001_backups_of_a_volume_restores(bench, store, image, tmp_path):
    """L2."""
    bench.upload(image("A"), "backup-0000")
    bench.upload(image("B"), "backup-0001")
    whole = [json.loads(store.get(backup_cfg_key(VOLUME, f"backup-000{n}"), at_most=10_000)) for n in (0, 1)]
    for number in range(2, 1001):
        name = f"backup-{number:04}"
        store.put(backup_cfg_key(VOLUME, name), json.dumps(whole[number % 2] | {"Name": name}).encode())

    assert len(names(store)) == 1001
    for number in random.Random(1).sample(range(1001), 3):
        assert content_of(bench, tmp_path, f"backup-{number:04}") == image("AB"[number % 2]).read_bytes()


def test_a_volume_of_250_gib_comes_back(bench, tmp_path):
    """L3: as large, but nearly empty, for nobody has the time."""
    large, pieces = tmp_path / "large", {0: b"first", 125 * GIB: b"middle", 250 * GIB - 5: b"last!"}
    with large.open("wb") as file:
        file.truncate(250 * GIB)
        for offset, piece in pieces.items():
            file.seek(offset)
            file.write(piece)

    bench.upload(large, "backup-1")
    bench.download(tmp_path / "back", "backup-1")

    with (tmp_path / "back").open("rb") as file:
        assert file.seek(0, 2) == 250 * GIB
        for offset, piece in pieces.items():
            file.seek(offset)
            assert file.read(len(piece)) == piece
    assert (tmp_path / "back").stat().st_blocks * 512 < GIB


def test_when_a_cfg_is_renamed_the_others_are_listed_and_restore(bench, store, image, tmp_path):
    """L7."""
    for number, letters in enumerate(("AB", "BC", "CD"), start=1):
        bench.upload(image(letters), f"backup-{number}")
    body = store.get(backup_cfg_key(VOLUME, "backup-2"), at_most=100_000)
    store.delete(backup_cfg_key(VOLUME, "backup-2"))
    store.put(f"{backups_dir(VOLUME)}/backup_backup-2.cfg.old", body)

    assert names(store) == ["backup-1", "backup-3"]
    assert content_of(bench, tmp_path, "backup-1") == image("AB").read_bytes()
    assert content_of(bench, tmp_path, "backup-3") == image("CD").read_bytes()


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_older_backup_is_deleted_while_a_newer_one_is_written(bench, store, image, tmp_path, moment):
    bench.upload(image("AB"), "backup-1")
    deletion = Attempt(lambda: bench.remove("backup-1"))

    interrupted(bench, moment, deletion).upload(image("BC"), "backup-2")
    deletion.made_up_for()

    assert names(store) == ["backup-2"]
    assert content_of(bench, tmp_path, "backup-2") == image("BC").read_bytes()


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_backup_is_asked_for_while_another_is_deleted(bench, store, image, tmp_path, moment):
    bench.upload(image("AB"), "backup-1")
    bench.upload(image("BC"), "backup-2")
    backup = Attempt(lambda: bench.upload(image("AD", "new"), "backup-3"))

    interrupted(bench, moment, backup).remove("backup-1")
    backup.made_up_for()

    assert names(store) == ["backup-2", "backup-3"]
    assert content_of(bench, tmp_path, "backup-2") == image("BC").read_bytes()
    assert content_of(bench, tmp_path, "backup-3") == image("AD").read_bytes()


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_older_backup_is_restored_while_a_newer_one_is_deleted(bench, store, image, tmp_path, moment):
    bench.upload(image("AB"), "backup-1")
    bench.upload(image("BC"), "backup-2")
    restore = Attempt(lambda: bench.download(tmp_path / "back", "backup-1"))

    interrupted(bench, moment, restore).remove("backup-2")
    restore.made_up_for()

    assert (tmp_path / "back").read_bytes() == image("AB").read_bytes()
    assert names(store) == ["backup-1"]


def test_six_backups_of_two_volumes_at_once_restore_each_its_own_content(store, clock, image, tmp_path):
    jobs = [(volume, number) for volume in ("vol-a", "vol-b") for number in (1, 2, 3)]
    images = {job: image(f"{number}{volume[-1]}S", f"{volume}-{number}") for job in jobs for volume, number in [job]}
    benches = {job: MoverBench(store, clock=clock, volume=job[0]) for job in jobs}
    together, failed = threading.Barrier(len(jobs)), []

    def back_up(job):
        together.wait(30)
        try:
            benches[job].upload(images[job], f"backup-{job[1]}")
        except Exception as error:  # noqa: BLE001  # told in the test's own thread
            failed.append(error)

    threads = [threading.Thread(target=back_up, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert failed == []
    for job in jobs:
        assert content_of(benches[job], tmp_path, f"backup-{job[1]}") == images[job].read_bytes()


def test_what_was_there_before_is_backed_up_after_what_came_later(bench, store, image, tmp_path):
    bench.upload(image("ABC"), "newer")
    bench.upload(image("AB-"), "older")

    assert names(store) == ["newer", "older"]
    assert content_of(bench, tmp_path, "newer") == image("ABC").read_bytes()
    assert content_of(bench, tmp_path, "older") == image("AB-").read_bytes()


def test_a_lost_block_fails_the_restore_and_a_full_backup_brings_it_back(bench, store, image, tmp_path):
    bench.upload(image("ABC"), "backup-1")
    lost = StoredVolume(store, VOLUME).backup_cfg("backup-1").blocks[1]
    store.delete(block_key(VOLUME, lost.checksum))
    with pytest.raises(MissingBlock):
        bench.download(tmp_path / "broken", "backup-1")

    bench.upload(image("ABC"), "backup-2", mode=BackupMode.FULL)

    assert content_of(bench, tmp_path, "backup-2") == image("ABC").read_bytes()


def test_a_volume_that_is_backed_up_to_two_targets_restores_from_each(bench, clock, image, tmp_path):
    other = MoverBench(MemoryObjects(clock), clock=clock)
    bench.upload(image("AB"), "backup-1")
    other.upload(image("AC"), "backup-1")

    assert content_of(bench, tmp_path, "backup-1") == image("AB").read_bytes()
    assert content_of(other, tmp_path, "backup-1") == image("AC").read_bytes()

"""A restore that is read back proves the bytes on the disk, and nothing that was changed there is taken for good."""

import os
import random
from contextlib import contextmanager

import pytest

from tidegate.datapath.downloads.download import open_backup
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import RestoredDataDiffers
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.model.transfers.mover_job import DownloadJob
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import TARGET, MoverBench
from tidegate.volumes.open import open_sink


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def store(clock):
    return MemoryObjects(clock)


@pytest.fixture
def bench(store, clock):
    return MoverBench(store, clock=clock)


@pytest.fixture
def tree(tmp_path):
    """A large file, small ones, one with holes, links of both kinds, a pipe and an empty directory."""
    root = tmp_path / "tree"
    (root / "empty").mkdir(parents=True)
    (root / "large").write_bytes(random.Random(1).randbytes(2 * BLOCK + 5))
    for number in range(20):
        (root / f"small-{number:02}").write_bytes(random.Random(number).randbytes(1000 + number))
    with (root / "holes").open("wb") as file:
        file.seek(BLOCK)
        file.write(b"in the middle")
        file.truncate(3 * BLOCK)
    (root / "link").symlink_to("small-01")
    os.link(root / "small-02", root / "twin")
    os.mkfifo(root / "pipe")
    return root


@contextmanager
def restored(bench, store, place, kind, backup="backup-1"):
    """A sink that has received the backup, and its content."""
    job = DownloadJob(target=TARGET, store_volume=bench.volume, store_backup=backup, volume_kind=kind, path=str(place))
    sink = open_sink(job)
    with open_backup(StoredVolume(store, bench.volume), backup) as content:
        sink.receive(content, on_bytes=lambda _: None)
        yield sink, content


def read_back(sink, content):
    sink.read_back(content, on_bytes=lambda _: None)


@pytest.mark.parametrize("kind", [VolumeKind.IMAGE, VolumeKind.DIRECTORY])
def test_a_download_that_reads_back_tells_so_and_counts_every_byte_twice(bench, tree, tmp_path, kind):
    source = tree if kind is VolumeKind.DIRECTORY else tree / "large"
    bench.upload(source, kind=kind)

    bench.download(tmp_path / "back", kind=kind, read_back=True)

    stages = [report.progress.stage for report in bench.reports[:-1]]
    assert stages[-1] == "reading back"
    assert "downloading" in stages
    # Two passes are one whole: it is not at its end, and does not begin anew, when the first is over.
    done = [report.progress.bytes_done for report in bench.reports[:-1]]
    assert done == sorted(done)
    read_back = next(one.progress for one in bench.reports if one.progress.stage == "reading back")
    assert read_back.bytes_done * 2 <= (read_back.total_bytes or 0)


def test_an_image_that_was_changed_on_the_disk_is_found_out_wherever_it_was(bench, store, tree, tmp_path):
    bench.upload(tree / "holes")
    for offset in (0, BLOCK + 3, 2 * BLOCK, 3 * BLOCK - 1):
        place = tmp_path / f"back-{offset}"
        with restored(bench, store, place, VolumeKind.IMAGE) as (sink, content):
            read_back(sink, content)
            with place.open("r+b") as file:
                file.seek(offset)
                file.write(b"!")
            with pytest.raises(RestoredDataDiffers, match="reads back differently from byte"):
                read_back(sink, content)


def test_an_image_that_became_shorter_is_found_out(bench, store, tree, tmp_path):
    bench.upload(tree / "large")
    with restored(bench, store, tmp_path / "back", VolumeKind.IMAGE) as (sink, content):
        os.truncate(tmp_path / "back", 5)
        with pytest.raises(RestoredDataDiffers, match="has 5 bytes after the restore"):
            read_back(sink, content)


def overwrite(name, offset):
    def change(root):
        with (root / name).open("r+b") as file:
            file.seek(offset)
            file.write(b"\xff\xfe")

    return change


def replace_by_copy(root):
    (root / "twin").unlink()
    (root / "twin").write_bytes((root / "small-02").read_bytes())


def lead_elsewhere(root):
    (root / "link").unlink()
    (root / "link").symlink_to("small-03")


CHANGES = {
    "large file": (overwrite("large", BLOCK + 7), "large reads back differently"),
    "small file": (overwrite("small-07", 3), "small-07 reads back differently"),
    "a hole": (overwrite("holes", 5), "holes holds something in its hole"),
    "bytes between holes": (overwrite("holes", BLOCK), "holes reads back differently"),
    "shorter": (lambda root: os.truncate(root / "small-03", 1), "small-03 has 1 bytes"),
    "gone": (lambda root: (root / "small-04").unlink(), "small-04 cannot be read back"),
    "directory gone": (lambda root: (root / "empty").rmdir(), "empty cannot be read back"),
    "another link": (lead_elsewhere, "link leads to another place"),
    "a copy instead of a link": (replace_by_copy, "no longer the same file"),
    "a file instead of a pipe": (
        lambda root: [(root / "pipe").unlink(), (root / "pipe").touch()],
        "pipe is not a fifo",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_tree_that_was_changed_on_the_disk_is_found_out(bench, store, tree, tmp_path, what):
    change, told = CHANGES[what]
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    with restored(bench, store, tmp_path / "back", VolumeKind.DIRECTORY) as (sink, content):
        read_back(sink, content)
        change(tmp_path / "back")
        with pytest.raises(RestoredDataDiffers, match=told):
            read_back(sink, content)


def test_a_tree_whose_packs_hold_files_that_are_gone_is_proven_all_the_same(bench, store, clock, tree, tmp_path):
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    for number in range(0, 20, 4):
        (tree / f"small-{number:02}").unlink()
    bench.upload(tree, "backup-2", kind=VolumeKind.DIRECTORY)

    with restored(bench, store, tmp_path / "back", VolumeKind.DIRECTORY, "backup-2") as (sink, content):
        read_back(sink, content)
        overwrite("small-05", 0)(tmp_path / "back")
        with pytest.raises(RestoredDataDiffers, match="small-05"):
            read_back(sink, content)

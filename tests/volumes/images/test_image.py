"""Image files: read with their holes, restored beside what was there."""

import os
import stat

import pytest

from tidegate.errors import DestinationUnusable, SourceUnreadable
from tidegate.model.restores.restore import ExistingData
from tidegate.model.transfers.mover_job import DownloadJob
from tidegate.model.volumes.volume import VolumeKind
from tidegate.model.volumes.volume_ref import Device, Directory, Image
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import TARGET, MoverBench
from tidegate.volumes.images.holes import coalesced
from tidegate.volumes.images.image import ImageSource
from tidegate.volumes.measure import measure
from tidegate.volumes.open import open_sink

MIB = 1024 * 1024


@pytest.fixture
def bench():
    return MoverBench(MemoryObjects(ManualClock()))


def test_only_data_is_told_as_data(tmp_path):
    with (tmp_path / "image").open("wb") as file:
        file.seek(8 * MIB)
        file.write(bytes(1) + b"data")
        file.truncate(32 * MIB)

    with ImageSource(Image(str(tmp_path / "image"))) as source:
        (((offset, length),),) = map(list, source.rounds())

    assert offset <= 8 * MIB < offset + length < 9 * MIB


def test_behind_the_end_are_zeros(tmp_path):
    (tmp_path / "image").write_bytes(b"12345")

    with ImageSource(Image(str(tmp_path / "image"))) as source:
        assert (source.read_at(3, 4), source.read_at(9, 2)) == (b"45\0\0", b"\0\0")


def test_an_image_that_becomes_shorter_is_not_filled_up(tmp_path):
    (tmp_path / "image").write_bytes(b"12345")

    with ImageSource(Image(str(tmp_path / "image"))) as source:
        os.truncate(tmp_path / "image", 2)
        with pytest.raises(SourceUnreadable, match="shorter"):
            source.read_at(0, 5)


@pytest.mark.parametrize("size", [1, 4096, 2 * MIB, 2 * MIB + 1, 6 * MIB])
def test_an_image_of_any_size_comes_back_with_that_size(bench, tmp_path, size):
    (tmp_path / "image").write_bytes(os.urandom(size))

    bench.upload(tmp_path / "image")
    result = bench.download(tmp_path / "back")

    assert (tmp_path / "back").read_bytes() == (tmp_path / "image").read_bytes()
    assert result.size == size


def test_a_restored_image_is_sparse_and_has_its_old_mode(bench, tmp_path):
    with (tmp_path / "image").open("wb") as file:
        file.write(b"begin")
        file.truncate(64 * MIB)
    (tmp_path / "image").chmod(0o640)

    bench.upload(tmp_path / "image")
    bench.download(tmp_path / "back")

    found = (tmp_path / "back").stat()
    assert (found.st_size, found.st_blocks * 512 <= 2 * MIB) == (64 * MIB, True)
    assert stat.S_IMODE(found.st_mode) == 0o640


def test_an_existing_image_is_refused_and_left_alone(bench, tmp_path):
    (tmp_path / "image").write_bytes(b"new")
    (tmp_path / "old").write_bytes(b"old")
    bench.upload(tmp_path / "image")

    with pytest.raises(DestinationUnusable, match="exists already"):
        bench.download(tmp_path / "old")
    assert (tmp_path / "old").read_bytes() == b"old"


def test_overwriting_keeps_the_rights_and_the_link_and_leaves_nothing_beside(bench, tmp_path):
    (tmp_path / "image").write_bytes(b"new")
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "old").chmod(0o640)
    (tmp_path / "link").symlink_to("old")
    bench.upload(tmp_path / "image")

    bench.download(tmp_path / "link", existing_data=ExistingData.OVERWRITE)

    assert (tmp_path / "old").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["image", "link", "old"]


@pytest.mark.parametrize(
    ("kind", "sentence"), [(VolumeKind.DEVICE, "not a block device"), (VolumeKind.IMAGE, "not a regular file")]
)
def test_what_is_neither_file_nor_disk_is_no_destination(kind, sentence):
    job = DownloadJob(
        target=TARGET,
        store_volume="shop.db",
        store_backup="backup-1",
        volume_kind=kind,
        path="/dev/null",
        existing_data=ExistingData.OVERWRITE,
        force=True,
    )

    with pytest.raises(DestinationUnusable, match=sentence):
        open_sink(job)


def test_volumes_are_measured(tmp_path):
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "a").write_bytes(b"123")
    (tmp_path / "d" / "e" / "b").write_bytes(b"4567")
    os.link(tmp_path / "d" / "a", tmp_path / "d" / "again")

    assert measure(Directory(str(tmp_path / "d"))) == 7
    assert measure(Image(str(tmp_path / "d" / "a"))) == 3


def test_what_cannot_be_backed_up_is_told_in_a_sentence(tmp_path):
    (tmp_path / "empty").write_bytes(b"")

    for spec, sentence in [
        (Directory(str(tmp_path / "x")), "does not exist"),
        (Directory(str(tmp_path / "empty")), "is not a directory"),
        (Image(str(tmp_path / "x")), "does not exist"),
        (Image(str(tmp_path)), "is not a regular file"),
        (Image(str(tmp_path / "empty")), "is empty"),
        (Device(str(tmp_path / "empty")), "is not a block device"),
    ]:
        with pytest.raises(SourceUnreadable, match=sentence):
            measure(spec)


def test_too_many_holes_are_joined_smallest_first():
    ranges = [(0, 10), (4000, 10), (100_000, 10), (104_000, 10)]

    assert coalesced(ranges, most=4) == ranges
    assert coalesced(ranges, most=2) == [(0, 4010), (100_000, 4010)]

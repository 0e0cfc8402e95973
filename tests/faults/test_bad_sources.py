"""Sources that vanish or shrink while they are read: one sentence, and no trace of a backup in the store."""

import os
import random
import shutil
import threading

import pytest

from tidegate.errors import SourceUnreadable
from tidegate.format.cfgs.paths import backup_name_of
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.directory import DirectoryObjects
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.sample_data import fill_tree, picture

MIB = 1024 * 1024
# More than an upload has in hand at once: when the first block is stored, some of it is still to be read.
SIZE = 96 * MIB


class Meanwhile(DirectoryObjects):
    """A real directory that does something when the first block comes."""

    def __init__(self, root, do):
        super().__init__(str(root))
        self._do = do
        self._doing = threading.Lock()

    def put_if_absent(self, key, body, *, lazily=False):
        if key.endswith(".blk"):
            with self._doing:  # the others wait until it is done
                do, self._do = self._do, None
                if do:
                    do()
        return super().put_if_absent(key, body, lazily=lazily)


@pytest.fixture
def bench(tmp_path):
    """A function that makes a bench whose store does something when the first block comes."""
    (tmp_path / "store").mkdir()
    return lambda do: MoverBench(Meanwhile(tmp_path / "store", do))


@pytest.fixture
def image(tmp_path):
    (tmp_path / "image").write_bytes(random.Random(1).randbytes(SIZE))
    return tmp_path / "image"


def backups(bench):
    return [name for info in bench.objects.list_all("") if (name := backup_name_of(info.key))]


def test_an_image_that_shrinks_ends_its_backup_with_a_sentence(bench, image):
    upload = bench(lambda: os.truncate(image, 10 * MIB))

    with pytest.raises(SourceUnreadable, match=rf"^{image} became shorter while it was read$"):
        upload.upload(image)

    assert (backups(upload), image.stat().st_size) == ([], 10 * MIB)


def test_an_image_that_is_removed_is_backed_up_as_it_was_and_that_is_told(bench, image, tmp_path):
    before = image.read_bytes()
    upload = bench(image.unlink)

    result = upload.upload(image)
    upload.download(tmp_path / "back")

    assert (tmp_path / "back").read_bytes() == before
    assert result.snapshot == "reflink" or "removed or replaced while it was read" in result.warnings[0]


def test_a_tree_that_vanishes_ends_its_backup_and_is_not_taken_for_an_empty_one(bench, tmp_path):
    tree = fill_tree(tmp_path / "tree")
    upload = bench(lambda: shutil.rmtree(tree))

    with pytest.raises(SourceUnreadable, match=rf"^{tree} vanished while it was read$"):
        upload.upload(tree, kind=VolumeKind.DIRECTORY)

    assert backups(upload) == []


def test_a_file_that_shrinks_while_its_tree_is_read_comes_back_as_it_is_now(bench, tmp_path):
    tree = fill_tree(tmp_path / "tree")
    (tree / "zz.bin").write_bytes(random.Random(1).randbytes(SIZE))
    upload = bench(lambda: os.truncate(tree / "zz.bin", 3 * MIB))

    result = upload.upload(tree, kind=VolumeKind.DIRECTORY)
    upload.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)

    assert picture(tmp_path / "back") == picture(tree)
    assert (result.warnings, result.left_out) == ((), ())


def test_what_failed_because_of_its_source_works_once_the_source_is_back(bench, image, tmp_path):
    broken = bench(lambda: os.truncate(image, 10 * MIB))
    with pytest.raises(SourceUnreadable):
        broken.upload(image)

    broken.upload(image, "backup-2")
    broken.download(tmp_path / "back", "backup-2")

    assert (tmp_path / "back").read_bytes() == image.read_bytes()

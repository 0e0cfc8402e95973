"""A device is written in place: until it is whole, it says that it is not. A file stands for the device."""

import os

import pytest

from tidegate.datapath.downloads.download import open_backup
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import MissingBlock, SourceUnreadable, WorkCancelled
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.paths import block_key
from tidegate.testing.mover_bench import MoverBench
from tidegate.volumes.images.device_sink import write_onto
from tidegate.volumes.images.unfinished_mark import MARK


@pytest.fixture
def disk(tmp_path):
    path = tmp_path / "disk"
    path.write_bytes(os.urandom(6 * BLOCK))
    return path


def write(store, disk, backup="backup-1", onto=None, on_bytes=lambda _: None):
    volume = StoredVolume(store, "shop.db")
    with open_backup(volume, backup, onto=onto) as content, disk.open("r+b", buffering=0) as file:
        return write_onto(file.fileno(), content, on_bytes=on_bytes, path=str(disk))


@pytest.mark.parametrize("blocks", ["ABCDEF", "-BC", "A", "--", "A----F"])
def test_a_device_gets_every_byte_and_the_first_ones_too(bench, store, image, disk, blocks):
    path = image(blocks)
    bench.upload(path)

    write(store, disk)

    assert disk.read_bytes()[: len(blocks) * BLOCK] == path.read_bytes()


def test_a_device_smaller_than_the_mark_is_no_matter(bench, store, tmp_path, disk):
    (tmp_path / "small").write_bytes(b"tiny")
    bench.upload(tmp_path / "small")

    write(store, disk)

    assert disk.read_bytes()[:4] == b"tiny"


def lose_a_block(store, letter_block):
    volume = StoredVolume(store, "shop.db")
    store.delete(block_key("shop.db", volume.backup_cfg("backup-1").blocks[letter_block].checksum))


def test_a_restore_that_fails_leaves_a_device_that_says_so_and_is_not_backed_up(bench, store, image, disk):
    bench.upload(image("ABCDEF"))
    lose_a_block(store, 4)

    with pytest.raises(MissingBlock, match="is half written now, and says so at its beginning"):
        write(store, disk)

    assert disk.read_bytes()[: len(MARK)] == MARK
    with pytest.raises(SourceUnreadable, match="holds a restore that was not finished"):
        MoverBench(store, clock=bench.clock, volume="other").upload(disk)


def test_a_restore_that_is_cancelled_says_so_too_and_a_second_one_makes_it_whole(bench, store, image, disk):
    path = image("ABCDEF")
    bench.upload(path)

    def stop(_):
        raise WorkCancelled("the work was cancelled")

    with pytest.raises(WorkCancelled, match="is half written now"):
        write(store, disk, on_bytes=stop)
    write(store, disk)

    assert disk.read_bytes() == path.read_bytes()


def test_what_was_left_half_written_is_mended_onto_the_earlier_backup(bench, store, image, disk):
    bench.upload(image("ABCDEF"), "backup-1")
    later = image("ABXDEF")
    bench.upload(later, "backup-2")
    write(store, disk)
    with disk.open("r+b") as file:
        file.write(MARK)

    write(store, disk, "backup-2", onto="backup-1")

    assert disk.read_bytes() == later.read_bytes()

"""Trees are unpacked by many threads, in the order of their blocks: what comes out does not depend on it."""

import hashlib
import json
import os
import random
import stat
from contextlib import contextmanager

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedMetadata, MissingBlock, NoSpace
from tidegate.format.blocks.checksum import CHECKSUM_DIGITS
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.paths import backup_cfg_key, block_key
from tidegate.format.trees.entry import EntryType, Extent, TreeEntry
from tidegate.format.trees.packed_tree import TreeMark, align_up
from tidegate.model.volumes.volume import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.machine.open_files import open_files
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects
from tidegate.volumes.trees.entry_shelf import EntryShelf

VOLUME = "shop.db"
ROOT = TreeEntry(path=".", type=EntryType.DIRECTORY, mode=0o755)


class FarObjects(MemoryObjects):
    """A store that likes many requests at once."""

    @property
    def requests_in_flight(self):
        return 16


@pytest.fixture
def store():
    return FarObjects(ManualClock())


@pytest.fixture
def bench(store):
    return MoverBench(store)


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree"
    path.mkdir()
    return path


def packed_by_hand(bench, tmp_path, image, entries):
    """Back up a tree whose manifest and image were made by whoever wanted them so."""
    lines = b"".join(entry.encode() for entry in entries)
    begin = align_up(len(image))
    (tmp_path / "image").write_bytes(image.ljust(begin, b"\0") + lines)
    bench.upload(tmp_path / "image")
    (tmp_path / "image").unlink()
    mark = TreeMark(begin, len(lines), hashlib.sha512(lines).hexdigest()[:CHECKSUM_DIGITS], 0)
    key = backup_cfg_key(VOLUME, "backup-1")
    cfg = json.loads(bench.objects.get(key, at_most=10**7))
    cfg["Parameters"] |= mark.parameters()
    bench.objects.put(key, json.dumps(cfg).encode())


def file(path, *extents, size):
    return TreeEntry(path=path, type=EntryType.FILE, mode=0o640, size=size, extents=extents)


def test_places_that_are_not_in_the_order_of_the_paths_give_the_same_files(bench, store, tmp_path):
    image = random.Random(1).randbytes(8 * BLOCK)
    places = [Extent(at, 8 * 1024, 0) for at in range(0, len(image), 8 * 1024)]
    random.Random(2).shuffle(places)
    files = [file(f"{number:04}", place, size=8 * 1024) for number, place in enumerate(places)]
    packed_by_hand(bench, tmp_path, image, [ROOT, *files])
    counting = FaultyObjects(store)

    MoverBench(counting, clock=bench.clock).download(tmp_path / "back", kind=VolumeKind.DIRECTORY)

    for entry, place in zip(files, places, strict=True):
        assert (tmp_path / "back" / entry.path).read_bytes() == image[place.image_offset :][: place.length]
    assert sum(key.endswith(".blk") for call, key in counting.calls if call == "get") <= 2 * 8 + 1


def test_a_file_in_scattered_pieces_is_put_together_with_its_holes(bench, tmp_path):
    image = bytearray(random.Random(3).randbytes(4 * BLOCK))
    image[BLOCK : 2 * BLOCK] = bytes(BLOCK)  # no block in the store
    pieces = (Extent(3 * BLOCK, 100, 0), Extent(BLOCK, 200, 4096), Extent(7, 2 * BLOCK, 2 * BLOCK), Extent(0, 5, 10**7))
    packed_by_hand(bench, tmp_path, bytes(image), [ROOT, file("f", *pieces, size=2 * 10**7)])

    bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)

    expected = bytearray(2 * 10**7)
    for begin, length, at in pieces:
        expected[at : at + length] = image[begin : begin + length]
    assert (tmp_path / "back" / "f").read_bytes() == expected
    assert (tmp_path / "back" / "f").stat().st_blocks * 512 < 4 * BLOCK


def test_only_the_blocks_of_wanted_files_are_read(bench, store, tmp_path):
    image = random.Random(4).randbytes(6 * BLOCK)
    files = [file(f"f{number}", Extent(number * BLOCK, BLOCK, 0), size=BLOCK) for number in (5, 2, 0, 4, 1, 3)]
    packed_by_hand(bench, tmp_path, image, [ROOT, *files])
    counting = FaultyObjects(store)

    MoverBench(counting).download(tmp_path / "back", kind=VolumeKind.DIRECTORY, includes=("f2",))

    assert (tmp_path / "back" / "f2").read_bytes() == image[2 * BLOCK : 3 * BLOCK]
    assert sum(key.endswith(".blk") for call, key in counting.calls if call == "get") == 2


def test_a_link_may_come_before_its_file(bench, tmp_path):
    link = TreeEntry(path="a-link", type=EntryType.HARD_LINK, target="file")
    packed_by_hand(bench, tmp_path, b"content", [ROOT, link, file("file", Extent(0, 7, 0), size=7)])

    bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)

    assert (tmp_path / "back" / "a-link").samefile(tmp_path / "back" / "file")


@pytest.mark.parametrize("length", [10, 3 * BLOCK])
def test_a_path_that_comes_twice_is_damage_and_leaves_nothing(bench, tmp_path, length):
    twice = file("x", Extent(0, length, 0), size=length)
    packed_by_hand(bench, tmp_path, bytes(BLOCK) + b"x" * 2 * BLOCK, [ROOT, twice, twice])

    with pytest.raises(DamagedMetadata, match="'x' comes twice"):
        bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)
    assert list(tmp_path.iterdir()) == []


def test_one_lost_block_ends_all_threads_and_leaves_nothing(bench, store, tree, tmp_path):
    for number in range(40):
        (tree / f"{number:02}").write_bytes(os.urandom(BLOCK if number % 2 else BLOCK // 3))
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    lost = StoredVolume(store, VOLUME).backup_cfg("backup-1").blocks[3]
    store.delete(block_key(VOLUME, lost.checksum))

    with pytest.raises(MissingBlock, match=f"at {lost.offset} of backup backup-1 of volume shop.db .*no other backup"):
        bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)
    assert [path.name for path in tmp_path.iterdir()] == ["tree"]


def test_a_full_disk_ends_all_threads_and_leaves_nothing(bench, tmp_path):
    too_large = file("x", Extent(0, 5, 2**62), size=2**62 + 5)
    packed_by_hand(bench, tmp_path, b"content", [ROOT, file("a", Extent(0, 7, 0), size=7), too_large])

    with pytest.raises(NoSpace):
        bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)
    assert list(tmp_path.iterdir()) == []


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0o077, 0o022, 0])
def test_files_get_their_modes_whatever_the_umask(bench, tree, tmp_path, mask):
    modes = [0o000, 0o400, 0o644, 0o666, 0o777, 0o4755, 0o2711, 0o1666]
    for mode in modes:
        (tree / f"{mode:o}").write_bytes(b"content")
        (tree / f"{mode:o}").chmod(mode)
    os.setxattr(tree / "644", "user.note", b"note")
    bench.upload(tree, kind=VolumeKind.DIRECTORY)

    with umask(mask):
        bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)

    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "back").iterdir()}
    assert found == {f"{mode:o}": mode for mode in modes}


def test_a_parent_that_gives_its_group_away_does_not_give_it_to_what_is_restored(bench, tree, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    (tree / "dir").mkdir()
    for name in ("mine", "dir/theirs", "dir/of-the-parent", "large"):
        (tree / name).write_bytes(os.urandom(2 * BLOCK if name == "large" else 10))
    os.chown(tree / "dir" / "theirs", 1234, 2345)
    os.chown(tree / "dir" / "of-the-parent", 0, 4321)
    (tree / "dir" / "of-the-parent").chmod(0o2751)
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    parent = tmp_path / "parent"
    parent.mkdir()
    os.chown(parent, 0, 4321)
    parent.chmod(0o2775)

    bench.download(parent / "back", kind=VolumeKind.DIRECTORY)

    def owners(path):
        return {str(one.relative_to(path)): (one.stat().st_mode, *owner(one)) for one in [path, *path.rglob("*")]}

    def owner(path):
        return path.stat().st_uid, path.stat().st_gid

    assert owners(parent / "back") == owners(tree)


def test_more_directories_than_are_kept_open_and_files_in_all_of_them(bench, tree, tmp_path):
    for number in range(150):
        (tree / f"{number:03}" / "deep").mkdir(parents=True)
    for name in ("a", "b"):
        for number in range(150):
            (tree / f"{number:03}" / "deep" / name).write_bytes(b"%d" % number)
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    before = open_files()

    bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)

    assert open_files() == before
    for number in range(150):
        assert (tmp_path / "back" / f"{number:03}" / "deep" / "b").read_bytes() == b"%d" % number


def test_a_shelf_gives_back_what_was_put_in_each_order():
    entries = [TreeEntry(path=name, type=EntryType.FIFO, xattrs={"user.a": b"\xff"}) for name in ("b", "\udcff", "a")]
    with EntryShelf() as shelf:
        for entry, rank in zip(entries, (2**60, 7, 7), strict=True):
            shelf.put(entry, rank)

        assert list(shelf.as_put()) == entries
        assert list(shelf.last_first()) == entries[::-1]
        assert list(shelf.by_rank()) == [entries[1], entries[2], entries[0]]

"""Trees of thousands of levels: measured, backed up, looked at, restored, read back, replaced and removed."""

import os
import tempfile
from pathlib import Path

import pytest

from tidegate.app.machine.scratch_files import ScratchFiles
from tidegate.datapath.inspection.browse import open_tree
from tidegate.datapath.inspection.tree_index import Marker
from tidegate.datapath.inspection.tree_look import index_tree
from tidegate.datapath.inspection.verify import Verification
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.format.trees.entry import LONGEST_PATH, EntryType
from tidegate.model.restores.restore import ExistingData
from tidegate.model.volumes.volume import VolumeKind
from tidegate.model.volumes.volume_ref import Directory
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.volumes.measure import measure
from tidegate.volumes.trees.clearing import clear_away
from tidegate.volumes.trees.known_tree import nothing_known
from tidegate.volumes.trees.scan import TreeScan

LEVELS = 5000


def dig(path, levels, name="d", *, twig=False):
    """Directories below each other, with a file in the last one and, with a twig, an empty directory beside each."""
    path.mkdir()
    at = os.open(path, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=at)
        if twig:
            os.mkdir("z", dir_fd=at)
        inner = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    handle = os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=at)
    os.write(handle, b"at the bottom")
    os.close(handle)
    os.link("file", "same", src_dir_fd=at, dst_dir_fd=at)
    os.close(at)


def depth(path):
    """Levels below it, by names alone."""
    at, levels = os.open(path, os.O_RDONLY), 0
    while "d" in (names := os.listdir(at)):  # noqa: PTH208  by a handle
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at, levels = inner, levels + 1
    os.close(at)
    assert sorted(names) == ["file", "same"]
    return levels


@pytest.fixture
def room():
    """A place of its own that is cleared here: what clears up after tests does not go so deep, and would fail."""
    place = Path(tempfile.mkdtemp(prefix="deep-"))
    yield place
    clear_away(str(place))
    assert not place.exists()


@pytest.fixture
def bench():
    return MoverBench(MemoryObjects(ManualClock()))


def test_a_tree_of_5000_levels_comes_back_and_is_replaced_by_the_next_restore(bench, room):
    dig(room / "tree", LEVELS)

    assert bench.upload(room / "tree", kind=VolumeKind.DIRECTORY).warnings == ()
    assert bench.upload(room / "tree", "backup-2", VolumeKind.DIRECTORY).new_bytes == 0
    bench.download(room / "back", kind=VolumeKind.DIRECTORY, read_back=True)
    assert depth(room / "back") == LEVELS
    bench.download(room / "back", "backup-2", VolumeKind.DIRECTORY, ExistingData.OVERWRITE)

    assert depth(room / "back") == LEVELS
    assert sorted(path.name for path in room.iterdir()) == ["back", "tree"]


def test_a_part_of_a_deep_tree_comes_back(bench, room):
    dig(room / "tree", LEVELS)
    bench.upload(room / "tree", kind=VolumeKind.DIRECTORY)

    bench.download(room / "back", kind=VolumeKind.DIRECTORY, includes=("file", "same"))

    assert depth(room / "back") == LEVELS


def test_a_deep_tree_is_looked_at_and_verified_like_any_other(bench, room):
    dig(room / "tree", LEVELS)
    bench.upload(room / "tree", kind=VolumeKind.DIRECTORY)
    volume = StoredVolume(bench.objects, bench.volume)
    bottom = "/".join(["d"] * LEVELS)

    index = index_tree(volume, "backup-1")
    with open_tree(volume, "backup-1") as tree:
        listed = [entry.path for entry in tree.below(bottom, recursive=False)]
        content = b"".join(tree.content(f"{bottom}/same"))

    assert [entry.name for entry in index.children(bottom, after=Marker(), limit=9)] == ["file", "same"]
    assert listed == [f"{bottom}/file", f"{bottom}/same"]
    assert content == b"at the bottom"
    assert Verification(percent=100, now=bench.clock.now()).volume(volume).whole


def test_a_deep_tree_is_measured(room):
    dig(room / "tree", LEVELS)

    assert measure(Directory(str(room / "tree"))) == len(b"at the bottom")


def test_what_a_killed_restore_left_of_a_deep_tree_is_cleared_away_by_the_next_one(bench, room):
    dig(room / "tree", 3)
    bench.upload(room / "tree", kind=VolumeKind.DIRECTORY)
    dig(room / ".back.tidegate-left", LEVELS, twig=True)

    bench.download(room / "back", kind=VolumeKind.DIRECTORY)

    assert sorted(path.name for path in room.iterdir()) == ["back", "tree"]


async def test_the_scratch_place_of_a_verification_is_cleared_of_a_deep_tree(room):
    files = ScratchFiles(room)
    dig(room / "tidegate-verify-x", LEVELS)

    await files.remove(str(room / "tidegate-verify-x"))

    assert list(room.iterdir()) == []


def test_clearing_away_goes_on_where_it_was_killed_and_never_through_a_link(room):
    dig(room / "tree", 200, twig=True)
    dig(room / "tree" / ".tidegate-removed-0", 100)
    (room / "tree" / ".tidegate-removed-1").touch()
    dig(room / "kept", 3)
    (room / "tree" / "d" / "out").symlink_to(room / "kept")
    (room / "tree" / "d").chmod(0o500)

    clear_away(str(room / "tree"))

    assert sorted(path.name for path in room.iterdir()) == ["kept"]
    assert depth(room / "kept") == 3


def test_a_path_that_is_too_long_for_a_backup_is_left_out_and_named_with_its_ends(room):
    dig(room / "tree", LONGEST_PATH // 256 + 10, "n" * 255)
    root = os.open(room / "tree", os.O_RDONLY)
    warnings = []
    scan = TreeScan(root, warn=warnings.append, still_wanted=lambda: None)

    kinds = [found.entry.type for found in scan.walk(nothing_known())]
    scan.close()
    os.close(root)

    assert kinds == [EntryType.DIRECTORY] * (LONGEST_PATH // 256 + 1)
    [sentence] = [warning for warning in warnings if "trusted" not in warning]
    assert sentence.startswith("nnn")
    assert sentence.endswith(f"nnn: its path is longer than {LONGEST_PATH} characters, so it was left out")
    assert (len(sentence) < 500, len(scan.unreadable)) == (True, 1)

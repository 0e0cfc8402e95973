"""File trees: packed, moved and unpacked, they are the same trees."""

import fcntl
import os
import socket
import stat

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate.errors import DestinationUnusable, WorkCancelled
from tidegate.model.restores.restore import ExistingData
from tidegate.model.volumes.volume import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench

MIB = 1024 * 1024
NAMES = st.binary(min_size=1, max_size=12).filter(lambda name: not {0, 47} & set(name) and name not in {b".", b".."})
CONTENTS = st.binary(max_size=300) | st.integers(1, 5 * MIB).map(lambda size: os.urandom(100).ljust(size, b"x"))
TREES = st.recursive(
    st.dictionaries(NAMES, CONTENTS, max_size=4),
    lambda inner: st.dictionaries(NAMES, CONTENTS | inner, max_size=4),
    max_leaves=8,
)


@pytest.fixture
def bench():
    return MoverBench(MemoryObjects(ManualClock()))


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree"
    path.mkdir()
    return path


def back_and_forth(bench, tree, to):
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    return bench.download(to, kind=VolumeKind.DIRECTORY)


def make(path, tree):
    path.mkdir()
    for name, content in tree.items():
        if isinstance(content, dict):
            make(path / os.fsdecode(name), content)
        else:
            (path / os.fsdecode(name)).write_bytes(content)


def picture(path):
    """All there is to see of a tree, as one value."""
    found = path.lstat()
    content = None
    if stat.S_ISDIR(found.st_mode):
        content = {inner.name: picture(inner) for inner in path.iterdir()}
    elif stat.S_ISLNK(found.st_mode):
        content = path.readlink()
    elif stat.S_ISREG(found.st_mode):
        content = path.read_bytes()
    return found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, content


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREES)
def test_any_tree_comes_back_byte_for_byte(tmp_path_factory, tree):
    place = tmp_path_factory.mktemp("any")
    make(place / "tree", tree)

    back_and_forth(MoverBench(MemoryObjects(ManualClock())), place / "tree", place / "back")

    assert picture(place / "back") == picture(place / "tree")


def test_links_modes_owners_times_and_attributes_come_back(bench, tree, tmp_path):
    (tree / "dir").mkdir(mode=0o750)
    file = tree / "dir" / "file"
    file.write_bytes(b"content")
    file.chmod(0o4711)
    (tree / "a-link").symlink_to("dir/file")
    (tree / "dangling").symlink_to("/no/such/place")
    os.link(file, tree / "other-name")
    os.mkfifo(tree / "pipe")
    os.setxattr(file, "user.note", b"\x00\xff")
    os.utime(file, ns=(0, -1_123_456_789))
    os.utime(tree / "dir", ns=(0, 123_456_789_987_654_321))

    result = back_and_forth(bench, tree, tmp_path / "back")

    back = tmp_path / "back"
    assert picture(back) == picture(tree)
    assert (back / "other-name").stat().st_ino == (back / "dir" / "file").stat().st_ino
    assert os.getxattr(back / "dir" / "file", "user.note") == b"\x00\xff"
    assert result.warnings == ()


def test_a_sparse_file_keeps_its_holes(bench, tree, tmp_path):
    with (tree / "sparse").open("wb") as file:
        for offset in (0, 10 * MIB, 30 * MIB + 5):
            file.seek(offset)
            file.write(b"data")
        file.truncate(64 * MIB)

    back_and_forth(bench, tree, tmp_path / "back")

    assert (tmp_path / "back" / "sparse").read_bytes() == (tree / "sparse").read_bytes()
    assert (tmp_path / "back" / "sparse").stat().st_blocks * 512 < MIB


def test_the_size_of_a_tree_is_that_of_its_files(bench, tree):
    (tree / "a").write_bytes(b"12345")

    assert bench.upload(tree, kind=VolumeKind.DIRECTORY).size == 5


def test_an_unchanged_tree_costs_no_new_bytes(bench, tree):
    for number in range(50):
        (tree / f"file-{number}").write_bytes(os.urandom(200_000))
    bench.upload(tree, "backup-1", VolumeKind.DIRECTORY)

    assert bench.upload(tree, "backup-2", VolumeKind.DIRECTORY).new_bytes == 0


def test_sockets_are_left_out_and_named(bench, tree, tmp_path):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tree / "sock"))
        result = bench.upload(tree, kind=VolumeKind.DIRECTORY)
    bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)

    assert result.warnings == ("sock: sockets and devices are not backed up",)
    assert list((tmp_path / "back").iterdir()) == []


def test_a_full_directory_is_refused_and_left_alone(bench, tree, tmp_path):
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_bytes(b"mine")

    with pytest.raises(DestinationUnusable, match="is not empty"):
        bench.download(tmp_path / "full", kind=VolumeKind.DIRECTORY)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]


def test_an_empty_directory_counts_as_free(bench, tree, tmp_path):
    (tree / "a").write_bytes(b"a")
    (tmp_path / "empty").mkdir()

    back_and_forth(bench, tree, tmp_path / "empty")

    assert (tmp_path / "empty" / "a").read_bytes() == b"a"


def test_overwriting_replaces_everything_and_leaves_nothing_beside(bench, tree, tmp_path):
    (tree / "new").write_bytes(b"new")
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    target = tmp_path / "target"
    (target / "deep").mkdir(parents=True)
    (target / "deep" / "old").write_bytes(b"old")
    (target / "deep").chmod(0o500)

    bench.download(target, kind=VolumeKind.DIRECTORY, existing_data=ExistingData.OVERWRITE)

    assert picture(target) == picture(tree)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["target", "tree"]


class CancelledAtFirstBlock(MoverBench):
    def hear(self, report):
        super().hear(report)
        if getattr(report, "progress", None) and report.progress.stage == "downloading":
            self.cancelled.set()


def test_a_cancelled_restore_leaves_the_destination_as_it_was(bench, tree, tmp_path):
    (tree / "new").write_bytes(b"new")
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "old").write_bytes(b"old")
    before = picture(tmp_path / "target")
    cancelling = CancelledAtFirstBlock(bench.objects)

    with pytest.raises(WorkCancelled):
        cancelling.download(tmp_path / "target", "backup-1", VolumeKind.DIRECTORY, ExistingData.OVERWRITE)

    assert picture(tmp_path / "target") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["target", "tree"]


def test_missing_parents_are_made_and_taken_away_again_after_an_error(bench, tree, tmp_path):
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    bench.download(tmp_path / "made" / "for" / "it", kind=VolumeKind.DIRECTORY)
    cancelling = CancelledAtFirstBlock(bench.objects)

    with pytest.raises(WorkCancelled):
        cancelling.download(tmp_path / "not" / "for" / "this", kind=VolumeKind.DIRECTORY)

    assert (tmp_path / "made" / "for" / "it").is_dir()
    assert not (tmp_path / "not").exists()


def test_what_a_killed_restore_left_beside_the_destination_is_cleared_away_by_the_next_one(bench, tree, tmp_path):
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    old, young, fresh = (tmp_path / f".target.tidegate-{name}" for name in ("old", "young", "fresh"))
    for place in (old, young, fresh):
        place.mkdir()
    (young / "half").write_bytes(b"half")
    (tmp_path / ".target.tidegate-image").write_bytes(b"half")
    os.utime(old, (0, 0))

    bench.download(tmp_path / "target", kind=VolumeKind.DIRECTORY)

    # The one that is young and empty may be of a restore that has not locked it yet.
    assert sorted(path.name for path in tmp_path.iterdir()) == [fresh.name, "target", "tree"]


def test_what_another_restore_works_on_is_left_alone(bench, tree, tmp_path):
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    busy = tmp_path / ".target.tidegate-busy"
    busy.mkdir()
    (busy / "half").write_bytes(b"half")
    handle = os.open(busy, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        bench.download(tmp_path / "target", kind=VolumeKind.DIRECTORY)
    finally:
        os.close(handle)

    assert (busy / "half").read_bytes() == b"half"


def test_a_tree_is_not_restored_to_an_image_nor_an_image_to_a_directory(bench, tree, tmp_path):
    (tree / "a").write_bytes(b"a")
    (tmp_path / "image").write_bytes(b"image")
    bench.upload(tree, "backup-tree", VolumeKind.DIRECTORY)
    bench.upload(tmp_path / "image", "backup-image")

    with pytest.raises(DestinationUnusable, match="restore it to a directory"):
        bench.download(tmp_path / "out", "backup-tree")
    with pytest.raises(DestinationUnusable, match="restore it to an image"):
        bench.download(tmp_path / "out", "backup-image", VolumeKind.DIRECTORY)
    assert not (tmp_path / "out").exists()

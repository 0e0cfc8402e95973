"""Whatever a file system can hold comes back, or a warning names what does not."""

import contextlib
import os
import shutil
import stat
import struct
import subprocess
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tidegate.format.trees.batches import Pack, Part, SplitFile
from tidegate.format.trees.entry import EntryType, Extent, TreeEntry
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.model.volumes.volume import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.objects.open import open_store
from tidegate.testing.clock import ManualClock
from tidegate.testing.machine.privileges import CAP_CHOWN, CAP_FSETID, CAP_SYS_ADMIN, without_capability
from tidegate.testing.mover_bench import MoverBench
from tidegate.volumes.trees.file_makers import FileMakers
from tidegate.volumes.trees.writer import TreeWriter

SECOND = 10**9
FAR_TIMES = {
    "first-of-all": -(2**63) * SECOND,
    "1883": -2_737_756_800 * SECOND - 1,
    "1969": -1,
    "2262": 2**63 - 1,
    "2262-and-a-bit": 2**63,
    "2300": 10_413_792_000 * SECOND,
    "last-of-all": (2**63 - 1) * SECOND,
}
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities that it can drop")


@pytest.fixture
def bench():
    return MoverBench(MemoryObjects(ManualClock()))


@pytest.fixture
def wide():
    """A place whose file system holds every time that the kernel knows."""
    if not Path("/dev/shm").is_dir():
        pytest.skip("there is no /dev/shm")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        os.utime(place, ns=(0, FAR_TIMES["last-of-all"]))
        if Path(place).stat().st_mtime_ns // SECOND != 2**63 - 1:
            pytest.skip("/dev/shm does not hold every time")
        yield Path(place)


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree"
    path.mkdir()
    return path


def times_in(path):
    return {entry.name: entry.lstat().st_mtime_ns for entry in path.iterdir()}


def at_all_times(tree):
    tree.mkdir()
    for number, (name, time_ns) in enumerate(FAR_TIMES.items()):
        path = tree / name
        [path.touch, path.mkdir, lambda path=path: path.symlink_to("x")][number % 3]()
        os.utime(path, ns=(0, time_ns), follow_symlinks=False)
    os.utime(tree, ns=(0, FAR_TIMES["2300"]))


def test_every_time_that_the_kernel_knows_comes_back(bench, wide):
    at_all_times(wide / "tree")

    bench.upload(wide / "tree", kind=VolumeKind.DIRECTORY)
    again = bench.upload(wide / "tree", "backup-2", VolumeKind.DIRECTORY)
    result = bench.download(wide / "back", "backup-2", VolumeKind.DIRECTORY)

    assert times_in(wide / "back") == FAR_TIMES
    assert (result.warnings, again.new_bytes) == ((), 0)


def test_a_time_that_the_destination_cannot_hold_is_named(bench, wide, tmp_path):
    at_all_times(wide / "tree")
    bench.upload(wide / "tree", kind=VolumeKind.DIRECTORY)

    result = bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)

    lost = {
        name for name, time_ns in times_in(tmp_path / "back").items() if time_ns // SECOND != FAR_TIMES[name] // SECOND
    }
    assert {warning.partition(":")[0] for warning in result.warnings} - {"."} == lost
    if "last-of-all" in lost:
        words = "the file system cannot hold 9223372036854775807 seconds since 1970"
        assert f"last-of-all: its time could not be restored: {words}" in result.warnings


def test_two_of_the_largest_files_that_there_can_be_are_measured_and_come_back(bench, wide):
    (wide / "tree").mkdir()
    try:
        for name in "ab":
            (wide / "tree" / name).touch()
            os.truncate(wide / "tree" / name, 2**63 - 1)
    except OSError:
        pytest.skip("/dev/shm holds no files of 8 EiB")

    result = bench.upload(wide / "tree", kind=VolumeKind.DIRECTORY)
    bench.download(wide / "back", kind=VolumeKind.DIRECTORY)

    assert result.size == 2**63 - 1
    assert [(wide / "back" / name).stat().st_size for name in "ab"] == [2**63 - 1] * 2


@needs_root
def test_a_setgid_bit_that_the_kernel_drops_is_named(bench, tree, tmp_path):
    for path in (tree / "tool", tree / "shared"):
        path.touch() if path.name == "tool" else path.mkdir()
        os.chown(path, 1234, 4321)
        path.chmod(0o6755)
    bench.upload(tree, kind=VolumeKind.DIRECTORY)

    result = without_capability(CAP_FSETID, lambda: bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY))

    sentence = "its setgid bit could not be restored: the system dropped it"
    assert sorted(result.warnings) == [f"shared: {sentence}", f"tool: {sentence}"]
    assert bench.download(tmp_path / "whole", kind=VolumeKind.DIRECTORY).warnings == ()


@needs_root
def test_a_program_that_does_not_get_its_owner_back_does_not_run_with_the_rights_of_another(bench, tree, tmp_path):
    for path, owner in ((tree / "theirs", 1234), (tree / "ours", 0)):
        path.touch()
        os.chown(path, owner, owner)
        path.chmod(0o6755)
    bench.upload(tree, kind=VolumeKind.DIRECTORY)

    result = without_capability(CAP_CHOWN, lambda: bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY))

    modes = {path.name: oct(path.stat().st_mode & 0o7777) for path in (tmp_path / "back").iterdir()}
    assert modes == {"theirs": "0o755", "ours": "0o6755"}
    assert sorted(result.warnings) == [
        "theirs: its owner could not be restored: Operation not permitted",
        "theirs: its setuid and setgid bit was left out: the file has another owner now",
    ]


def an_acl(*entries):
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", tag, rights, who) for tag, rights, who in entries)


_ANYONE = 2**32 - 1
FOR_1234_TOO = an_acl((1, 7, _ANYONE), (2, 7, 1234), (4, 5, _ANYONE), (16, 7, _ANYONE), (32, 0, _ANYONE))
INHERITED = "system.posix_acl_default"


@pytest.mark.parametrize("kind", [VolumeKind.DIRECTORY, VolumeKind.IMAGE])
def test_what_is_restored_gives_no_rights_that_were_not_backed_up(bench, tree, tmp_path, kind):
    (tree / "below").mkdir()
    (tree / "below" / "file").write_bytes(b"secret")
    (tree / "below" / "file").chmod(0o640)
    source = tree if kind is VolumeKind.DIRECTORY else tree / "below" / "file"
    place = tmp_path / "open to 1234"
    place.mkdir()
    try:
        os.setxattr(place, INHERITED, FOR_1234_TOO)
    except OSError:
        pytest.skip("the file system has no access lists")
    bench.upload(source, kind=kind)

    result = bench.download(place / "back", kind=kind)

    found = [place / "back", *(place / "back").rglob("*")]
    assert {path.name: os.listxattr(path) for path in found} == {path.name: [] for path in found}
    assert result.warnings == ()


@pytest.fixture
def trusted(tree):
    """A tree with attributes that only the system's root sees."""
    (tree / "file").touch()
    (tree / "link").symlink_to("file")
    os.mkfifo(tree / "pipe")
    try:
        for path in tree.iterdir():
            os.setxattr(path, "trusted.note", path.name.encode(), follow_symlinks=False)
    except OSError:
        pytest.skip("this process may not set trusted attributes here")
    return tree


def test_trusted_attributes_come_back_of_links_and_pipes_too(bench, trusted, tmp_path):
    uploaded = bench.upload(trusted, kind=VolumeKind.DIRECTORY)
    restored = bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)

    notes = {
        path.name: os.getxattr(path, "trusted.note", follow_symlinks=False) for path in (tmp_path / "back").iterdir()
    }
    assert notes == {"file": b"file", "link": b"link", "pipe": b"pipe"}
    assert (uploaded.warnings, restored.warnings) == ((), ())


def test_trusted_attributes_that_may_not_be_seen_or_set_are_named(bench, trusted, tmp_path):
    blind = without_capability(
        CAP_SYS_ADMIN,
        lambda: MoverBench(MemoryObjects(ManualClock())).upload(trusted, kind=VolumeKind.DIRECTORY),
    )
    bench.upload(trusted, kind=VolumeKind.DIRECTORY)
    result = without_capability(CAP_SYS_ADMIN, lambda: bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY))

    assert blind.warnings == (
        "without CAP_SYS_ADMIN no trusted.* attribute is seen: if files have any, they were left out",
    )
    assert sorted(warning.partition(" could")[0] for warning in result.warnings) == [
        f"{name}: its attribute trusted.note" for name in ("file", "link", "pipe")
    ]


def test_attributes_that_the_last_backup_could_not_see_are_in_the_next_one_that_can(trusted, tmp_path):
    (tmp_path / "store").mkdir()

    def upload(backup):
        return MoverBench(open_store(target)).upload(trusted, backup, VolumeKind.DIRECTORY)

    target = TargetAccess(url=f"file://{tmp_path}/store")
    (trusted / "file").write_bytes(b"content")
    without_capability(CAP_SYS_ADMIN, lambda: upload("backup-1"))
    without_capability(CAP_SYS_ADMIN, lambda: upload("backup-2"))
    seeing = upload("backup-3")
    MoverBench(open_store(target)).download(tmp_path / "back", "backup-3", VolumeKind.DIRECTORY)

    assert seeing.warnings == ()
    assert os.getxattr(tmp_path / "back" / "file", "trusted.note") == b"file"


@pytest.fixture
def old_disk(tmp_path):
    """A file system of the kind of 2005: whole seconds, until 2038."""
    image, place = tmp_path / "disk", tmp_path / "old"
    image.touch()
    os.truncate(image, 32 * 1024 * 1024)
    place.mkdir()
    if not shutil.which("mkfs.ext4"):
        pytest.skip("there is no mkfs.ext4")
    subprocess.run(["mkfs.ext4", "-q", "-I", "128", image], check=True, capture_output=True)
    if subprocess.run(["mount", "-o", "loop", image, place], check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.parametrize("processes", [0, 1])
def test_a_file_system_that_rounds_all_times_is_named_once(old_disk, processes):
    entries = [TreeEntry(path=name, type=EntryType.FILE, mtime_ns=10**18 + 5) for name in "ab"]
    files = [replace(entry, size=1, extents=(Extent(0, 1, 0),)) for entry in entries]
    with contextlib.closing(TreeWriter(str(old_disk), block_size=4096)) as writer:
        with FileMakers(writer, processes=processes, block_size=4096, on_wait=lambda: None) as makers:
            makers.write_pack(Pack(0, files), b"x")
            makers.finish()

        assert writer.warnings == ["times were rounded: the file system does not hold nanoseconds"]
        assert (old_disk / "a").stat().st_mtime_ns == 10**18


LONGER_THAN_A_NAME = "n" * 300


@pytest.mark.parametrize("kind", [EntryType.DIRECTORY, EntryType.FILE, EntryType.FIFO, EntryType.SYMLINK])
def test_what_the_destination_cannot_hold_is_named(tmp_path, kind):
    target = "x" if kind is EntryType.SYMLINK else ""
    with contextlib.closing(TreeWriter(str(tmp_path), block_size=4096)) as writer:
        writer.make(TreeEntry(path="d", type=EntryType.DIRECTORY))

        with pytest.raises(OSError, match=f"d/{LONGER_THAN_A_NAME}: File name too long$"):
            writer.make(TreeEntry(path=f"d/{LONGER_THAN_A_NAME}", type=kind, target=target))


def test_a_file_that_the_destination_cannot_hold_is_named(tmp_path):
    file = TreeEntry(path=LONGER_THAN_A_NAME, type=EntryType.FILE, size=1, extents=(Extent(0, 1, 0),))
    split = SplitFile(file, parts=2)
    with contextlib.closing(TreeWriter(str(tmp_path), block_size=4096)) as writer:
        for write in (
            lambda: writer.write_pack(Pack(0, (file,)), b"x"),
            lambda: writer.write_part(Part(0, split, file.extents), b"x"),
        ):
            with pytest.raises(OSError, match=f"{LONGER_THAN_A_NAME}: File name too long"):
                write()


def test_attributes_that_no_line_can_hold_are_named_by_each_backup(wide):
    in_an_hour = ManualClock(datetime.now(UTC) + timedelta(hours=1))  # noqa: TID251  files have the machine's time
    bench = MoverBench(MemoryObjects(in_an_hour), clock=in_an_hour)
    (wide / "tree").mkdir()
    (wide / "tree" / "laden").write_bytes(b"content")
    try:
        for number in range(200):
            os.setxattr(wide / "tree" / "laden", f"user.{number}", bytes(65_536))
    except OSError:
        pytest.skip("/dev/shm does not hold so many attributes")
    sentence = "laden: its extended attributes are too large and were left out"
    for number in (1, 2, 3):
        assert bench.upload(wide / "tree", f"backup-{number}", VolumeKind.DIRECTORY).warnings == (sentence,)
    bench.download(wide / "back", "backup-3", VolumeKind.DIRECTORY)
    assert (wide / "back" / "laden").read_bytes() == b"content"


@pytest.fixture
def plain_disk(tmp_path):
    """A file system that keeps no attributes."""
    place = tmp_path / "plain"
    place.mkdir()
    if subprocess.run(["mount", "-t", "ramfs", "plain", place], check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.parametrize("kind", [VolumeKind.DIRECTORY, VolumeKind.IMAGE])
def test_the_group_does_not_get_what_an_access_list_gave_to_another(bench, tree, plain_disk, kind):
    (tree / "file").write_bytes(b"secret")
    try:
        os.setxattr(tree / "file", "system.posix_acl_access", FOR_1234_TOO)
    except OSError:
        pytest.skip("the file system has no access lists")
    assert stat.S_IMODE((tree / "file").stat().st_mode) == 0o770  # the mask, and what others have
    bench.upload(tree if kind is VolumeKind.DIRECTORY else tree / "file", kind=kind)

    bench.download(plain_disk / "back", kind=kind)

    back = plain_disk / "back" / "file" if kind is VolumeKind.DIRECTORY else plain_disk / "back"
    assert stat.S_IMODE(back.stat().st_mode) == 0o750


@needs_root
def test_an_image_tells_what_of_its_rights_did_not_come_back(bench, tmp_path):
    (tmp_path / "image").write_bytes(b"image")
    os.chown(tmp_path / "image", 3_000_000_000, 4321)
    bench.upload(tmp_path / "image")
    bench.download(tmp_path / "back")
    place = tmp_path / "setgid"
    place.touch()
    os.chown(place, 0, 4321)
    place.chmod(0o2755)

    result = without_capability(CAP_FSETID, lambda: bench.download(place, existing_data=ExistingData.OVERWRITE))

    assert (tmp_path / "back").stat().st_uid == 3_000_000_000
    assert result.warnings == (f"{place}: its mode 2755 could not be restored: the system dropped a part of it",)


def test_links_and_pipes_of_several_names_stay_one_each(bench, tree, tmp_path):
    (tree / "link").symlink_to("file")
    os.mkfifo(tree / "pipe")
    for name in ("link", "pipe"):
        os.link(tree / name, tree / f"{name}-too", follow_symlinks=False)
    bench.upload(tree, kind=VolumeKind.DIRECTORY)

    result = bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY, read_back=True)
    part = bench.download(tmp_path / "part", kind=VolumeKind.DIRECTORY, includes=("*-too",))

    found = {path.name: path.lstat() for path in (tmp_path / "back").iterdir()}
    assert found["link"].st_ino == found["link-too"].st_ino
    assert found["pipe"].st_ino == found["pipe-too"].st_ino
    assert (result.warnings, part.warnings) == ((), ())
    assert (tmp_path / "part" / "link-too").readlink() == Path("file")
    assert (tmp_path / "part" / "pipe-too").is_fifo()

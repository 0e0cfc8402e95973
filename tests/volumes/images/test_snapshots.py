"""Images that are written to while they are read: a snapshot where the file system has one, else a word about it."""

import errno
import os
import stat

import pytest

from tidegate.disk.reflink import unnamed_clone
from tidegate.errors import SourceUnreadable
from tidegate.model.transfers.mover_job import SnapshotWish
from tidegate.model.volumes.volume_ref import Image
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.machine.open_files import open_files
from tidegate.testing.mover_bench import MoverBench
from tidegate.volumes.images.image import ImageSource

OLD, NEW = b"old" * 1000, b"new" * 2000
LATER = ManualClock().now().replace(year=2100)


@pytest.fixture
def image(tmp_path):
    (tmp_path / "image").write_bytes(OLD)
    return tmp_path / "image"


def copying_clone(source, directory):
    """What a file system with reflinks does, at the cost of a copy: here there may be none."""
    handle = os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    os.pwrite(handle, os.pread(source, os.fstat(source).st_size, 0), 0)
    return handle


def failing_with(number):
    def clone(_source, _directory):
        raise OSError(number, os.strerror(number))

    return clone


def opened(path, wish=SnapshotWish.AUTO, clone=copying_clone):
    return ImageSource(Image(str(path)), wish=wish, clone=clone)


def test_a_snapshot_is_taken_when_the_image_is_opened_and_later_writes_do_not_matter(image):
    with opened(image) as source:
        image.write_bytes(NEW)
        read = source.read_at(0, source.size)

        assert (read, source.snapshot, source.warnings()) == (OLD, "reflink", ())


def test_a_snapshot_has_no_name_and_is_gone_with_its_source(image):
    with opened(image):
        assert [path.name for path in image.parent.iterdir()] == ["image"]
        with_it = open_files()
    without_it = open_files()

    assert with_it == without_it + 2


def test_a_snapshot_proves_what_the_image_was_when_it_was_taken(image):
    with opened(image) as source:
        image.write_bytes(NEW)
        then = source.proof(settled_before=LATER)
    with opened(image) as source:
        now = source.proof(settled_before=LATER)

    assert then is not None
    assert now not in {then, None}


def test_an_image_that_changes_while_its_snapshot_is_taken_proves_nothing(image):
    def slow(source, directory):
        image.write_bytes(NEW)
        return copying_clone(source, directory)

    with opened(image, clone=slow) as source:
        assert source.proof(settled_before=LATER) is None


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.EOPNOTSUPP, "its file system has none"),
        (errno.EXDEV, "its file system has none"),
        (errno.EACCES, "its directory may not be written to"),
        (errno.ENOSPC, "No space left on device"),
    ],
)
def test_where_there_is_no_snapshot_the_image_is_read_live_and_the_result_says_so(image, number, why):
    with opened(image, clone=failing_with(number)) as source:
        assert source.read_at(0, len(OLD)) == OLD
        assert source.warnings() == (f"{image}: live read, without a snapshot: {why}",)
        assert source.snapshot == "none"


def test_an_image_that_nobody_had_to_read_has_no_warning(image):
    with opened(image, clone=failing_with(errno.EOPNOTSUPP)) as source:
        assert source.warnings() == ()


def _write(image):
    image.write_bytes(NEW)


def _protect(image):
    image.chmod(0o400)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_write, "live read: the image changed while it was read; the backup may mix old and new content"),
        (_protect, "live read: the image changed while it was read, its rights or its name if not its content"),
        (os.unlink, "live read: the image was removed or replaced while it was read; the backup has the earlier one"),
    ],
)
@pytest.mark.parametrize("wish", [SnapshotWish.AUTO, SnapshotWish.NEVER])
def test_a_change_during_a_live_read_is_told(image, change, sentence, wish):
    with opened(image, wish, clone=failing_with(errno.EOPNOTSUPP)) as source:
        source.read_at(0, 100)
        change(image)

        assert source.warnings() == (f"{image}: {sentence}",)
        assert source.proof(settled_before=LATER) is None


def test_what_is_written_while_the_work_waits_is_read_and_no_change(image):
    with opened(image, SnapshotWish.NEVER) as source:
        image.write_bytes(NEW)
        source.begin_reading()

        assert (source.read_at(0, source.size), source.warnings()) == (NEW, ())
        assert source.proof(settled_before=LATER) is not None


def test_who_wants_no_snapshot_gets_none_and_no_warning(image):
    with opened(image, SnapshotWish.NEVER) as source:
        source.read_at(0, 100)

        assert (source.snapshot, source.warnings()) == ("none", ())


def test_who_requires_a_snapshot_is_refused_without_one_and_no_handle_stays_open(image):
    before = open_files()
    with pytest.raises(SourceUnreadable, match="cannot be read from a snapshot: its file system has none"):
        opened(image, SnapshotWish.REQUIRED, clone=failing_with(errno.EOPNOTSUPP))

    assert open_files() == before


def test_an_upload_tells_how_it_read_its_image(image):
    result = MoverBench(MemoryObjects(ManualClock())).upload(image)

    assert result.snapshot in {"reflink", "none"}
    assert len(result.warnings) == (result.snapshot == "none")


def test_a_clone_of_the_file_system_holds_the_same_and_stays_as_it_is(reflinks):
    image = reflinks / "cloned"
    image.write_bytes(OLD)
    with image.open("rb") as file:
        clone = unnamed_clone(file.fileno(), str(image.parent))
        image.write_bytes(NEW)
        found = os.fstat(clone)
        content = os.pread(clone, found.st_size, 0)
        os.close(clone)

    assert (content, stat.S_IMODE(found.st_mode), found.st_nlink) == (OLD, 0o600, 0)


def test_a_clone_across_file_systems_is_impossible_and_no_handle_stays_open(image):
    before = open_files()
    with image.open("rb") as file, pytest.raises(OSError, match=r"cross-device|not supported|Inappropriate|Invalid"):
        unnamed_clone(file.fileno(), "/dev/shm")

    assert open_files() == before

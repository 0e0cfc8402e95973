"""What a mounted file system holds is replaced entry by entry: all of it or, after an error, nothing."""

import os
import stat

import pytest

from tidegate.errors import SourceUnreadable
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.sample_data import fill_tree, picture
from tidegate.volumes.trees.mounted_tree import swap_content


@pytest.fixture
def mount(tmp_path):
    """A directory stands for the file system: the swap does not look whether it is one."""
    fill_tree(tmp_path / "mount", seed=1)
    (tmp_path / "mount" / "lost+found").mkdir()
    fill_tree(tmp_path / "mount" / "new", seed=2)
    return tmp_path / "mount"


def test_the_new_takes_the_place_of_the_old_with_the_rights_of_its_root(mount):
    (mount / "new").chmod(0o550)
    os.utime(mount / "new", ns=(5, 7))
    wanted = picture(mount / "new")

    swap_content(str(mount / "new"), str(mount))

    found = mount.stat()
    assert (stat.S_IMODE(found.st_mode), found.st_mtime_ns) == (0o550, 7)
    (mount / "lost+found").rmdir()
    assert picture(mount) == wanted


def test_the_root_has_the_attributes_that_were_backed_up_and_no_others(mount):
    try:
        os.setxattr(mount, "user.before", b"old")
        os.setxattr(mount / "new", "user.note", b"new")
    except OSError:
        pytest.skip("the file system has no extended attributes")

    swap_content(str(mount / "new"), str(mount))

    assert os.listxattr(mount) == ["user.note"]


def test_after_an_error_everything_is_as_it_was(mount):
    (mount / "new").chmod(0o700)
    (mount / "new" / "new").mkdir()  # cannot go where the place that it is built in lies
    before = picture(mount)

    with pytest.raises(OSError, match=r"not empty|exists|busy|Invalid"):
        swap_content(str(mount / "new"), str(mount))

    assert picture(mount) == before


def test_a_tree_whose_restore_was_interrupted_says_so_and_is_not_backed_up(mount):
    (mount / ".restore-not-finished-x").mkdir()

    with pytest.raises(SourceUnreadable, match="holds a restore that was not finished and is not whole"):
        MoverBench(MemoryObjects(ManualClock())).upload(mount, kind=VolumeKind.DIRECTORY)

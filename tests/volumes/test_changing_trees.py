"""Trees that do not hold still, and trees that may not be read."""

import contextlib
import os
import tempfile
from pathlib import Path

import pytest

from tidegate.errors import SourceUnreadable, WorkCancelled
from tidegate.format.packed_tree import changed_files
from tidegate.volumes.directory import DirectorySource

MIB = 1024 * 1024


def still_wanted():
    """Nobody cancels."""


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "a").write_bytes(b"a" * 100)
    (tmp_path / "b").write_bytes(b"b" * 100)
    return tmp_path


def read_after(tree, change):
    with DirectorySource(str(tree), still_wanted=still_wanted) as source:
        change()
        return source.read_at(0, 200), list(source.warnings()), changed_files(source.cfg_parameters)


def test_a_tree_that_holds_still_has_no_warnings(tree):
    assert read_after(tree, lambda: None) == (b"a" * 100 + b"b" * 100, [], [])


def test_a_file_that_vanishes_is_zeros_and_named(tree):
    content, warnings, changed = read_after(tree, (tree / "a").unlink)

    assert content == bytes(100) + b"b" * 100
    assert changed == ["a"]
    assert "a: could not be read any more" in warnings[0]


def test_a_file_that_shrinks_is_filled_with_zeros_and_named(tree):
    content, warnings, changed = read_after(tree, lambda: os.truncate(tree / "a", 10))

    assert content == b"a" * 10 + bytes(90) + b"b" * 100
    assert (changed, len(warnings)) == (["a"], 1)


def test_a_file_that_grows_is_cut_and_named(tree):
    content, warnings, changed = read_after(tree, lambda: (tree / "a").write_bytes(b"A" * 500))

    assert content == b"A" * 100 + b"b" * 100
    assert (changed, len(warnings)) == (["a"], 1)


def test_a_file_that_becomes_a_link_is_not_followed(tree, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_bytes(b"s" * 100)

    def swap():
        (tree / "a").unlink()
        (tree / "a").symlink_to(secret)

    content, _, changed = read_after(tree, swap)

    assert content == bytes(100) + b"b" * 100
    assert changed == ["a"]


def test_a_directory_that_becomes_a_link_is_not_followed(tmp_path, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "f").write_bytes(b"s" * 200)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(b"f" * 200)

    def swap():
        (tmp_path / "d" / "f").unlink()
        (tmp_path / "d").rmdir()
        (tmp_path / "d").symlink_to(elsewhere)

    assert read_after(tmp_path, swap)[0] == bytes(200)


@contextlib.contextmanager
def as_nobody():
    """Root may read everything, and tests may run as root."""
    before = os.geteuid()
    os.seteuid(65534 if before == 0 else before)
    try:
        yield
    finally:
        os.seteuid(before)


def test_what_may_not_be_read_is_left_out_and_named():
    with tempfile.TemporaryDirectory() as path:
        tree = Path(path)
        tree.chmod(0o755)
        (tree / "a").write_bytes(b"a" * 100)
        (tree / "b").write_bytes(b"b" * 100)
        (tree / "d").mkdir(mode=0)
        (tree / "a").chmod(0)
        with as_nobody(), DirectorySource(path, still_wanted=still_wanted) as source:
            assert source.read_at(0, 100) == b"b" * 100
            assert [warning.split(":")[0] for warning in source.warnings()] == ["a", "d"]


def test_equal_trees_make_equal_images(tree):
    (tree / "big").write_bytes(os.urandom(3 * MIB))
    with DirectorySource(str(tree), still_wanted=still_wanted) as one:
        first = one.read_at(0, one.size)
    with DirectorySource(str(tree), still_wanted=still_wanted) as other:
        assert other.read_at(0, other.size) == first


def test_any_cut_of_the_image_reads_the_same(tree):
    (tree / "big").write_bytes(os.urandom(3 * MIB + 7))
    with DirectorySource(str(tree), still_wanted=still_wanted) as source:
        whole = source.read_at(0, source.size)
        step = 999_983
        assert b"".join(source.read_at(at, step) for at in range(0, source.size, step))[: source.size] == whole


def test_a_long_walk_can_be_ended(tree):
    def no_longer():
        raise WorkCancelled("enough")

    with pytest.raises(WorkCancelled), DirectorySource(str(tree), still_wanted=no_longer):
        pass


def test_a_tree_that_is_not_there_is_told_in_a_sentence(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SourceUnreadable, match="nothing does not exist"):
        DirectorySource(str(tmp_path / "nothing"), still_wanted=still_wanted)
    with pytest.raises(SourceUnreadable, match="file is not a directory"):
        DirectorySource(str(tmp_path / "file"), still_wanted=still_wanted)

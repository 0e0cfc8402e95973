"""Trees that do not hold still, and trees that may not be read."""

import contextlib
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tidegate.errors import SourceUnreadable, WorkCancelled
from tidegate.format.trees.entry import EntryType
from tidegate.format.trees.manifest import decode_manifest
from tidegate.format.trees.packed_tree import TreeMark, changed_files
from tidegate.volumes.trees.directory import DirectorySource

MIB = 1024 * 1024
NOW = datetime(2100, 1, 1, tzinfo=UTC)


def still_wanted():
    """Nobody cancels."""


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "a").write_bytes(b"a" * 100)
    (tmp_path / "b").write_bytes(b"b" * 100)
    return tmp_path


def opened(tree, **asked):
    asked = {"block_size": 2 * MIB, "settled_before": NOW, "still_wanted": still_wanted} | asked
    return DirectorySource(str(tree), **asked)


def read_all(source):
    """Everything, as an upload would read it, round after round."""
    image = {}
    for ranges in source.rounds():
        for offset, length in ranges:
            for at in range(offset, offset + length, 2 * MIB):
                image[at] = source.read_at(at, 2 * MIB)
    return b"".join(image[at] for at in sorted(image))


def backed_up_while(tree, change, *, times=1):
    """What a restore would see of each file, the warnings, and the files that the cfg names as changed.

    `change` is made before a round is read, in so many rounds.
    """
    image, entries = {}, {}
    with opened(tree) as source:
        for number, ranges in enumerate(source.rounds()):
            if number < times:
                change()
            for offset, length in ranges:
                for at in range(offset, offset + length, 2 * MIB):
                    image[at] = source.read_at(at, 2 * MIB)
        mark = TreeMark.of(source.cfg_parameters, image_size=source.size)
        whole = b"".join(image.get(at, bytes(2 * MIB)) for at in range(0, source.size, 2 * MIB))
        lines = whole[mark.manifest_offset :][: mark.manifest_length].splitlines()
        for entry in decode_manifest(filter(None, lines), content_end=mark.manifest_offset):
            entries[entry.path] = entry
        contents = {
            path: b"".join(whole[extent.image_offset :][: extent.length] for extent in entry.extents)
            for path, entry in entries.items()
            if entry.type is EntryType.FILE
        }
        assert mark.file_bytes == sum(map(len, contents.values()))
        return contents, list(source.warnings()), changed_files(source.cfg_parameters)


A, B = b"a" * 100, b"b" * 100


def test_a_tree_that_holds_still_has_no_warnings(tree):
    assert backed_up_while(tree, lambda: None) == ({"a": A, "b": B}, [], [])


def test_a_file_that_vanishes_is_left_out_and_named(tree):
    contents, warnings, changed = backed_up_while(tree, (tree / "a").unlink)

    assert (contents, changed) == ({"b": B}, [])
    assert warnings == ["a: vanished while the tree was read"]


def test_links_to_a_file_that_vanishes_are_left_out_too(tree):
    os.link(tree / "a", tree / "z")

    def vanish():
        (tree / "a").unlink()
        (tree / "z").unlink()

    contents, warnings, _ = backed_up_while(tree, vanish)

    assert contents == {"b": B}
    assert [warning.split(":")[0] for warning in warnings] == ["z", "a"]


@pytest.mark.parametrize(
    "after", [b"", b"A" * 10, b"A" * 100, b"A" * (3 * MIB)], ids=["empty", "less", "other", "more"]
)
def test_a_file_that_changes_once_is_read_again_and_whole(tree, after):
    assert backed_up_while(tree, lambda: (tree / "a").write_bytes(after)) == ({"a": after, "b": B}, [], [])


def test_a_file_that_keeps_changing_is_named_in_the_warnings_and_in_the_cfg(tree):
    def change():
        with (tree / "a").open("ab") as file:
            file.write(b"+")

    contents, warnings, changed = backed_up_while(tree, change, times=3)

    assert contents == {"a": A + b"++", "b": B}  # cut to the size that it had when it was looked at last
    assert changed == ["a"]
    assert warnings == ["a: changed while it was read; the backup may mix old and new content"]


def test_a_file_that_shrinks_for_ever_is_filled_with_zeros(tree):
    sizes = iter([50, 40, 30])

    contents, _, changed = backed_up_while(tree, lambda: os.truncate(tree / "a", next(sizes)), times=3)

    assert (contents["a"], changed) == (b"a" * 30 + bytes(10), ["a"])


def test_a_file_that_becomes_a_link_is_not_followed(tree, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_bytes(b"s" * 100)

    def swap():
        (tree / "a").unlink()
        (tree / "a").symlink_to(secret)

    contents, warnings, _ = backed_up_while(tree, swap)

    assert contents == {"b": B}
    assert warnings == ["a: vanished while the tree was read"]


def test_a_directory_that_becomes_a_link_is_not_followed(tmp_path, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "f").write_bytes(b"s" * 200)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(b"f" * 200)

    def swap():
        (tmp_path / "d" / "f").unlink()
        (tmp_path / "d").rmdir()
        (tmp_path / "d").symlink_to(elsewhere)

    assert backed_up_while(tmp_path, swap)[0] == {}


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
        with as_nobody(), opened(path) as source:
            read_all(source)
            assert [warning.split(":")[0] for warning in source.warnings() if "trusted" not in warning] == ["d", "a"]


def test_equal_trees_make_equal_images(tree):
    (tree / "big").write_bytes(os.urandom(3 * MIB))
    with opened(tree) as one, opened(tree) as other:
        assert read_all(one) == read_all(other)


def test_any_cut_of_the_image_reads_the_same(tree):
    (tree / "big").write_bytes(os.urandom(3 * MIB + 7))
    with opened(tree) as source:
        whole = read_all(source)
        step = 999_983
        assert b"".join(source.read_at(at, step) for at in range(0, source.size, step))[: source.size] == whole


def test_a_long_walk_can_be_ended(tree):
    def no_longer():
        raise WorkCancelled("enough")

    with pytest.raises(WorkCancelled), opened(tree, still_wanted=no_longer):
        pass


def test_a_tree_that_is_not_there_is_told_in_a_sentence(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SourceUnreadable, match="nothing does not exist"):
        opened(tmp_path / "nothing")
    with pytest.raises(SourceUnreadable, match="file is not a directory"):
        opened(tmp_path / "file")

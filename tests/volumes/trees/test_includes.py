"""Only some paths of a tree come back, with the directories on the way and nothing else."""

import pytest

from tidegate.errors import InvalidInput, NotFound
from tidegate.format.trees.entry import ROOT_PATH, EntryType, TreeEntry
from tidegate.format.trees.globs import TreeGlobs
from tidegate.format.trees.selection import selected_entries
from tidegate.model.volumes.volume import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench


@pytest.mark.parametrize(
    ("glob", "path", "covered"),
    [
        ("*.txt", "a/b/c.txt", True),
        ("*.txt", "c.txt.gz", False),
        ("a/*", "a/b/c.txt", True),  # by way of a/b
        ("a/*.txt", "a/b/c.txt", False),
        ("a/**/c.txt", "a/c.txt", True),
        ("/c.txt", "a/c.txt", False),
        ("a", "a/b", True),
        ("b", "a/b/c", True),
        ("a/", "a/b", True),
        ("[!a]?.txt", "bc.txt", True),
        ("[!a]?.txt", "ac.txt", False),
        ("[a-c].txt", "b.txt", True),
        ("x[", "x[", True),
        ("a.b", "axb", False),
    ],
)
def test_globs_mean_what_people_know(glob, path, covered):
    parts = path.split("/")
    way = [ROOT_PATH, *("/".join(parts[:depth]) for depth in range(1, len(parts)))]
    tree = [*(TreeEntry(path=one, type=EntryType.DIRECTORY) for one in way), TreeEntry(path=path, type=EntryType.FIFO)]

    found = [entry.path for entry in selected_entries(lambda: iter(tree), TreeGlobs([glob]))]

    assert found == ([*way, path] if covered else [ROOT_PATH])


@pytest.mark.parametrize("glob", ["", "/", "../x", "a/./b"])
def test_a_glob_that_can_never_match_is_wrong(glob):
    with pytest.raises(InvalidInput):
        TreeGlobs([glob])


@pytest.fixture
def bench(tmp_path):
    tree = tmp_path / "tree"
    (tree / "a" / "deep").mkdir(parents=True)
    (tree / "b").mkdir()
    (tree / "a" / "deep" / "one.txt").write_text("one")
    (tree / "a" / "two.bin").write_bytes(b"2" * 3_000_000)
    (tree / "b" / "three.txt").hardlink_to(tree / "a" / "deep" / "one.txt")
    (tree / "b" / "four.txt").hardlink_to(tree / "a" / "deep" / "one.txt")
    bench = MoverBench(MemoryObjects(ManualClock()))
    bench.upload(tree, kind=VolumeKind.DIRECTORY)
    return bench


def paths(path):
    return sorted(str(found.relative_to(path)) for found in path.rglob("*"))


def test_parents_are_made_and_nothing_else(bench, tmp_path):
    bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY, includes=("a/deep",))

    assert paths(tmp_path / "back") == ["a", "a/deep", "a/deep/one.txt"]


def test_a_hard_link_comes_back_without_the_file_it_was_linked_to(bench, tmp_path):
    bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY, includes=("b/*",))

    assert paths(tmp_path / "back") == ["b", "b/four.txt", "b/three.txt"]
    assert (tmp_path / "back" / "b" / "three.txt").read_text() == "one"
    assert (tmp_path / "back" / "b" / "four.txt").samefile(tmp_path / "back" / "b" / "three.txt")


@pytest.mark.parametrize(
    ("globs", "size"), [(("a/deep",), 3), (("b/*",), 3), (("a/two.bin",), 3_000_000), ((), 3_000_003)]
)
def test_as_large_as_what_was_chosen_is_what_came_back(bench, tmp_path, globs, size):
    result = bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY, includes=globs, read_back=True)

    assert result.size == size


def test_what_matches_nothing_leaves_nothing(bench, tmp_path):
    with pytest.raises(NotFound, match="nothing in the backup matches"):
        bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY, includes=("*.nothing",))
    assert not (tmp_path / "back").exists()

"""The index of a tree: every directory in pages, every file by any of its names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.datapath.inspection.tree_index import Marker, TreeIndex, marker_of
from tidegate.errors import DamagedMetadata, NotFound, Refused
from tidegate.format.trees.entry import EntryType, TreeEntry

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0") | st.sampled_from(["\udcff", "\udc80"]),
    min_size=1,
    max_size=6,
).filter(lambda name: name not in {".", ".."})


def entry(path, kind=EntryType.FILE, **more):
    return TreeEntry(path=path, type=kind, **more)


def tree(*entries):
    return TreeIndex([entry(".", EntryType.DIRECTORY), *entries])


def pages(index, path, limit):
    after = Marker()
    while found := index.children(path, after=after, limit=limit):
        yield from found
        after = marker_of(found[-1])


@given(names=st.dictionaries(NAMES, st.booleans(), max_size=12), limit=st.integers(1, 5))
def test_pages_of_a_directory_tell_every_name_once_directories_first(names, limit):
    kinds = {name: EntryType.DIRECTORY if is_dir else EntryType.FILE for name, is_dir in names.items()}
    index = tree(entry("in", EntryType.DIRECTORY), *(entry(f"in/{name}", kind) for name, kind in kinds.items()))

    found = list(pages(index, "in", limit))

    key = {name: (kinds[name] is EntryType.FILE, name.encode("utf-8", "surrogateescape")) for name in names}
    assert [one.name for one in found] == sorted(names, key=key.__getitem__)
    assert all(index.find(f"in/{name}").type is kind for name, kind in kinds.items())


def test_only_what_lies_right_in_a_directory_is_told():
    index = tree(entry("a", EntryType.DIRECTORY), entry("a/b"), entry("ab"))

    assert [one.path for one in pages(index, ".", 10)] == ["a", "ab"]
    assert [one.path for one in pages(index, "a", 10)] == ["a/b"]


def test_a_hard_link_leads_to_its_file():
    index = tree(entry("a", size=7), entry("b", EntryType.HARD_LINK, target="a"))

    assert index.file("b").size == 7


@pytest.mark.parametrize(
    ("ask", "error", "sentence"),
    [
        (lambda index: index.children("no", after=Marker(), limit=1), NotFound, "there is no 'no'"),
        (lambda index: index.children("file", after=Marker(), limit=1), Refused, "is a file, not a directory"),
        (lambda index: index.file("dir"), Refused, "is a directory, not a file"),
        (lambda index: index.file("link"), Refused, "is a symlink, not a file"),
        (lambda index: index.file("../etc/passwd"), NotFound, "there is no"),
        (lambda index: index.file("me"), Refused, "in a circle"),
    ],
)
def test_what_is_not_there_is_told_in_a_sentence(ask, error, sentence):
    index = tree(
        entry("dir", EntryType.DIRECTORY),
        entry("file"),
        entry("link", EntryType.SYMLINK, target="/etc/passwd"),
        entry("me", EntryType.HARD_LINK, target="me"),
    )

    with pytest.raises(error, match=sentence):
        ask(index)


def test_a_path_that_comes_twice_is_damage():
    with pytest.raises(DamagedMetadata, match="a path twice"):
        tree(entry("a"), entry("a"))

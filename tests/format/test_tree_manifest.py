"""Manifests: what we write comes back, what an enemy writes does not get through."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidegate.errors import DamagedMetadata
from tidegate.format.packed_tree import Packer, TreeMark, changed_files, changed_parameter
from tidegate.format.tree_entry import EntryType, Extent, TreeEntry
from tidegate.format.tree_manifest import decode_manifest, split_lines

END = 2**40
NAMES = st.binary(min_size=1, max_size=20).map(
    lambda name: name.replace(b"/", b"_").replace(b"\0", b"_").decode("utf-8", "surrogateescape")
)
PATHS = st.lists(NAMES.filter(lambda name: name not in {".", ".."}), min_size=1, max_size=4).map("/".join)
ROOT = {"path": ".", "type": "directory"}


@given(PATHS, st.integers(0, 0o7777), st.integers(-(2**62), 2**62), st.dictionaries(NAMES, st.binary(max_size=9)))
def test_an_entry_comes_back_whole_whatever_bytes_its_name_has(path, mode, mtime_ns, xattrs):
    entry = TreeEntry(
        path=path,
        type=EntryType.FILE,
        mode=mode,
        uid=1000,
        gid=2**32 - 1,
        mtime_ns=mtime_ns,
        size=100,
        extents=(Extent(0, 10, 0), Extent(4096, 50, 50)),
        xattrs=xattrs,
    )

    assert TreeEntry.decode(entry.encode(), content_end=END) == entry


def entries(*lines, content_end=END):
    encoded = [json.dumps({"mode": 0, "uid": 0, "gid": 0, "mtime_ns": 0} | line).encode() for line in lines]
    return list(decode_manifest(encoded, content_end=content_end))


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "", "a\0b", "..", "a/.", "\ud800", "x" * 2_000_000]
)
def test_a_path_that_leads_elsewhere_is_damage(path):
    with pytest.raises(DamagedMetadata):
        entries(ROOT, {"path": "a", "type": "directory"}, {"path": path, "type": "fifo"})


def test_nothing_lies_below_a_symlink_or_a_file():
    for kind in ({"type": "symlink", "target": "/etc"}, {"type": "file"}, {"type": "fifo"}):
        with pytest.raises(DamagedMetadata, match="without its directory"):
            entries(ROOT, {"path": "a"} | kind, {"path": "a/passwd", "type": "file"})


def test_parents_come_before_children_and_directories_once():
    directory = {"path": "a", "type": "directory"}

    with pytest.raises(DamagedMetadata, match="before or without"):
        entries(ROOT, {"path": "a/b", "type": "fifo"}, directory)
    with pytest.raises(DamagedMetadata, match="twice"):
        entries(ROOT, directory, directory)


@pytest.mark.parametrize("lines", [[], [{"path": "a", "type": "fifo"}], [{"path": ".", "type": "fifo"}], [ROOT, ROOT]])
def test_a_tree_begins_with_its_root(lines):
    with pytest.raises(DamagedMetadata):
        entries(*lines)


@pytest.mark.parametrize(
    "extents",
    [
        [[0, 101, 0]],
        [[50, 51, 0]],
        [[-1, 10, 0]],
        [[0, 0, 0]],
        [[0, 10, 95]],
        [[0, 10, 0], [0, 10, 5]],
        [[0, 10, 50], [0, 10, 0]],
        [[0, 10]],
        [[0, 10, 0, 0]],
        [["0", 10, 0]],
        [[True, 10, 0]],
        [1],
        "x",
        [[2**80, 1, 0]],
    ],
)
def test_an_extent_outside_of_contents_or_file_is_damage(extents):
    with pytest.raises(DamagedMetadata):
        entries(ROOT, {"path": "f", "type": "file", "size": 100, "extents": extents}, content_end=100)


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "device"},
        {"type": "symlink"},
        {"type": "symlink", "target": "a\0b"},
        {"type": "file", "target": "x"},
        {"type": "hardlink", "target": "../x"},
        {"type": "hardlink", "target": "."},
        {"type": "hardlink", "target": "nowhere/x"},
        {"type": "fifo", "mode": -1},
        {"type": "fifo", "mode": 0o10000},
        {"type": "fifo", "uid": 2**32},
        {"type": "fifo", "mtime_ns": "now"},
        {"type": "file", "size": -1},
        {"type": "file", "xattrs": {"user.a": "not base64!"}},
        {"type": "file", "xattrs": {"user.\0": ""}},
        {"type": "file", "xattrs": []},
    ],
)
def test_an_entry_that_cannot_be_is_damage(entry):
    with pytest.raises(DamagedMetadata):
        entries(ROOT, {"path": "x"} | entry)


@given(st.binary(max_size=200))
def test_random_bytes_are_damage_and_nothing_worse(line):
    with pytest.raises(DamagedMetadata):
        list(decode_manifest(split_lines([line]), content_end=END))


def test_lines_are_found_across_pieces_and_an_open_end_is_damage():
    assert list(split_lines([b"ab", b"c\nd", b"e\n", b""])) == [b"abc", b"de"]
    with pytest.raises(DamagedMetadata, match="middle of a line"):
        list(split_lines([b"abc"]))


def test_empty_lines_between_entries_mean_nothing():
    assert list(split_lines([b"\n\nab\n", b"\n" * 2**21, b"c", b"\n\n", b"\nde\n\n"])) == [b"ab", b"c", b"de"]
    assert entries(ROOT, {"path": "a", "type": "fifo"}) == list(
        decode_manifest([b"", json.dumps(ROOT).encode(), b"", b"", b'{"path":"a","type":"fifo"}'], content_end=END)
    )
    with pytest.raises(DamagedMetadata, match="is empty"):
        list(decode_manifest(split_lines([b"\n" * 2**21]), content_end=END))


def test_a_line_without_end_is_damage_before_it_fills_the_memory():
    with pytest.raises(DamagedMetadata, match="without end"):
        list(split_lines(bytes(1024 * 1024) for _ in range(1000)))


@given(st.lists(st.integers(1, 300), max_size=50))
def test_places_never_overlap_small_ones_stay_in_a_block_and_large_ones_begin_one(lengths):
    packer = Packer(block_size=100)
    places = sorted((packer.place(length), length) for length in lengths)

    ends = [0, *(offset + length for offset, length in places)]
    assert all(end <= offset for end, (offset, _) in zip(ends, places, strict=False))
    assert all(offset % 100 == 0 for offset, length in places if length >= 100)
    assert all(offset // 100 == (offset + length - 1) // 100 for offset, length in places if length < 100)
    assert packer.end % 100 == 0
    assert packer.end >= ends[-1]


def test_a_mark_comes_back_and_an_image_has_none():
    mark = TreeMark(4096, 100, "0" * 64, 77)

    assert TreeMark.of(mark.parameters(), image_size=5000) == mark
    assert TreeMark.of({}, image_size=5000) is None


@pytest.mark.parametrize("change", [{"manifest-version": "2"}, {"manifest-offset": "x"}, {"manifest-length": "9999"}])
def test_a_mark_that_cannot_be_is_damage(change):
    parameters = TreeMark(4096, 100, "0" * 64, 77).parameters() | {
        f"tidegate.dev/{key}": value for key, value in change.items()
    }

    with pytest.raises(DamagedMetadata):
        TreeMark.of(parameters, image_size=5000)


@given(st.lists(NAMES, max_size=5))
def test_changed_files_are_remembered_by_name(names):
    assert changed_files(changed_parameter(names)) == names


NUMBERS = st.sampled_from(
    ["0", "1", "07", "420", "4095", "4096", "99999999999", "1" * 18, "9" * 18, "9" * 19, "1" * 19, "-1"]
)
ODD_PATHS = st.sampled_from(
    ["a", "a/b", ".", "..", "a/../b", "/a", "a/", "", "a b", "a\\u0041", "\u00e9", 'a"b', "x" * 300]
)


USUAL = ["420", "0", "0", "1", "1", "1", "9", "0", "5", "0"]


@given(ODD_PATHS, st.lists(NUMBERS, min_size=10, max_size=10), st.sampled_from(["", " ", "\n", "x"]))
@example("a", ["07", *USUAL[1:]], "")
@example("a", USUAL, "\n")
def test_the_short_way_to_read_a_line_finds_what_the_long_way_finds(path, numbers, end):
    mode, uid, gid, mtime, ctime, inode, size, offset, length, begin = numbers
    line = (
        f'{{"path":"{path}","type":"file","mode":{mode},"uid":{uid},"gid":{gid},"mtime_ns":{mtime},'
        f'"ctime_ns":{ctime},"inode":{inode},"size":{size},"extents":[[{offset},{length},{begin}]]}}{end}'
    ).encode()

    def read(decode):
        try:
            return decode()
        except DamagedMetadata:
            return "damaged"

    short = read(lambda: TreeEntry.decode(line, content_end=10**18))
    long = read(lambda: TreeEntry._decode(line, 10**18))

    assert short == long

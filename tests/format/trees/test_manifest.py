"""Manifests: what we write comes back, what an enemy writes does not get through."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidegate.errors import DamagedMetadata
from tidegate.format.trees.entry import LONGEST_LINE, LONGEST_PATH, EntryType, Extent, TreeEntry
from tidegate.format.trees.manifest import decode_manifest, split_lines
from tidegate.format.trees.manifest_cuts import cut_manifest
from tidegate.format.trees.packed_tree import Packer, TreeMark, changed_files, changed_parameter, shown_size
from tidegate.format.trees.whole_tree import check_whole

END = 2**40
NAMES = (
    st.binary(min_size=1, max_size=20)
    .map(lambda name: name.replace(b"/", b"_").replace(b"\0", b"_").decode("utf-8", "surrogateescape"))
    .filter(lambda name: name not in {".", ".."})
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
ROOT = {"path": ".", "type": "directory"}
# What the kernel's `struct stat` can hold.
INT64, UINT64, UINT32 = st.integers(0, 2**63 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1)
TIMES = st.builds(
    lambda seconds, rest: seconds * 10**9 + rest, st.integers(-(2**63), 2**63 - 1), st.integers(0, 10**9 - 1)
)
FACTS = {
    "path": PATHS,
    "mode": st.integers(0, 0o7777),
    "uid": UINT32,
    "gid": UINT32,
    "mtime_ns": TIMES,
    "xattrs": st.dictionaries(NAMES, st.binary(max_size=9), max_size=3),
}
RUNS = st.lists(st.tuples(st.integers(0, 99), st.integers(1, 99)), max_size=4)


def file_entry(runs, **facts):
    """A file whose data, in so many (gap, length), ends at most at its end."""
    extents, at = [], 0
    for gap, length in runs:
        extents.append(Extent(at * 2, length, at + gap))
        at += gap + length
    return TreeEntry(type=EntryType.FILE, extents=tuple(extents), **facts | {"size": max(at, facts["size"])})


ENTRIES = st.one_of(
    st.builds(file_entry, RUNS, size=INT64, inode=UINT64, ctime_ns=TIMES, **FACTS),
    st.builds(TreeEntry, type=st.sampled_from([EntryType.DIRECTORY, EntryType.FIFO]), **FACTS),
    st.builds(TreeEntry, type=st.just(EntryType.SYMLINK), target=NAMES, **FACTS),
    st.builds(TreeEntry, type=st.just(EntryType.HARD_LINK), target=PATHS, **FACTS),
)


@given(ENTRIES)
@example(file_entry([], path="f", size=2**63 - 1, inode=2**64 - 1, mtime_ns=2**63, ctime_ns=-1))
@example(TreeEntry(path="d", type=EntryType.DIRECTORY, mtime_ns=2**63 * 10**9 - 1))
@example(TreeEntry(path="d", type=EntryType.DIRECTORY, mtime_ns=-(2**63) * 10**9))
def test_whatever_a_file_system_can_hold_is_read_back_as_it_was_written(entry):
    assert TreeEntry.decode(entry.encode(), content_end=END) == entry


SUBTREES = st.recursive(
    st.dictionaries(NAMES, st.none(), max_size=3), lambda inner: st.dictionaries(NAMES, st.none() | inner, max_size=4)
)


def in_order_of_a_walk(names, before=""):
    """The paths of a tree as a backup lists them, each with whether it is a directory."""
    yield from ((before + name, names[name] is not None) for name in sorted(names))
    for name in sorted(names):
        if names[name] is not None:
            yield from in_order_of_a_walk(names[name], f"{before}{name}/")


def any_entry(data, path, files):
    """A file, or a link to one of these."""
    facts = data.draw(st.fixed_dictionaries(FACTS)) | {"path": path}
    if files and data.draw(st.booleans()):
        return TreeEntry(type=EntryType.HARD_LINK, target=data.draw(st.sampled_from(files)), **facts)
    return file_entry(data.draw(RUNS), size=data.draw(INT64), **facts)


@given(SUBTREES, st.data())
def test_any_tree_that_is_written_is_read_back_as_it_was(names, data):
    tree = [TreeEntry(path=".", type=EntryType.DIRECTORY)]
    for path, is_directory in in_order_of_a_walk(names):
        files = [entry.path for entry in tree if entry.type is EntryType.FILE]
        directory = TreeEntry(path=path, type=EntryType.DIRECTORY)
        tree.append(directory if is_directory else any_entry(data, path, files))

    written = b"".join(cut_manifest((entry.encode() for entry in tree), 4096))
    read = list(decode_manifest(split_lines([written]), content_end=END))

    assert read == tree
    check_whole(lambda: iter(read))


def test_the_longest_paths_that_are_backed_up_fit_into_a_line_and_are_read_back():
    path = "/".join(["\udcff" * 255] * 4096)[:LONGEST_PATH]
    link = TreeEntry(path=path, type=EntryType.HARD_LINK, target=path)

    line = link.encode()

    assert len(line) < LONGEST_LINE
    assert TreeEntry.decode(line, content_end=END) == link


@given(
    ENTRIES.map(lambda entry: json.loads(entry.encode())),
    st.dictionaries(
        st.sampled_from(["size", "ctime_ns", "inode", "mode", "target", "extents"]),
        st.sampled_from([0, 9, "", "x", []]),
    ),
)
@example({"path": "a", "type": "hardlink", "target": "b"}, {"size": 9})
def test_whatever_is_read_is_written_so_that_it_is_read_as_the_same(line, change):
    try:
        entry = TreeEntry.decode(json.dumps(line | change).encode(), content_end=END)
    except DamagedMetadata:
        return
    assert TreeEntry.decode(entry.encode(), content_end=END) == entry


def test_the_size_of_many_sparse_files_never_hides_a_tree():
    mark = TreeMark(4096, 100, "0" * 64, 3 * (2**63 - 1), 2**70)
    parameters = mark.parameters()

    assert TreeMark.of(parameters, image_size=5000) == TreeMark(4096, 100, "0" * 64, 2**63 - 1, 2**63 - 1)
    assert shown_size(parameters | {"tidegate.dev/tree-bytes": str(3 * 2**63)}, image_size=1) == 2**63 - 1


def entries(*lines, content_end=END):
    encoded = [json.dumps({"mode": 0, "uid": 0, "gid": 0, "mtime_ns": 0} | line).encode() for line in lines]
    return list(decode_manifest(encoded, content_end=content_end))


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "", "a\0b", "..", "a/.", "\ud800"]
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


@pytest.mark.parametrize(
    "change",
    [{"manifest-version": "2"}, {"manifest-offset": "x"}, {"manifest-length": "9999"}, {"content": "image"}],
)
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

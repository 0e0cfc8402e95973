"""What a file maker is told is what the manifest said."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.format.trees.batches import Pack
from tidegate.format.trees.entry import EntryType, Extent, TreeEntry
from tidegate.format.trees.pack_message import decode_pack, encode_pack

NUMBERS = st.integers(0, 2**63 - 1)
# Any bytes but NUL can be a name; those that are not UTF-8 travel as surrogates.
NAMES = st.binary(min_size=1).map(lambda name: name.replace(b"\0", b"0").decode("utf-8", "surrogateescape"))
ENTRIES = st.builds(
    TreeEntry,
    path=NAMES,
    type=st.just(EntryType.FILE),
    mode=st.integers(0, 0o7777),
    uid=NUMBERS,
    gid=NUMBERS,
    mtime_ns=st.integers(-(2**63), 2**63 - 1),
    size=NUMBERS,
    extents=st.lists(st.builds(Extent, NUMBERS, NUMBERS, NUMBERS), max_size=3).map(tuple),
    xattrs=st.dictionaries(NAMES, st.binary(), max_size=2),
)


@given(st.builds(Pack, NUMBERS, st.lists(ENTRIES, max_size=5)))
def test_a_pack_arrives_as_it_was_sent(pack):
    assert decode_pack(encode_pack(pack)) == pack


def test_a_file_arrives_with_the_fields_that_a_restore_needs_and_no_others():
    sent = TreeEntry(path="a", type=EntryType.FILE, inode=7, ctime_ns=8, size=9)

    [arrived] = decode_pack(encode_pack(Pack(0, [sent]))).files

    assert (arrived.size, arrived.inode, arrived.ctime_ns) == (9, 0, 0)

"""Where files stay, and when they are moved together."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.format.trees.layout import BlockUse
from tidegate.format.trees.manifest_cuts import cut_manifest, in_pieces
from tidegate.format.trees.packed_tree import Packer

BLOCK = 100
LENGTHS = st.lists(st.integers(1, 350), max_size=60)


def laid_out(lengths, begin=0):
    packer = Packer(BLOCK, begin=begin)
    return [(packer.place(length), length) for length in lengths], packer.end


def planned(extents, end):
    use = BlockUse(end // BLOCK, BLOCK)
    for offset, length in extents:
        use.add(offset, length)
    return use.plan()


@given(LENGTHS, st.randoms(use_true_random=False))
def test_what_stays_keeps_its_bytes_and_nothing_overlaps(lengths, chance):
    extents, end = laid_out(lengths)
    left = [extent for extent in extents if chance.random() < 0.4]

    places = planned(left, end)

    bytes_of = dict(places.kept())
    earlier_of_new = {}
    for offset, length in left:
        new = places.new_offset(offset)
        if new is None:
            assert length < BLOCK  # of large files nothing is ever read again
            continue
        assert new + length <= places.end
        for at in range(length):  # each byte of a kept run lies in a kept block, at the same place within it
            block = (new + at) // BLOCK * BLOCK
            assert bytes_of[block] + (new + at) % BLOCK == offset + at
            assert earlier_of_new.setdefault(new + at, offset + at) == offset + at
    assert len(set(bytes_of.values())) == len(bytes_of)


@given(LENGTHS, st.randoms(use_true_random=False))
def test_waste_is_bounded_once_it_is_worth_it(lengths, chance):
    extents, end = laid_out(lengths)
    left = [extent for extent in extents if chance.random() < 0.3]

    places = planned(left, end)

    kept = len(list(places.kept()))
    thin = sum(1 for offset, length in left if places.new_offset(offset) is None)
    live = sum(length for _, length in left)
    assert places.end <= 2 * kept * BLOCK + 16 * BLOCK
    if not thin:  # nothing was packed anew: then it would not have freed much
        least = -(-live // BLOCK)
        assert kept <= least * 2 + 5 + sum(1 for _, length in left if length >= BLOCK)


def test_a_tree_of_which_nothing_stays_begins_anew():
    places = planned([], 30 * BLOCK)

    assert (places.moves, places.end, list(places.kept())) == (True, 0, [])


def test_a_tree_that_stays_whole_is_left_alone():
    extents, end = laid_out([30, 40, 250, 90, 20, 100])

    places = planned(extents, end)

    assert not places.moves
    assert [places.new_offset(offset) for offset, _ in extents] == [offset for offset, _ in extents]


def test_thin_packs_are_given_up_together():
    extents = [(block * BLOCK, 10) for block in range(20)]

    places = planned(extents, 20 * BLOCK)

    assert places.moves
    assert [places.new_offset(offset) for offset, _ in extents] == [None] * 20


def test_the_end_of_a_large_file_is_no_thin_pack():
    extents = [(block * 2 * BLOCK, BLOCK + 1) for block in range(20)]

    assert not planned(extents, 40 * BLOCK).moves


LINES = [b'{"path":"directory/file-%d","size":%d}\n' % (number, number * 7919 % 1000) for number in range(20_000)]
SMALL = 64 * 1024


def blocks_of(lines):
    manifest = b"".join(cut_manifest(lines, SMALL))
    return [manifest[at : at + SMALL] for at in range(0, len(manifest), SMALL)]


def test_a_manifest_keeps_its_lines():
    assert [line for line in b"".join(blocks_of(LINES)).splitlines() if line] == [line.strip() for line in LINES]


def test_a_change_in_a_manifest_changes_few_of_its_blocks():
    before = set(blocks_of(LINES))
    for change in ([b"new\n", *LINES], LINES[1:], [*LINES[:9000], b"new\n", *LINES[9000:]], [*LINES, b"new\n"]):
        assert len(set(blocks_of(change)) - before) <= 3


def test_a_line_longer_than_a_block_is_kept_too():
    long = b"x" * (SMALL * 3 + 5) + b"\n"

    assert [line for line in b"".join(blocks_of([b"a\n", long, b"b\n"])).splitlines() if line] == [
        b"a",
        long.strip(),
        b"b",
    ]


@given(st.lists(st.binary(max_size=30)), st.integers(1, 50))
def test_pieces_hold_the_same_bytes(lines, length):
    pieces = list(in_pieces(lines, length))

    assert b"".join(pieces) == b"".join(lines)
    assert all(len(piece) >= length for piece in pieces[:-1])

"""Files are gathered by their blocks: every byte once, and no pack read twice because of the order of paths."""

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tidegate.format.trees.batches import Pack, Part, batches, together
from tidegate.format.trees.entry import EntryType, Extent, TreeEntry
from tidegate.format.trees.packed_tree import Packer

BLOCK = 100
EXTENTS = st.lists(st.tuples(st.integers(0, 20 * BLOCK), st.integers(1, 3 * BLOCK)), min_size=1, max_size=4)


class WaitingInMemory:
    """Keeps the promise of Waiting."""

    def __init__(self):
        self.kept = []

    def put(self, entry, rank):
        self.kept.append((rank, len(self.kept), entry))

    def by_rank(self):
        return iter(entry for _, _, entry in sorted(self.kept, key=lambda one: one[:2]))


def file(number, places):
    extents, end = [], 0
    for offset, length in places:
        extents.append(Extent(offset, length, end))
        end += length
    return TreeEntry(path=str(number), type=EntryType.FILE, size=end, extents=tuple(extents))


def gathered(files):
    return list(batches(files, WaitingInMemory(), block_size=BLOCK))


def bytes_of(path, extents):
    return Counter(
        (path, image_offset + at, file_offset + at)
        for image_offset, length, file_offset in extents
        for at in range(length)
    )


@given(st.lists(EXTENTS, max_size=8))
def test_every_byte_of_every_file_comes_once_and_from_the_block_that_it_lies_in(places):
    files = [file(number, extents) for number, extents in enumerate(places)]

    found, parts = Counter(), Counter()
    for batch in gathered(files):
        pieces = (
            [(one.path, one.extents) for one in batch.files]
            if isinstance(batch, Pack)
            else [(batch.file.entry.path, batch.extents)]
        )
        for path, extents in pieces:
            found += bytes_of(path, extents)
            assert all(batch.offset <= begin and begin + length <= batch.offset + BLOCK for begin, length, _ in extents)
        if isinstance(batch, Part):
            parts[batch.file] += 1

    assert found == sum((bytes_of(one.path, one.extents) for one in files), Counter())
    assert all(count == one.parts for one, count in parts.items())


def packed(lengths):
    packer = Packer(BLOCK)
    return [file(number, [(packer.place(length), length)]) for number, length in enumerate(lengths)]


@given(st.lists(st.integers(1, 3 * BLOCK), max_size=60))
def test_a_tree_that_was_packed_in_one_go_never_waits(lengths):
    waiting = WaitingInMemory()

    list(batches(packed(lengths), waiting, block_size=BLOCK))

    assert waiting.kept == []


@given(st.lists(st.integers(1, BLOCK - 1), max_size=300), st.randoms(use_true_random=False))
def test_in_whatever_order_paths_come_a_pack_is_read_at_most_twice(lengths, chance):
    files = packed(lengths)
    chance.shuffle(files)

    assert max(Counter(batch.offset for batch in gathered(files)).values(), default=0) <= 2


def test_files_that_were_appended_since_do_not_make_the_old_ones_wait():
    old, new = packed([10] * 1000), [file(f"new-{at}", [(10**6 + 10 * at, 10)]) for at in range(1000)]
    waiting = WaitingInMemory()

    found = list(batches((one for pair in zip(new, old, strict=True) for one in pair), waiting, block_size=BLOCK))

    assert [entry for _, _, entry in waiting.kept] == new
    assert [batch.offset for batch in found] == [*range(0, 100 * BLOCK, BLOCK), *range(10**6, 10**6 + 10**4, BLOCK)]


def pack(files):
    return Pack(0, [file(0, [(0, 1)])] * files)


@given(st.lists(st.integers(1, 4096), max_size=30), st.integers(1, 8))
def test_several_batches_go_together_in_their_order_and_bring_no_more_files_than_one_may(sizes, count):
    rows = [pack(size) for size in sizes]

    groups = list(together(rows, count))

    assert [row for group in groups for row in group] == rows
    assert all(len(group) <= count and sum(len(row.files) for row in group) <= 4096 for group in groups)
    # As few groups as can be: whoever begins one had no room in the one before.
    for before, after in pairwise(groups):
        assert len(before) == count or sum(len(row.files) for row in [*before, after[0]]) > 4096

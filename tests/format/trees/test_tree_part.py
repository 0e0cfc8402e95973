"""A part of a file reads as those bytes of the whole, holes included."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.format.trees.entry import EntryType, Extent, TreeEntry
from tidegate.format.trees.packed_reader import ImageBytes, file_bytes

BLOCK = 64


class Image:
    """An image whose bytes are all different enough."""

    block_size = BLOCK
    block_offsets = range(0, 4096, BLOCK)

    def read_block(self, offset):
        return bytes((place * 7 + 1) % 251 for place in range(offset, offset + BLOCK))


@st.composite
def files(draw):
    """Runs of bytes with holes between, before and behind them."""
    extents, place, image = [], 0, draw(st.integers(0, 99))
    for hole, length in draw(st.lists(st.tuples(st.integers(0, 90), st.integers(1, 90)), max_size=5)):
        place += hole
        extents.append(Extent(image, length, place))
        place, image = place + length, image + length
    size = place + draw(st.integers(0, 90))
    return TreeEntry(path="f", type=EntryType.FILE, size=size, extents=tuple(extents))


@given(files(), st.data())
def test_a_part_of_a_file_is_those_bytes_of_the_whole(file, data):
    start = data.draw(st.integers(0, file.size))
    stop = data.draw(st.integers(start, file.size))

    whole = b"".join(file_bytes(file, ImageBytes(Image())))
    part = b"".join(file_bytes(file.part(range(start, stop)), ImageBytes(Image())))

    assert part == whole[start:stop]

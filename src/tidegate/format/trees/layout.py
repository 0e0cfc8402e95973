"""Where the files of a tree keep their places when the next backup is made, and when they are moved together.

Unchanged files stay where the last backup has them, so their blocks need not even be read; new bytes are placed behind
them. What files leave behind when they change or go is waste inside of packs, and holes between blocks. Both are
bounded: packs that became thin are packed anew once that frees enough of them, and holes are closed by giving blocks
other offsets, which costs nothing, for a block's name is its content.
"""

from array import array
from collections.abc import Iterator

# A pack is thin when less than three quarters of it are still used; so at most a quarter of the others is waste.
_THIN_NUMERATOR, _THIN_DENOMINATOR = 3, 4
_LEAST_GAIN = 4
_MOST_HOLES = 16
_GONE = -1


class BlockUse:
    """How many bytes of each block of an earlier image are still used."""

    def __init__(self, blocks: int, block_size: int) -> None:
        self._block_size = block_size
        self._live = array("Q", bytes(8 * blocks))
        self._holds_part_of_large = bytearray(blocks)

    def add(self, offset: int, length: int) -> None:
        """These bytes of the image stay where they are."""
        block, within = divmod(offset, self._block_size)
        if within + length <= self._block_size and length < self._block_size:
            self._live[block] += length
            return
        while length > 0:
            here = min(length, self._block_size - within)
            self._live[block] += here
            self._holds_part_of_large[block] = 1
            block, within, length = block + 1, 0, length - here

    def plan(self) -> "Places":
        """What becomes of each block. Equal use gives equal plans."""
        used = [block for block, live in enumerate(self._live) if live]
        thin = self._thin_packs(used)
        worth_it = self._blocks_freed(thin) > max(_LEAST_GAIN, len(used) // 4)
        kept = [block for block in used if block not in thin] if worth_it else used
        new = array("q", [_GONE]) * len(self._live)
        # A tree of which nothing is kept begins anew, so that an equal tree gives an equal image.
        closes_holes = worth_it or not used or len(new) - len(used) > len(used) + _MOST_HOLES
        for number, block in enumerate(kept):
            new[block] = number if closes_holes else block
        return Places(new, self._block_size, moves=closes_holes and len(new) > 0)

    def _thin_packs(self, used: list[int]) -> frozenset[int]:
        least = self._block_size * _THIN_NUMERATOR // _THIN_DENOMINATOR
        return frozenset(b for b in used if self._live[b] < least and not self._holds_part_of_large[b])

    def _blocks_freed(self, thin: frozenset[int]) -> int:
        return len(thin) - -(-sum(self._live[block] for block in thin) // self._block_size)


class Places:
    """Which blocks of an earlier image the next one keeps, and at which offset."""

    def __init__(self, new: "array[int]", block_size: int, *, moves: bool) -> None:
        self._new = new
        self._block_size = block_size
        self.moves = moves
        """Whether any place differs from the one before."""
        self.end = (max(new, default=_GONE) + 1) * block_size if moves else len(new) * block_size
        """Where new bytes may begin."""

    def new_offset(self, offset: int) -> int | None:
        """Where bytes are from now on that were at `offset`; None if they must be placed anew."""
        block, within = divmod(offset, self._block_size)
        number = self._new[block]
        return None if number == _GONE else number * self._block_size + within

    def kept(self) -> Iterator[tuple[int, int]]:
        """(new offset, earlier offset) of each block that stays, ascending."""
        for block, number in enumerate(self._new):
            if number != _GONE:
                yield number * self._block_size, block * self._block_size

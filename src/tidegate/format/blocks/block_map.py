"""Which block lies where, in a few bytes per block: the map of a volume of one TiB has half a million of them."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, overload

_DIGEST_BYTES = 32


class BlockRef(NamedTuple):
    """Which block lies where in the volume."""

    offset: int
    checksum: str


class BlockMap(Sequence[BlockRef]):
    """Block references in a given order, 40 bytes each. They are made when somebody asks for them, and not kept."""

    __slots__ = ("_digests", "_offsets")

    def __init__(self, offsets: "array[int]", digests: bytes | bytearray) -> None:
        self._offsets = offsets
        self._digests = bytearray(digests) if isinstance(digests, bytes) else digests

    @classmethod
    def of(cls, refs: Iterable[BlockRef]) -> "BlockMap":
        """The same references, or the map itself if it is one; their checksums must be checksums."""
        if isinstance(refs, BlockMap):
            return refs
        offsets, digests = array("Q"), bytearray()
        for offset, checksum in refs:
            offsets.append(offset)
            digests += bytes.fromhex(checksum)
        return cls(offsets, digests)

    @classmethod
    def empty(cls) -> "BlockMap":
        """To be appended to."""
        return cls(array("Q"), bytearray())

    def append(self, ref: BlockRef) -> None:
        """Only for whoever made it: others count on it not to change."""
        self._offsets.append(ref.offset)
        self._digests += bytes.fromhex(ref.checksum)

    def at(self, offset: int) -> BlockRef | None:
        """The block that begins there, if one does. The map must be ascending."""
        index = bisect_left(self._offsets, offset)
        return self[index] if index < len(self) and self._offsets[index] == offset else None

    def ascending(self) -> "BlockMap":
        """The same references in the order of their offsets."""
        if self.is_ascending:
            return self
        order = array("Q", sorted(range(len(self)), key=self._offsets.__getitem__))
        digests = bytearray()
        for number in order:
            digests += self._digests[number * _DIGEST_BYTES : (number + 1) * _DIGEST_BYTES]
        return BlockMap(array("Q", map(self._offsets.__getitem__, order)), digests)

    @property
    def offsets(self) -> Sequence[int]:
        """Where the blocks lie, without what they are."""
        return self._offsets

    @property
    def is_ascending(self) -> bool:
        """Whether they are in the order of their offsets."""
        return all(one < following for one, following in pairwise(self._offsets))

    def __len__(self) -> int:
        return len(self._offsets)

    @overload
    def __getitem__(self, index: int) -> BlockRef: ...
    @overload
    def __getitem__(self, index: slice) -> "BlockMap": ...
    def __getitem__(self, index: int | slice) -> "BlockRef | BlockMap":
        if isinstance(index, slice):
            return BlockMap.of(self[number] for number in range(*index.indices(len(self))))
        offset = self._offsets[index]
        begin = (index % len(self)) * _DIGEST_BYTES
        return BlockRef(offset, self._digests[begin : begin + _DIGEST_BYTES].hex())

    def __iter__(self) -> Iterator[BlockRef]:
        for number, offset in enumerate(self._offsets):
            begin = number * _DIGEST_BYTES
            yield BlockRef(offset, self._digests[begin : begin + _DIGEST_BYTES].hex())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, BlockMap):
            return self._offsets == other._offsets and self._digests == other._digests
        if isinstance(other, tuple | list):
            return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash((len(self), bytes(self._digests)))

    def __repr__(self) -> str:
        return f"BlockMap({len(self)} blocks)"

"""How blocks are named and how they lie in a store: in the clear, as Longhorn has them, or sealed."""

from collections.abc import Sequence
from typing import Protocol

from tidegate.format.blocks.checksum import checksums, side_by_side
from tidegate.format.blocks.compression import Compression, compress, decompress


class BlockCodec(Protocol):
    """Equal blocks of one volume get equal names, whoever asks and whenever. Safe to use from many threads."""

    @property
    def named_at_once(self) -> int:
        """How many blocks `names` should be given: so many cost little more than a few."""
        ...

    def names(self, blocks: Sequence[bytes]) -> list[str]:
        """What the store calls each of these blocks, all of one length: 64 hexadecimal digits."""
        ...

    def encode(self, name: str, block: bytes, method: Compression) -> bytes:
        """The body to store under that name."""
        ...

    def unpack(self, name: str, body: bytes, method: Compression, *, at_most: int) -> bytes:
        """What the body holds. Only `names` tells whether that is the block: nobody may use it before it was compared.

        Raises DamagedBlock, also before more than `at_most` bytes are made.
        """
        ...


class PlainBlocks:
    """Longhorn's own way: the checksum is the name, the compressed block is the body."""

    @property
    def named_at_once(self) -> int:
        """See BlockCodec."""
        return side_by_side()

    def names(self, blocks: Sequence[bytes]) -> list[str]:
        """See BlockCodec."""
        return checksums(blocks)

    def encode(self, _name: str, block: bytes, method: Compression) -> bytes:
        """See BlockCodec."""
        return compress(block, method)

    def unpack(self, _name: str, body: bytes, method: Compression, *, at_most: int) -> bytes:
        """See BlockCodec."""
        return decompress(body, method, at_most=at_most)

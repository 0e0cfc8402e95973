"""How blocks are named and how they lie in a store: in the clear, as Longhorn has them, or sealed."""

from typing import Protocol

from tidegate.errors import DamagedBlock
from tidegate.format.checksum import checksum
from tidegate.format.compression import Compression, compress, decompress


class BlockCodec(Protocol):
    """Equal blocks of one volume get equal names, whoever asks and whenever. Safe to use from many threads."""

    def name(self, block: bytes) -> str:
        """What the store calls this block: 64 hexadecimal digits."""
        ...

    def encode(self, name: str, block: bytes, method: Compression) -> bytes:
        """The body to store under that name."""
        ...

    def decode(self, name: str, body: bytes, method: Compression, *, at_most: int) -> bytes:
        """The block, whose name is compared; raises DamagedBlock, also before more than `at_most` bytes are made."""
        ...


class PlainBlocks:
    """Longhorn's own way: the checksum is the name, the compressed block is the body."""

    def name(self, block: bytes) -> str:
        """See BlockCodec."""
        return checksum(block)

    def encode(self, _name: str, block: bytes, method: Compression) -> bytes:
        """See BlockCodec."""
        return compress(block, method)

    def decode(self, name: str, body: bytes, method: Compression, *, at_most: int) -> bytes:
        """See BlockCodec."""
        block = decompress(body, method, at_most=at_most)
        if checksum(block) != name:
            raise DamagedBlock("its content does not match its checksum")
        return block

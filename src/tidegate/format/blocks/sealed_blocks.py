"""Blocks that only the holder of the key can read, name or make (docs/decisions/0007).

TGE1 | nonce, 12 bytes | AES-256-GCM of the compressed block, bound to its name | tag, 16 bytes
"""

import hmac
from collections.abc import Sequence

from tidegate.errors import DamagedBlock
from tidegate.format.blocks.checksum import CHECKSUM_DIGITS
from tidegate.format.blocks.compression import Compression, compress, decompress
from tidegate.format.blocks.encryption_key import EncryptionKey

MAGIC = b"TGE1"
_NONCE_BYTES = 12
_TAG_BYTES = 16
_HEAD_BYTES = len(MAGIC) + _NONCE_BYTES
# What sealing adds to a body.
OVERHEAD_BYTES = _HEAD_BYTES + _TAG_BYTES


class Sealer:
    """Seals texts for one purpose in one volume. `bound_to` is not secret, but another one opens nothing."""

    def __init__(self, key: EncryptionKey, *, purpose: str, volume: str) -> None:
        # Here, as in `encryption_key`: only who has a key needs the library.
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._invalid_tag = InvalidTag
        self._cipher = AESGCM(key.sub_key(f"{purpose}/seal", volume=volume))
        self._nonce_key = key.sub_key(f"{purpose}/nonce", volume=volume)

    def seal(self, text: bytes, *, bound_to: bytes) -> bytes:
        """The nonce, then what it sealed: always the same for the same text."""
        # Made from all that is sealed: a nonce comes twice only for the same bytes, which then seal to the same bytes.
        # The block's name would not do, for another compressor makes another text under the same name.
        width = len(bound_to).to_bytes(8)
        nonce = hmac.digest(self._nonce_key, width + bound_to + text, "sha512")[:_NONCE_BYTES]
        return nonce + self._cipher.encrypt(nonce, text, bound_to)

    def open(self, sealed: bytes, *, bound_to: bytes) -> bytes:
        """The text; raises ValueError unless it was sealed with this key and for this."""
        if len(sealed) < _NONCE_BYTES + _TAG_BYTES:
            raise ValueError("it is too short to be sealed")
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound_to)
        except self._invalid_tag as error:
            raise ValueError("it was changed, or sealed with another key or for another place") from error


class SealedBlocks:
    """Keeps the BlockCodec's promise for one volume. Names are keyed too: nobody can test a guess of a content."""

    def __init__(self, key: EncryptionKey, *, volume: str) -> None:
        self._name_key = key.sub_key("block/name", volume=volume)
        self._sealer = Sealer(key, purpose="block", volume=volume)

    @property
    def named_at_once(self) -> int:
        """See BlockCodec. Keyed names are made one by one."""
        return 1

    def names(self, blocks: Sequence[bytes]) -> list[str]:
        """See BlockCodec."""
        return [hmac.digest(self._name_key, block, "sha512").hex()[:CHECKSUM_DIGITS] for block in blocks]

    def encode(self, name: str, block: bytes, method: Compression) -> bytes:
        """See BlockCodec."""
        return MAGIC + self._sealer.seal(compress(block, method), bound_to=name.encode())

    def unpack(self, name: str, body: bytes, method: Compression, *, at_most: int) -> bytes:
        """See BlockCodec."""
        if not body.startswith(MAGIC):
            raise DamagedBlock("it is not sealed as an encrypted block is")
        try:
            compressed = self._sealer.open(body[len(MAGIC) :], bound_to=name.encode())
        except ValueError as error:
            raise DamagedBlock(str(error)) from error
        return decompress(compressed, method, at_most=at_most)

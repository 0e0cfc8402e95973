"""The identity of a block: SHA-512, cut to its first 64 hex digits."""

import hashlib
import re

_CHECKSUM = re.compile(r"[0-9a-f]{64}")
CHECKSUM_DIGITS = 64


def checksum(content: bytes) -> str:
    """What the store calls these bytes. Always taken over the uncompressed block."""
    return hashlib.sha512(content).hexdigest()[:CHECKSUM_DIGITS]


def is_checksum(text: str) -> bool:
    """Whether `text` can be a block's name; nothing else ever becomes part of a key."""
    return _CHECKSUM.fullmatch(text) is not None

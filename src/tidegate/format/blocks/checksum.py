"""The identity of a block: SHA-512, cut to its first 64 hex digits."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

_CHECKSUM = re.compile(r"[0-9a-f]{64}")
CHECKSUM_DIGITS = 64
_DIGEST_BYTES = 64
_CHECKSUM_BYTES = CHECKSUM_DIGITS // 2


def checksum(content: bytes) -> str:
    """What the store calls these bytes. Always taken over the uncompressed block."""
    return hashlib.sha512(content).hexdigest()[:CHECKSUM_DIGITS]


def checksums(contents: Sequence[bytes]) -> list[str]:
    """The same of each of these, which must all have one length."""
    lanes = _lanes()
    found: list[str] = []
    for begin in range(0, len(contents), lanes.count):
        together = contents[begin : begin + lanes.count]
        # Eight side by side take as long as three one by one, however few of the eight are needed.
        if 2 * len(together) > lanes.count:
            found += lanes.checksums(together)
        else:
            found += map(checksum, together)
    return found


def side_by_side() -> int:
    """How many blocks `checksums` does at once; 1 where it does one after the other."""
    return _lanes().count


def is_checksum(text: str) -> bool:
    """Whether `text` can be a block's name; nothing else ever becomes part of a key."""
    return _CHECKSUM.fullmatch(text) is not None


@dataclass(frozen=True)
class _Lanes:
    count: int
    digests: Callable[[list[bytes]], bytes]
    """Of `count` contents of one length at the most, one digest behind the other."""

    def checksums(self, contents: Sequence[bytes]) -> list[str]:
        joined = self.digests([*contents])
        return [joined[at : at + _CHECKSUM_BYTES].hex() for at in range(0, len(joined), _DIGEST_BYTES)]


@cache
def _lanes() -> _Lanes:
    """The quickest way: several at once where that was built (`_sha512_lanes.c`) and the processor can do it."""
    try:
        from tidegate.format.blocks import _sha512_lanes as built
    except ImportError:
        return _ONE_BY_ONE
    # Wrong digests would name blocks by names that nobody finds again: not trusted before they were right.
    probe = [bytes([number]) * 200 for number in range(built.LANES)]
    right = probe and built.digests(probe) == b"".join(map(_digest, probe))
    return _Lanes(built.LANES, built.digests) if right else _ONE_BY_ONE


def _digest(content: bytes) -> bytes:
    return hashlib.sha512(content).digest()


_ONE_BY_ONE = _Lanes(1, lambda contents: _digest(contents[0]))

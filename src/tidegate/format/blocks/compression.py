"""How a block becomes the body of a `.blk` object, and back.

Bodies are not canonical: other writers compress differently, only the checksum of what comes out counts. What comes
out is bounded, because a few bytes from a hostile store could otherwise fill the memory.
"""

import gzip
import zlib
from enum import StrEnum

import lz4.frame

from tidegate.errors import DamagedBlock

_GZIP_MAGIC = b"\x1f\x8b"
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_GZIP_LEVEL = 6
_NO_MEMORY = "ERROR_allocation_failed"  # lz4's words, in an error like any other
# A body made of endless empty parts would cost time without ever giving a byte.
_MOST_PARTS = 64
_GZIP_WINDOW = 31  # zlib's word for "32 KiB window, gzip header and trailer"


class Compression(StrEnum):
    """What Longhorn can read. Fixed for a volume by its first backup."""

    NONE = "none"
    LZ4 = "lz4"
    GZIP = "gzip"


def compress(block: bytes, method: Compression) -> bytes:
    """The body for `block`."""
    match method:
        case Compression.NONE:
            return block
        case Compression.GZIP:
            return gzip.compress(block, compresslevel=_GZIP_LEVEL, mtime=0)
        case Compression.LZ4:
            # Large independent blocks are what Longhorn writes, and they are also the fastest. No checksum of the
            # content (decision 34): a block is compared with its name, and both sides would compute one more.
            body: bytes = lz4.frame.compress(
                block,
                block_size=lz4.frame.BLOCKSIZE_MAX4MB,
                block_linked=False,
                content_checksum=False,
                store_size=False,
            )
            return body


def decompress(body: bytes, method: Compression, *, at_most: int) -> bytes:
    """What `body` holds; raises DamagedBlock if it cannot be read or holds more than `at_most` bytes."""
    try:
        content = _decompress(body, _true_method(body, method), at_most)
    except (RuntimeError, EOFError, zlib.error) as error:
        if _NO_MEMORY in str(error):
            raise MemoryError from error  # the block may be as good as any
        raise DamagedBlock(f"cannot be decompressed as {method}: {error}") from error
    if len(content) > at_most:
        raise DamagedBlock(f"holds more than the {at_most} bytes of a block")
    return content


def _true_method(body: bytes, method: Compression) -> Compression:
    """Volumes exist whose blocks mix gzip and lz4 (longhorn#7687); the first bytes tell. Raw bytes tell nothing."""
    if method is Compression.NONE:
        return method
    if body.startswith(_LZ4_MAGIC):
        return Compression.LZ4
    if body.startswith(_GZIP_MAGIC):
        return Compression.GZIP
    return method


def _decompress(body: bytes, method: Compression, at_most: int) -> bytes:
    """At most one byte more than allowed: enough to know that it is too much."""
    match method:
        case Compression.NONE:
            return body[: at_most + 1]
        case Compression.GZIP:
            return _members(body, at_most + 1)
        case Compression.LZ4:
            return _frames(body, at_most + 1)


def _members(body: bytes, limit: int) -> bytes:
    content = b""
    for _ in range(_MOST_PARTS):
        reader = zlib.decompressobj(wbits=_GZIP_WINDOW)
        content += reader.decompress(body, limit - len(content))
        if len(content) >= limit:
            return content
        if not reader.eof:
            raise EOFError("it ends too early")
        body = reader.unused_data
        if not body:
            return content
    raise EOFError("it has too many parts")


def _frames(body: bytes, limit: int) -> bytes:
    content: bytes = b""
    for _ in range(_MOST_PARTS):
        reader = lz4.frame.LZ4FrameDecompressor()
        content += reader.decompress(body, max_length=limit - len(content))
        if len(content) >= limit:
            return content
        if not reader.eof:
            raise EOFError("it ends too early")
        body = reader.unused_data or b""
        if not body:
            return content
    raise EOFError("it has too many parts")

"""A digest of what a listing shows of an object: while it stays the same, so does the object."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def object_mark(*, size: int, etag: str, modified_at: datetime) -> int:
    """64 bits. The store's own tag where there is one; else size and time, of which files have the exact one."""
    return _digest(f"{size}:{etag or (modified_at - _EPOCH) // timedelta(microseconds=1)}\n")


def listing_mark(marks: Iterable[tuple[str, int]]) -> int:
    """64 bits over a whole listing of names and marks, in whatever order it came."""
    return _digest("".join([f"{name}:{mark}\n" for name, mark in sorted(marks)]))


def _digest(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    # Signed, as SQLite's integers are.
    return int.from_bytes(digest, "big", signed=True)

"""Which bytes of a file a client asks for (RFC 9110, 14)."""

import re

_RANGE = re.compile(r"bytes\s*=\s*([0-9]{0,20})\s*-\s*([0-9]{0,20})\s*", re.IGNORECASE)


def asked_range(header: str, size: int) -> range | None:
    """The bytes that a `Range` header asks for; an empty range if the file has none of them; None for the whole file.

    Headers with several ranges, or in another unit, ask for the whole file: a server may answer so, and clients
    that go on with a broken download ask for one.
    """
    found = _RANGE.fullmatch(header)
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return range(max(0, size - int(found[2])), size)
    first = int(found[1])
    last = int(found[2]) if found[2] else size - 1
    if found[2] and last < first:
        return None  # no range at all, says the RFC
    return range(first, min(last + 1, size)) if first < size else range(0)

"""The first bytes of SQLite's write-ahead log. Without them the log counts as empty, and what it holds is lost."""

import os
import struct
from pathlib import Path

_LENGTH = 32
_SUMMED = 24
_LITTLE, _BIG = 0x377F0682, 0x377F0683
_WORD = 1 << 32


def is_log_header(log: Path) -> bool | None:
    """Return whether the log begins as SQLite begins one; None if it has not begun.

    SQLite has no locks on its log, so opening and closing it does no harm.
    """
    first = _beginning(log)
    if first is None or _is_whole(first):
        return None if first is None else True
    # It may have been read while SQLite wrote it.
    return _is_whole(second) if (second := _beginning(log)) is not None else None


def _beginning(log: Path) -> bytes | None:
    try:
        handle = os.open(log, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.pread(handle, _LENGTH, 0)
    except OSError:
        return None
    finally:
        os.close(handle)
    return found if len(found) == _LENGTH else None


def _is_whole(header: bytes) -> bool:
    (magic,) = struct.unpack_from(">I", header)
    if magic not in {_LITTLE, _BIG}:
        return False
    words = struct.unpack_from(f"{'>' if magic == _BIG else '<'}6I", header)
    first = second = 0
    for number in range(0, _SUMMED // 4, 2):
        first = (first + words[number] + second) % _WORD
        second = (second + words[number + 1] + first) % _WORD
    return struct.unpack_from(">2I", header, _SUMMED) == (first, second)

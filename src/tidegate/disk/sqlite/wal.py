"""The write-ahead log of a database: how it stays short while others read, and whether its beginning is whole."""

import contextlib
import os
import sqlite3
import struct
from pathlib import Path

LONGEST_LOG = 64 * 1024 * 1024
WAIT_FOR_READERS_MS = 200
_LENGTH = 32
_SUMMED = 24
_LITTLE, _BIG = 0x377F0682, 0x377F0683
_WORD = 1 << 32


class ShortLog:
    """SQLite begins its log anew only in a moment without readers, which may never come on a busy server.

    A log of gigabytes makes every look slow and fills the disk. So beyond a size that moment is waited for: new readers
    no longer need the log once all of it is in the database, and those that still do are done soon.
    """

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        *,
        longest: int = LONGEST_LOG,
        wait_ms: int = WAIT_FOR_READERS_MS,
    ) -> None:
        self._log = path.with_name(f"{path.name}-wal")
        self._connection = connection
        self._longest = longest
        self._wait_ms = wait_ms
        self._try_beyond = longest

    def keep(self) -> bool:
        """Return whether the log may have been begun anew. Call it after a commit, outside of a transaction.

        Returns soon: what did not work is tried again later.
        """
        if self._size() <= self._try_beyond:
            return False
        self._begin_anew()
        size = self._size()
        # A person with a tool of their own may read for hours. To wait for them after each commit would stop the writer
        # for as long: so there is another try only after the log has grown noticeably.
        self._try_beyond = size + self._longest // 8 if size > self._longest else self._longest
        return True

    def _size(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0

    def _begin_anew(self) -> None:
        connection = self._connection
        (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
        connection.execute(f"PRAGMA busy_timeout = {self._wait_ms}")
        try:
            # What is committed is safe in the log. If the disk is full or fails, the next commit says so.
            with contextlib.suppress(sqlite3.DatabaseError):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute(f"PRAGMA busy_timeout = {usual}")


def is_log_header(log: Path) -> bool | None:
    """Return whether the log begins as SQLite begins one; None if it has not begun.

    Without its first bytes a log counts as empty, and what it holds is lost. SQLite has no locks on its log, so opening
    and closing it does no harm.
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

"""Keeps the write-ahead log of a SQLite database short, whoever reads meanwhile."""

import contextlib
import sqlite3
from pathlib import Path

LONGEST_LOG = 64 * 1024 * 1024
WAIT_FOR_READERS_MS = 200


class ShortLog:
    """SQLite begins its log anew only in a moment without readers, which may never come where somebody always reads.

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
        # Somebody with a tool of their own may read for hours. To wait for them after each commit would stop the writer
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
            # What is committed is safe in the log. A disk that is full or fails is told by the next commit.
            with contextlib.suppress(sqlite3.DatabaseError):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute(f"PRAGMA busy_timeout = {usual}")

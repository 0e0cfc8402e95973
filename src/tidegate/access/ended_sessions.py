"""Sessions that a logout has ended, in SQLite and in memory. Keeps the promise of ports.ended_sessions.

As many rows as logouts in the lifetime of a session. A digest of the cookie is stored, with which nobody can log in.
"""

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Self

from tidegate.access.schema import access_errors, entry_errors, open_access
from tidegate.disk.sqlite.connection import transaction


class SqliteEndedSessions:
    """All methods belong to one event loop; the disk has a thread of its own."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="ended-sessions-writer")
        self._ended: dict[str, float] = dict(connection.execute("SELECT session, until FROM ended_sessions"))

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read all of them."""
        connection = open_access(path)
        with entry_errors(path).translated():
            return cls(path, connection)

    def close(self) -> None:
        """Finish what was begun."""
        self._writer.shutdown()
        self._connection.close()

    def __contains__(self, session: str) -> bool:
        """See EndedSessions."""
        return session in self._ended

    async def end(self, session: str, until: datetime, now: datetime) -> None:
        """See EndedSessions."""
        past = now.timestamp()
        self._ended = {one: end for one, end in self._ended.items() if end > past}
        self._ended[session] = until.timestamp()
        await asyncio.get_running_loop().run_in_executor(self._writer, self._commit, session, until.timestamp(), past)

    def _commit(self, session: str, until: float, past: float) -> None:
        with access_errors(self._path).translated(), transaction(self._connection):
            self._connection.execute("DELETE FROM ended_sessions WHERE until <= ?", (past,))
            self._connection.execute("INSERT OR REPLACE INTO ended_sessions VALUES (?, ?)", (session, until))

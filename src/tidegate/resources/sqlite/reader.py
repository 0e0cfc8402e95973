"""Reading beside the writer: a few threads, each with its own connection and its own consistent look."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from tidegate.errors import DatabaseDamaged
from tidegate.resources.sqlite.errors import translated
from tidegate.resources.sqlite.guard import DatabaseGuard
from tidegate.resources.sqlite.schema import connect

T = TypeVar("T")

_THREADS = 2


class Reader:
    """Runs looks outside of the event loop. Each begins after it was asked for, so it sees every finished write."""

    def __init__(self, path: Path, guard: DatabaseGuard | None = None) -> None:
        self._path = path
        self._guard = guard
        self._pool = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="resource-reader")
        self._own = threading.local()
        self._connections: list[sqlite3.Connection] = []

    async def look(self, at: Callable[[sqlite3.Connection], T]) -> T:
        """The answer of `at`, all of whose queries see the same state."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._look, at)

    def close(self) -> None:
        """Wait for the looks that were begun, then give the connections back."""
        self._pool.shutdown()
        for connection in self._connections:
            connection.close()

    def _look(self, at: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with translated(self._path):
                connection = self._connection()
                connection.execute("BEGIN")
                try:
                    return at(connection)
                finally:
                    if connection.in_transaction:  # a disk that fails has ended it
                        connection.execute("COMMIT")
        except DatabaseDamaged as error:
            if self._guard is not None:
                self._guard.note(error)
            raise

    def _connection(self) -> sqlite3.Connection:
        if not hasattr(self._own, "connection"):
            self._own.connection = connect(self._path)
            self._connections.append(self._own.connection)
        own: sqlite3.Connection = self._own.connection
        return own

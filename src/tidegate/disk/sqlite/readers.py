"""Reading beside the writer: a few threads, each with a connection of its own and a consistent look."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tidegate.disk.sqlite.connection import DURABLE, Options, connect
from tidegate.disk.sqlite.errors import SqliteErrors

T = TypeVar("T")

_THREADS = 2


class Readers:
    """Runs looks outside of the event loop. Each begins after it was asked for, so it sees every finished write."""

    def __init__(self, errors: SqliteErrors, *, name: str, options: Options = DURABLE) -> None:
        self._errors = errors
        self._options = options
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix=name)
        self._own = threading.local()
        self._connections: list[sqlite3.Connection] = []

    def look(self, at: Callable[[sqlite3.Connection], T]) -> "asyncio.Future[T]":
        """Return the answer of `at`, all of whose queries see the same state. Raise RuntimeError at once if closed."""
        return asyncio.get_running_loop().run_in_executor(self._pool, self._look, at)

    def close(self) -> None:
        """Wait for the looks that were begun, then give the connections back."""
        self._pool.shutdown()
        for connection in self._connections:
            connection.close()

    def _look(self, at: Callable[[sqlite3.Connection], T]) -> T:
        with self._errors.translated():
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                return at(connection)
            finally:
                if connection.in_transaction:  # a disk that fails has ended it
                    connection.execute("COMMIT")

    def _connection(self) -> sqlite3.Connection:
        if not hasattr(self._own, "connection"):
            self._own.connection = connect(self._errors.path, self._options)
            self._connections.append(self._own.connection)
        own: sqlite3.Connection = self._own.connection
        return own

"""How a connection is opened, and what a transaction is."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tidegate.disk.private_file import make_private

_BUSY_TIMEOUT_MS = 5_000


@dataclass(frozen=True)
class Options:
    """What the files of the server differ in."""

    synchronous: Literal["FULL", "NORMAL"] = "FULL"
    """With FULL a commit returns once the log is on the disk; with NORMAL a power cut may take the last commits."""
    checkpoint_pages: int = 4_000
    """Pages of the write-ahead log before SQLite folds it into the database: more of them mean fewer, longer pauses."""
    cache_kib: int | None = None
    """Memory for pages of the database; None is SQLite's own default."""


DURABLE = Options()


def connect(path: Path, options: Options = DURABLE) -> sqlite3.Connection:
    """Return a connection whose transactions are begun and ended by hand; one thread at a time may use it."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {options.synchronous}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {options.checkpoint_pages}")
        if options.cache_kib is not None:
            connection.execute(f"PRAGMA cache_size = -{options.cache_kib}")
    except BaseException:
        connection.close()
        raise
    return connection


def open_private(
    path: Path, prepare: Callable[[sqlite3.Connection], None], options: Options = DURABLE
) -> sqlite3.Connection:
    """Return a connection to the prepared file, made for its owner only; after an error nothing stays open."""
    make_private(path)
    connection = connect(path, options)
    try:
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit everything that is done inside, or nothing of it. Takes the lock for writing at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full or failing disk may have ended it already
            connection.execute("ROLLBACK")
        raise

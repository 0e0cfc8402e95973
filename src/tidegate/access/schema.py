"""The tables of accounts and audit, in a file that only its owner can read."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tidegate.disk.private_file import make_private
from tidegate.errors import DatabaseDamaged
from tidegate.resources.sqlite.errors import translated
from tidegate.resources.sqlite.schema import connect, migrate

# "TGAC": tells our file from any other program's.
APPLICATION_ID = 0x54474143

# Steps are never changed, only added. `body` is what is told; what must not be told has columns of its own.
STEPS = (
    """
    CREATE TABLE tokens (
        name TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, body TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE users (
        name TEXT PRIMARY KEY, password TEXT NOT NULL, stamp TEXT NOT NULL, body TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE audit (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        at REAL NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, body TEXT NOT NULL
    );
    CREATE INDEX audit_by_who ON audit (who);
    CREATE INDEX audit_by_time ON audit (at);
    CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'entries of the audit are never changed'); END;
    """,
    # 2: what a logout has ended, until it would be over anyway.
    """
    CREATE TABLE ended_sessions (session TEXT PRIMARY KEY, until REAL NOT NULL) WITHOUT ROWID;
    """,
)


_WAY_BACK = (
    "Stop the server, move access.sqlite, access.sqlite-wal and access.sqlite-shm aside and start it: the token in"
    " admin.token works as before; make users and tokens anew. The audit log is in the file that was moved."
)


@contextmanager
def access_errors(path: Path) -> Iterator[None]:
    """Raise our errors in place of SQLite's. Damage says what to do about this very file."""
    try:
        with translated(path):
            yield
    except DatabaseDamaged as error:
        raise DatabaseDamaged(error.message, hint=_WAY_BACK) from error


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """The same while entries are read as values: what they hold instead is damage, too."""
    try:
        with access_errors(path):
            yield
    except (ValueError, TypeError) as error:
        raise DatabaseDamaged(f"an entry of {path} is damaged", hint=_WAY_BACK) from error


def open_access(path: Path) -> sqlite3.Connection:
    """A connection to the file, made or brought up to date. Raises UserError for what is not ours."""
    make_private(path)
    with access_errors(path):
        connection = connect(path)
        try:
            migrate(connection, path, steps=STEPS, application_id=APPLICATION_ID)
        except BaseException:
            connection.close()
            raise
        return connection

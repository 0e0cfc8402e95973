"""The tables of accounts and audit, in a file that only its owner can read."""

import sqlite3
from pathlib import Path

from tidegate.disk.sqlite.connection import open_private
from tidegate.disk.sqlite.errors import SqliteErrors
from tidegate.disk.sqlite.schema import Schema
from tidegate.errors import DatabaseDamaged

# "TGAC": tells our file from any other program's.
APPLICATION_ID = 0x54474143

# `body` is what the API shows; what it must not show has columns of its own.
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

_SCHEMA = Schema(APPLICATION_ID, STEPS)
_WAY_BACK = (
    "Stop the server, move access.sqlite, access.sqlite-wal and access.sqlite-shm aside and start it: the token in"
    " admin.token works as before; make users and tokens anew. The audit log is in the file that was moved."
)


def access_errors(path: Path) -> SqliteErrors:
    """Return the translation of errors for this file."""
    return SqliteErrors(path, _damaged)


def entry_errors(path: Path) -> SqliteErrors:
    """Return the same for reading entries as values: an entry that is none is damage, too."""
    return SqliteErrors(path, _damaged, unreadable=(ValueError, TypeError))


def open_access(path: Path) -> sqlite3.Connection:
    """Return a connection to the file, made or brought up to date. Raise UserError for what is not ours."""
    with access_errors(path).translated():
        return open_private(path, lambda connection: _SCHEMA.migrate(connection, path))


def _damaged(said: str) -> DatabaseDamaged:
    return DatabaseDamaged(said, hint=_WAY_BACK)

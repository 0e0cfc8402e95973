"""The tables of accounts and audit, in a file that only its owner can read."""

import os
import sqlite3
from pathlib import Path

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


def open_access(path: Path) -> sqlite3.Connection:
    """A connection to the file, made or brought up to date. Raises UserError for what is not ours."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    with translated(path):
        connection = connect(path)
        try:
            migrate(connection, path, steps=STEPS, application_id=APPLICATION_ID)
        except BaseException:
            connection.close()
            raise
        return connection

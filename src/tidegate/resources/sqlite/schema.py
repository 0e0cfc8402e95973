"""The tables, how they came to be, and the way back when the file is damaged."""

import sqlite3
from pathlib import Path

from tidegate.disk.sqlite.errors import SqliteErrors
from tidegate.disk.sqlite.schema import Schema
from tidegate.errors import DatabaseDamaged

# "TGRS": tells our file from any other program's.
APPLICATION_ID = 0x54475253

STEPS = (
    # 1: the resources. `body` is the truth; the columns beside it are for finding it.
    """
    CREATE TABLE resources (
        kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
        uid TEXT NOT NULL UNIQUE,
        body TEXT NOT NULL,
        PRIMARY KEY (kind, namespace, name)
    );
    CREATE TABLE counter (last_version INTEGER NOT NULL);
    INSERT INTO counter VALUES (0);
    """,
    # 2: selectors and owners by index. The order of labels_by_value is the order of a list.
    """
    CREATE TABLE labels (
        kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
        key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (kind, namespace, name, key)
    ) WITHOUT ROWID;
    CREATE INDEX labels_by_value ON labels (kind, key, value, namespace, name);
    CREATE TABLE owners (
        owner_uid TEXT NOT NULL,
        kind TEXT NOT NULL, name TEXT NOT NULL, namespace TEXT NOT NULL,
        PRIMARY KEY (owner_uid, kind, name, namespace)
    ) WITHOUT ROWID;
    INSERT INTO labels
        SELECT kind, namespace, name, label.key, label.value
        FROM resources, json_each(body, '$.metadata.labels') AS label;
    INSERT OR IGNORE INTO owners
        SELECT owner.value ->> '$.uid', kind, name, namespace
        FROM resources, json_each(body, '$.metadata.ownerReferences') AS owner;
    """,
)
SCHEMA = Schema(APPLICATION_ID, STEPS)
WAY_BACK = (
    "Come back from a system backup: stop the server, move tidegate.db, tidegate.db-wal and tidegate.db-shm aside,"
    " start it, then `tidegate target create NAME URL` and `tidegate system restore create --from NAME`."
    " See docs/system-backups.md."
)


def errors_of(path: Path) -> SqliteErrors:
    """Return the translation of errors for this database: the way back from damage is a system backup."""
    return SqliteErrors(path, damaged=lambda said: DatabaseDamaged(said, hint=WAY_BACK))


def read_last_version(connection: sqlite3.Connection) -> int:
    """The newest version ever given out."""
    found = connection.execute("SELECT last_version FROM counter").fetchone()
    if found is None or not isinstance(found[0], int):
        raise sqlite3.DatabaseError("no such column: the counter of versions is not there")
    return found[0]


def save_last_version(connection: sqlite3.Connection, version: int) -> None:
    """In the same transaction as the changes, so that no version can come twice."""
    connection.execute("UPDATE counter SET last_version = ?", (version,))

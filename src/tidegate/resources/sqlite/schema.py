"""The tables, how they came to be, and how a connection to them is opened."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from tidegate.errors import UserError

# "TGRS": tells our file from any other program's.
APPLICATION_ID = 0x54475253

# Step n leads from version n-1 to version n. A new database takes all of them. Steps are never changed, only added.
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
SCHEMA_VERSION = len(STEPS)

_BUSY_TIMEOUT_MS = 5_000
# Pages of the write-ahead log before it is folded into the database: fewer, longer pauses.
_CHECKPOINT_PAGES = 4_000


def connect(path: Path) -> sqlite3.Connection:
    """A connection with our settings. Transactions are begun and ended by hand; any one thread at a time may use it."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA journal_mode = WAL")
        # Durable means durable: a commit has returned only when the log is on the disk.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    except BaseException:
        connection.close()
        raise
    return connection


def migrate(
    connection: sqlite3.Connection,
    path: Path,
    *,
    steps: Sequence[str] = STEPS,
    application_id: int = APPLICATION_ID,
) -> None:
    """Bring the tables up to date, all steps or none. Raises UserError for what is not ours or from the future."""
    newest = len(steps)
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application != application_id and tables:
        raise UserError(f"{path} is a database of another program", hint="Choose another data directory.")
    if version > newest:
        raise UserError(
            f"{path} was written by a newer Tidegate (schema {version}, this one knows {newest})",
            hint="Upgrade Tidegate, or restore the data directory from before the upgrade.",
        )
    if version == newest:
        return
    missing = "".join(steps[version:])
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE; {missing}"
            f"PRAGMA application_id = {application_id}; PRAGMA user_version = {newest}; COMMIT;"
        )
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def read_last_version(connection: sqlite3.Connection) -> int:
    """The newest version ever given out."""
    found = connection.execute("SELECT last_version FROM counter").fetchone()
    if found is None or not isinstance(found[0], int):
        raise sqlite3.DatabaseError("no such column: the counter of versions is not there")
    return found[0]


def save_last_version(connection: sqlite3.Connection, version: int) -> None:
    """In the same transaction as the changes, so that no version can come twice."""
    connection.execute("UPDATE counter SET last_version = ?", (version,))

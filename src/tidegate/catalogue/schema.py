"""The tables of the catalogue, and how its file is opened: what cannot be used is moved aside and begun anew."""

import contextlib
import json
import sqlite3
from pathlib import Path

import structlog

from tidegate.disk.sqlite.connection import Options, open_private
from tidegate.disk.sqlite.errors import SqliteErrors
from tidegate.disk.sqlite.schema import identity_of
from tidegate.errors import CatalogueDamaged

log = structlog.get_logger(__name__)

# "TGCA": tells our file from any other program's.
APPLICATION_ID = 0x54474341
SCHEMA_VERSION = 6
# A power cut may take the last seconds of a sync, which comes again; a deletion asks for a durable commit.
# A page that many commits change is written into the database once for all of them that the log holds.
OPTIONS = Options(synchronous="NORMAL", checkpoint_pages=8_000, cache_kib=16_000)

# Integers for everything that a million rows repeat. `mark` is a digest of what a listing shows of the cfg: while it
# is the same, the cfg is not read again. `groups` are the backups of a volume that have the same subject: whatever
# people search for leads to a few groups, and `by_group` from there to the newest backups. `words` is all that a search
# goes through, in small letters, each name in a line of its own. A group repeats its volume's target and whether it is
# hidden: what goes through all groups must not fetch each volume's record, which is long, to know these.
# A row that is hidden is wanted gone; it is in no index that lists go by. `hours` counts those that are not hidden, so
# that nobody counts off half a million to begin in the middle; triggers keep it, because rows change in many places.
TABLES = """
CREATE TABLE targets (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE volumes (
    id INTEGER PRIMARY KEY, target_id INTEGER NOT NULL, name TEXT NOT NULL,
    record TEXT NOT NULL DEFAULT '{}', messages TEXT,
    cfg_mark INTEGER, listing_mark INTEGER, settled INTEGER NOT NULL DEFAULT 0,
    synced_at INTEGER, hidden INTEGER NOT NULL DEFAULT 0,
    UNIQUE (target_id, name)
);
CREATE INDEX volumes_by_name ON volumes (name, id) WHERE hidden = 0;
CREATE TABLE groups (
    id INTEGER PRIMARY KEY, volume_id INTEGER NOT NULL, target_id INTEGER NOT NULL, hidden INTEGER NOT NULL,
    namespace TEXT NOT NULL, claim TEXT NOT NULL, workload TEXT NOT NULL, pod TEXT NOT NULL,
    words TEXT NOT NULL, backups INTEGER NOT NULL DEFAULT 0,
    UNIQUE (volume_id, namespace, claim, workload, pod)
);
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE labels (id INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (key, value));
CREATE TABLE label_sets (id INTEGER PRIMARY KEY, members TEXT NOT NULL UNIQUE);
CREATE TABLE label_members (
    label_id INTEGER NOT NULL, set_id INTEGER NOT NULL, PRIMARY KEY (label_id, set_id)
) WITHOUT ROWID;
CREATE INDEX members_by_set ON label_members (set_id);
CREATE TABLE backups (
    id INTEGER PRIMARY KEY, volume_id INTEGER NOT NULL, group_id INTEGER NOT NULL, name TEXT NOT NULL,
    created INTEGER NOT NULL, mark INTEGER NOT NULL, state INTEGER NOT NULL, hidden INTEGER NOT NULL DEFAULT 0,
    flags INTEGER NOT NULL, snapshot_created INTEGER, snapshot_name TEXT NOT NULL, size INTEGER NOT NULL,
    volume_size INTEGER NOT NULL, data_size INTEGER, new_bytes INTEGER NOT NULL, repeated_bytes INTEGER NOT NULL,
    compression_id INTEGER NOT NULL, parameters_id INTEGER NOT NULL, label_set_id INTEGER NOT NULL, messages TEXT,
    UNIQUE (volume_id, name)
);
CREATE INDEX by_time ON backups (created, id) WHERE hidden = 0;
CREATE INDEX by_group ON backups (group_id, created, id) WHERE hidden = 0;
CREATE INDEX by_state ON backups (state, created, id) WHERE hidden = 0 AND state <> 0;
CREATE INDEX by_labels ON backups (label_set_id, created, id);
CREATE TABLE hours (hour INTEGER PRIMARY KEY, backups INTEGER NOT NULL);
CREATE TRIGGER backup_comes AFTER INSERT ON backups WHEN new.hidden = 0 BEGIN
    INSERT INTO hours VALUES (new.created / 3600, 1) ON CONFLICT (hour) DO UPDATE SET backups = backups + 1;
END;
CREATE TRIGGER backup_goes AFTER DELETE ON backups WHEN old.hidden = 0 BEGIN
    UPDATE hours SET backups = backups - 1 WHERE hour = old.created / 3600;
END;
CREATE TRIGGER backup_changes AFTER UPDATE OF created, hidden ON backups
WHEN old.created / 3600 <> new.created / 3600 OR old.hidden <> new.hidden BEGIN
    UPDATE hours SET backups = backups - (old.hidden = 0) WHERE hour = old.created / 3600;
    INSERT INTO hours VALUES (new.created / 3600, new.hidden = 0)
        ON CONFLICT (hour) DO UPDATE SET backups = backups + excluded.backups;
END;
CREATE TABLE tombstones (
    target TEXT NOT NULL, volume TEXT NOT NULL, backup TEXT NOT NULL, PRIMARY KEY (target, volume, backup)
) WITHOUT ROWID;
"""
# Tables that came later without a new version: an older program does not need them, and their absence loses nothing.
# `full_syncs` belongs into this file: a new file must know that no store has been read into it.
LATER_TABLES = """
CREATE TABLE IF NOT EXISTS full_syncs (
    target TEXT PRIMARY KEY, url TEXT NOT NULL, began_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS broken_volumes ON volumes (target_id, name)
    WHERE hidden = 0 AND messages IS NOT NULL AND messages <> '{}';
"""


def errors_of(path: Path) -> SqliteErrors:
    """Return the translation of errors for this file: damage mends itself, because the stores have everything."""
    return SqliteErrors(
        path,
        damaged=lambda said: CatalogueDamaged(said, hint="It is made anew from the stores; ask again."),
        unreadable=(json.JSONDecodeError,),
    )


def open_catalogue(path: Path) -> sqlite3.Connection:
    """The connection that writes. A file that is damaged, foreign or of another version is moved aside, never used.

    Wishes to delete are carried over as far as the old file still tells them.
    """
    if path.exists():
        try:
            return open_private(path, _check_existing, OPTIONS)
        except (sqlite3.Error, _Unusable) as error:
            return begin_anew(path, str(error))
    return _made(path, [])


def begin_anew(path: Path, reason: str) -> sqlite3.Connection:
    """The connection that writes, to a new file. What is there, if anything, is moved aside."""
    wishes: list[tuple[str, str, str]] = []
    if path.exists():
        wishes = _salvage(path)
        aside = path.with_name(f"{path.name}.unusable")
        log.warning("catalogue begun anew", reason=reason, old_file=str(aside))
        path.replace(aside)
    else:
        log.warning("catalogue begun anew", reason=reason)
    # The newest one that could not be used is kept, for whoever wants to know why; a log without its file is of no use.
    for companion in ("-wal", "-shm"):
        path.with_name(path.name + companion).unlink(missing_ok=True)
    return _made(path, wishes)


def _made(path: Path, wishes: list[tuple[str, str, str]]) -> sqlite3.Connection:
    def prepare(connection: sqlite3.Connection) -> None:
        connection.executescript(
            f"BEGIN IMMEDIATE; {TABLES} {LATER_TABLES} PRAGMA application_id = {APPLICATION_ID};"
            f"PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
        )
        connection.executemany("INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?)", wishes)

    return open_private(path, prepare, OPTIONS)


class _Unusable(Exception):
    """Not a catalogue of this version."""


def _check_existing(connection: sqlite3.Connection) -> None:
    application, version = identity_of(connection)
    if (application, version) != (APPLICATION_ID, SCHEMA_VERSION):
        raise _Unusable(f"it has schema {version} and not {SCHEMA_VERSION}")
    connection.executescript(LATER_TABLES)
    # Reads the first pages of every table: damage there is noticed now and not in the middle of a look.
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        connection.execute(f"SELECT * FROM {table} LIMIT 1").fetchall()


def _salvage(path: Path) -> list[tuple[str, str, str]]:
    with contextlib.suppress(sqlite3.Error):
        connection = sqlite3.connect(path)
        try:
            return connection.execute("SELECT target, volume, backup FROM tombstones").fetchall()
        finally:
            connection.close()
    return []

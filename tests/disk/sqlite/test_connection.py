"""A transaction is whole or nothing, and errors of SQLite become errors of Tidegate."""

import sqlite3

import pytest

from tidegate.disk.sqlite.connection import Options, connect, open_private, transaction
from tidegate.disk.sqlite.errors import SqliteErrors
from tidegate.disk.sqlite.readers import Readers
from tidegate.disk.sqlite.schema import Schema
from tidegate.errors import AlreadyRunning, DatabaseDamaged, NoSpace, UserError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.db"


@pytest.fixture
def connection(path):
    connection = connect(path)
    connection.execute("CREATE TABLE t (body TEXT)")
    yield connection
    connection.close()


def errors_of(path, **kinds):
    return SqliteErrors(path, DatabaseDamaged, **kinds)


def bodies(connection):
    return [body for (body,) in connection.execute("SELECT body FROM t")]


@pytest.mark.parametrize(
    ("options", "pragmas"),
    [
        (Options(), {"synchronous": 2, "wal_autocheckpoint": 4_000, "cache_size": -2_000}),
        (Options("NORMAL", 8_000, 16_000), {"synchronous": 1, "wal_autocheckpoint": 8_000, "cache_size": -16_000}),
    ],
)
def test_a_connection_has_the_settings_that_were_asked_for_and_a_write_ahead_log(path, options, pragmas):
    connection = connect(path, options)
    try:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (5_000,)
        assert {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas} == pragmas
    finally:
        connection.close()


def test_a_new_file_is_for_its_owner_only_and_closed_when_it_cannot_be_prepared(path):
    given = []

    def fail(connection):
        given.append(connection)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        open_private(path, fail)

    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        given[0].execute("SELECT 1")


def test_a_transaction_that_fails_half_way_changes_nothing(connection):
    def half():
        with transaction(connection):
            connection.execute("INSERT INTO t VALUES ('half')")
            connection.execute("INSERT INTO missing VALUES (1)")

    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        half()

    assert not connection.in_transaction
    assert bodies(connection) == []


def test_a_commit_that_fails_leaves_no_transaction_open(connection):
    connection.executescript(
        "PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY);"
        "CREATE TABLE child (id REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);"
    )

    with pytest.raises(sqlite3.IntegrityError), transaction(connection):
        connection.execute("INSERT INTO child VALUES (7)")

    assert not connection.in_transaction
    with transaction(connection):
        connection.execute("INSERT INTO t VALUES ('next')")
    assert bodies(connection) == ["next"]


def test_a_transaction_takes_the_lock_for_writing_before_anything_is_written(path, connection):
    other = sqlite3.connect(path, isolation_level=None, timeout=0)
    with transaction(connection), pytest.raises(AlreadyRunning, match="locked"), errors_of(path).translated():
        other.execute("INSERT INTO t VALUES ('other')")
    other.close()


def test_a_full_disk_is_said_as_such(path, connection):
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")

    with pytest.raises(NoSpace, match="nothing was changed"), errors_of(path).translated(), transaction(connection):
        connection.execute("INSERT INTO t VALUES (?)", ("x" * 100_000,))


@pytest.mark.parametrize("statement", ["SELECT * FROM missing", "SELECT missing FROM t"])
def test_tables_that_are_others_are_damage(path, connection, statement):
    with pytest.raises(DatabaseDamaged, match="is damaged: no such"), errors_of(path).translated():
        connection.execute(statement)


def test_an_entry_that_cannot_be_understood_is_damage_where_entries_are_read_and_a_bug_elsewhere(path):
    with pytest.raises(DatabaseDamaged, match="an entry of"), errors_of(path, unreadable=(ValueError,)).translated():
        int("none")
    with pytest.raises(ValueError, match="invalid literal"), errors_of(path).translated():
        int("none")


def test_a_bug_of_ours_stays_as_it_is(path, connection):
    with pytest.raises(sqlite3.IntegrityError), errors_of(path).translated():
        connection.executescript("CREATE UNIQUE INDEX one ON t (body); INSERT INTO t VALUES (1), (1)")


def test_a_schema_brings_old_files_up_to_date_and_leaves_new_ones_alone(connection, path):
    old = Schema(7, ("CREATE TABLE a (n);",))
    new = Schema(7, (*old.steps, "CREATE TABLE b (n);"))
    connection.execute("DROP TABLE t")
    old.migrate(connection, path)
    connection.execute("INSERT INTO a VALUES (1)")

    new.migrate(connection, path)
    new.migrate(connection, path)

    assert connection.execute("SELECT n FROM a").fetchall() == [(1,)]
    assert connection.execute("SELECT n FROM b").fetchall() == []
    with pytest.raises(UserError, match="newer Tidegate"):
        old.migrate(connection, path)
    with pytest.raises(UserError, match="another program"):
        Schema(8, new.steps).migrate(connection, path)


def test_a_step_that_fails_leaves_the_file_in_its_old_version(connection, path):
    connection.execute("DROP TABLE t")
    Schema(7, ("CREATE TABLE a (n);",)).migrate(connection, path)

    with pytest.raises(sqlite3.Error):
        Schema(7, ("", "CREATE TABLE b (n);", "CREATE TABLE a (n);")).migrate(connection, path)

    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("a",)]


async def test_all_queries_of_one_look_see_the_same_state(path, connection):
    readers = Readers(errors_of(path), name="reader")

    def look(reading):
        before = bodies(reading)
        connection.execute("INSERT INTO t VALUES ('meanwhile')")
        return before, bodies(reading)

    try:
        assert await readers.look(look) == ([], [])
        assert await readers.look(bodies) == ["meanwhile"]
    finally:
        readers.close()
    with pytest.raises(RuntimeError):
        readers.look(bodies)

"""A damaged access.sqlite is told in one sentence that says what to do."""

import sqlite3

import pytest

from tidegate.access.accounts import SqliteAccounts
from tidegate.access.audit import SqliteAudit
from tidegate.access.ended_sessions import SqliteEndedSessions
from tidegate.errors import DatabaseDamaged


def junk(path):
    path.write_bytes(b"this is no database" * 500)


def without_tables(path):
    with sqlite3.connect(path) as connection:
        for table in ("tokens", "users", "audit", "ended_sessions"):
            connection.execute(f"DROP TABLE {table}")
    connection.close()


def changed_entry(path):
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO users VALUES ('ann', 'x', '1', '{torn')")
    connection.close()


@pytest.mark.parametrize("spoil", [junk, without_tables, changed_entry])
def test_a_damaged_file_of_accounts_says_what_to_move_aside_and_what_still_works(tmp_path, spoil):
    path = tmp_path / "access.sqlite"
    SqliteAccounts.open(path).close()
    spoil(path)

    with pytest.raises(DatabaseDamaged) as told:
        SqliteAccounts.open(path)
    assert str(path) in told.value.message
    assert "move access.sqlite" in told.value.hint
    assert "admin.token works" in told.value.hint


@pytest.mark.parametrize("kind", [SqliteAudit, SqliteEndedSessions])
def test_the_same_is_told_by_whoever_else_opens_it(tmp_path, kind):
    path = tmp_path / "access.sqlite"
    junk(path)

    with pytest.raises(DatabaseDamaged, match="is damaged") as told:
        kind.open(path)
    assert "move access.sqlite" in told.value.hint

"""Accounts and audit in their file: durable, and without a secret that could be read out of it."""

import contextlib
import sqlite3
import stat
from datetime import UTC, datetime, timedelta

import pytest

from tidegate.access.accounts import SqliteAccounts
from tidegate.access.audit import SqliteAudit
from tidegate.access.passwords import Cost, hash_password, password_matches
from tidegate.model.access.access import AccessToken, Role, User
from tidegate.model.access.audit import AuditEntry, AuditFilter

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
QUICK = Cost(log2_n=4, r=1, p=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "access.sqlite"


@pytest.fixture
def accounts(path):
    accounts = SqliteAccounts.open(path, cost=QUICK)
    yield accounts
    accounts.close()


@contextlib.contextmanager
def opened_again(accounts, path):
    accounts.close()
    again = SqliteAccounts.open(path, cost=QUICK)
    try:
        yield again
    finally:
        again.close()


def token(name="ci", role=Role.OPERATOR, **more):
    return AccessToken(name=name, role=role, created_at=NOON, created_by="admin", **more)


def user(name="alice", role=Role.VIEWER):
    return User(name=name, role=role, created_at=NOON, password_changed_at=NOON)


async def test_neither_tokens_nor_passwords_are_in_the_file(accounts, path):
    secret = await accounts.make_token(token())
    await accounts.make_user(user(), "correct horse battery")

    stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert secret.encode() not in stored
    assert b"correct horse" not in stored
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_uses_of_a_token_are_remembered_to_within_minutes(accounts, path):
    await accounts.make_token(token())

    for minutes in (0, 5, 9):
        accounts.note_use("ci", NOON + timedelta(minutes=minutes))
    assert accounts.tokens()[0].last_used_at == NOON
    accounts.note_use("ci", NOON + timedelta(minutes=10))

    with opened_again(accounts, path) as again:
        assert again.tokens()[0].last_used_at == NOON + timedelta(minutes=10)


def test_a_hash_tells_its_cost_and_two_of_the_same_password_differ():
    one, other = (hash_password("correct horse battery", QUICK) for _ in range(2))

    assert one.startswith("scrypt$4$1$1$")
    assert one != other
    assert password_matches("correct horse battery", one)
    assert not password_matches("correct horse batterY", one)


def test_the_cost_that_is_used_can_be_paid():
    assert password_matches("correct horse battery", hash_password("correct horse battery", Cost()))


@pytest.fixture
def audit(path):
    audit = SqliteAudit.open(path)
    yield audit
    audit.close()


def entry(number, who="alice"):
    at = NOON + timedelta(minutes=number)
    return AuditEntry(at=at, who=who, address="::1", method="POST", what=f"backups/b{number}", outcome=201)


async def test_old_entries_are_forgotten_and_none_can_be_changed(audit, path):
    for number in range(4):
        await audit.append(entry(number))

    await audit.forget_before(NOON + timedelta(minutes=2))

    assert [one.what for one in (await audit.entries(AuditFilter())).entries] == ["backups/b3", "backups/b2"]
    with contextlib.closing(sqlite3.connect(path)) as other, pytest.raises(sqlite3.DatabaseError, match="never"):
        other.execute("UPDATE audit SET who = 'nobody'")

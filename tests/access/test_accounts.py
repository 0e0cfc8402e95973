"""Accounts and audit in their file: durable, and without a secret that could be read out of it."""

import asyncio
import contextlib
import sqlite3
import stat
from datetime import UTC, datetime, timedelta

import pytest

from tidegate.access.accounts import SqliteAccounts
from tidegate.access.audit import SqliteAudit
from tidegate.access.passwords import Cost, hash_password, password_matches
from tidegate.errors import AlreadyExists, InvalidInput, NotFound
from tidegate.model.access.access import AccessToken, Caller, Role, User, UserChange, Via
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


async def test_a_token_opens_the_door_until_it_is_revoked_also_after_a_restart(accounts, path):
    secret = await accounts.make_token(token())
    assert accounts.holder_of(secret, NOON) == Caller("ci", Role.OPERATOR, Via.TOKEN)

    with opened_again(accounts, path) as again:
        assert again.holder_of(secret, NOON) == Caller("ci", Role.OPERATOR, Via.TOKEN)
        await again.revoke_token("ci")
        assert again.holder_of(secret, NOON) is None
        with pytest.raises(NotFound):
            await again.revoke_token("ci")


async def test_a_token_is_over_when_its_time_is(accounts):
    secret = await accounts.make_token(token(expires_at=NOON + timedelta(hours=1)))

    assert accounts.holder_of(secret, NOON + timedelta(minutes=59))
    assert accounts.holder_of(secret, NOON + timedelta(hours=1)) is None


async def test_neither_tokens_nor_passwords_are_in_the_file(accounts, path):
    secret = await accounts.make_token(token())
    await accounts.make_user(user(), "correct horse battery")

    stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert secret.encode() not in stored
    assert b"correct horse" not in stored
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_name_can_be_had_once(accounts):
    await accounts.make_token(token())
    await accounts.make_user(user(), "correct horse battery")

    with pytest.raises(AlreadyExists):
        await accounts.make_token(token())
    with pytest.raises(AlreadyExists):
        await accounts.make_user(user(), "another password")


async def test_a_user_comes_in_with_the_password_and_not_without(accounts):
    await accounts.make_user(user(), "correct horse battery")

    assert await accounts.user_with("alice", "correct horse battery", NOON) == Caller("alice", Role.VIEWER, Via.USER)
    assert await accounts.user_with("alice", "correct horse", NOON) is None
    assert await accounts.user_with("bob", "correct horse battery", NOON) is None
    assert accounts.users()[0].last_login_at == NOON


CHANGES = [
    (UserChange(password="a new password"), True),
    (UserChange(disabled=True), True),
    (UserChange(role=Role.ADMIN), False),
]


@pytest.mark.parametrize(("change", "ends"), CHANGES)
async def test_what_shuts_somebody_out_ends_their_sessions(accounts, change, ends):
    await accounts.make_user(user(), "correct horse battery")
    alice = Caller("alice", Role.VIEWER, Via.USER)
    stamp = accounts.stamp_of(alice)

    await accounts.change_user("alice", change, NOON)
    await accounts.change_user("alice", UserChange(disabled=False), NOON)

    assert (accounts.stamp_of(alice) != stamp) == ends
    assert accounts.known("alice", token=False, now=NOON).role is (change.role or Role.VIEWER)


async def test_changes_at_the_same_time_do_not_undo_each_other(accounts):
    await accounts.make_user(user(), "correct horse battery")

    await asyncio.gather(
        accounts.user_with("alice", "correct horse battery", NOON),
        accounts.change_user("alice", UserChange(disabled=True), NOON),
        accounts.change_user("alice", UserChange(role=Role.ADMIN), NOON),
    )

    (alice,) = accounts.users()
    assert (alice.disabled, alice.role) == (True, Role.ADMIN)


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


async def test_entries_come_back_page_by_page_the_newest_first(audit):
    await asyncio.gather(*(audit.append(entry(number)) for number in range(7)))

    seen, marker = [], ""
    while marker is not None:
        page = await audit.entries(AuditFilter(), limit=3, marker=marker)
        seen += page.entries
        marker = page.marker

    assert seen == [entry(number) for number in reversed(range(7))]


FILTERS = [
    (AuditFilter(who="bob"), [1]),
    (AuditFilter(what="b2"), [2]),
    (AuditFilter(since=NOON + timedelta(minutes=2)), [3, 2]),
    (AuditFilter(until=NOON + timedelta(minutes=1)), [0]),
    (AuditFilter(who="alice", since=NOON + timedelta(minutes=1), until=NOON + timedelta(minutes=3)), [2]),
]


@pytest.mark.parametrize(("wanted", "found"), FILTERS)
async def test_a_filter_finds_what_it_says(audit, wanted, found):
    entries = [entry(0), entry(1, who="bob"), entry(2), entry(3)]
    for one in entries:
        await audit.append(one)

    assert list((await audit.entries(wanted)).entries) == [entries[number] for number in found]


@pytest.mark.parametrize("marker", ["x", "-1", "1 OR 1", "٣", "9" * 30])
async def test_a_marker_of_somebody_elses_making_is_refused(audit, marker):
    with pytest.raises(InvalidInput):
        await audit.entries(AuditFilter(), marker=marker)


async def test_old_entries_are_forgotten_and_none_can_be_changed(audit, path):
    for number in range(4):
        await audit.append(entry(number))

    await audit.forget_before(NOON + timedelta(minutes=2))

    assert [one.what for one in (await audit.entries(AuditFilter())).entries] == ["backups/b3", "backups/b2"]
    with contextlib.closing(sqlite3.connect(path)) as other, pytest.raises(sqlite3.DatabaseError, match="never"):
        other.execute("UPDATE audit SET who = 'nobody'")

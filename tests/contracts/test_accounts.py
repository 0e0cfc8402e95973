"""Every implementation of Accounts keeps the same promise."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tidegate.access.accounts import SqliteAccounts
from tidegate.access.passwords import Cost
from tidegate.errors import AlreadyExists, NotFound
from tidegate.model.access.access import AccessToken, Caller, Role, User, UserChange, Via
from tidegate.ports.accounts import Accounts

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PASSWORD = "correct horse battery"
QUICK = Cost(log2_n=4, r=1, p=1)
ALICE = Caller("alice", Role.VIEWER, Via.USER)


def on_disk(tmp_path):
    return SqliteAccounts.open(tmp_path / "access.sqlite", cost=QUICK)


IMPLEMENTATIONS: dict[type[Accounts], object] = {SqliteAccounts: on_disk}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def open_accounts(request, tmp_path):
    """Open the same accounts, once more after those before were closed."""
    opened = []

    def open_them():
        for one in opened:
            one.close()
        opened[:] = [IMPLEMENTATIONS[request.param](tmp_path)]
        return opened[0]

    yield open_them
    for one in opened:
        one.close()


@pytest.fixture
def accounts(open_accounts):
    return open_accounts()


def token(name="ci", role=Role.OPERATOR, **more):
    return AccessToken(name=name, role=role, created_at=NOON, created_by="admin", **more)


def user(name="alice", role=Role.VIEWER):
    return User(name=name, role=role, created_at=NOON, password_changed_at=NOON)


async def test_a_token_is_valid_until_it_is_revoked_also_after_a_restart(open_accounts):
    accounts = open_accounts()
    secret = await accounts.make_token(token())
    assert accounts.holder_of(secret, NOON) == Caller("ci", Role.OPERATOR, Via.TOKEN)

    again = open_accounts()
    assert again.holder_of(secret, NOON) == Caller("ci", Role.OPERATOR, Via.TOKEN)
    await again.revoke_token("ci")
    assert again.holder_of(secret, NOON) is None
    assert open_accounts().holder_of(secret, NOON) is None


async def test_an_unknown_secret_belongs_to_no_token(accounts):
    await accounts.make_token(token())

    assert accounts.holder_of("tidegate_unknown", NOON) is None


async def test_a_token_expires_at_its_time(accounts):
    secret = await accounts.make_token(token(expires_at=NOON + timedelta(hours=1)))

    assert accounts.holder_of(secret, NOON + timedelta(minutes=59))
    assert accounts.holder_of(secret, NOON + timedelta(hours=1)) is None
    assert accounts.known("ci", token=True, now=NOON + timedelta(hours=1)) is None


async def test_names_are_unique_and_listed_in_order(accounts):
    for name in ("ci", "backup"):
        await accounts.make_token(token(name))
    for name in ("bob", "alice"):
        await accounts.make_user(user(name), PASSWORD)

    with pytest.raises(AlreadyExists):
        await accounts.make_token(token())
    with pytest.raises(AlreadyExists):
        await accounts.make_user(user(), "another password")
    assert [one.name for one in accounts.tokens()] == ["backup", "ci"]
    assert [one.name for one in accounts.users()] == ["alice", "bob"]


async def test_nothing_that_is_returned_holds_a_secret(accounts):
    secret = await accounts.make_token(token())
    await accounts.make_user(user(), PASSWORD)
    changed = await accounts.change_user("alice", UserChange(password="a new password"), NOON)

    shown = repr([accounts.tokens(), accounts.users(), changed, accounts.holder_of(secret, NOON)])
    assert not any(word in shown for word in (secret, PASSWORD, "a new password", "scrypt"))


async def test_a_user_logs_in_with_the_password_only(accounts):
    await accounts.make_user(user(), PASSWORD)

    assert await accounts.user_with("alice", PASSWORD, NOON) == ALICE
    assert await accounts.user_with("alice", "correct horse", NOON) is None
    assert await accounts.user_with("bob", PASSWORD, NOON) is None
    assert accounts.users()[0].last_login_at == NOON


async def test_a_disabled_or_deleted_user_cannot_log_in(accounts):
    await accounts.make_user(user(), PASSWORD)
    await accounts.make_user(user("bob"), PASSWORD)

    await accounts.change_user("alice", UserChange(disabled=True), NOON)
    await accounts.delete_user("bob")

    assert await accounts.user_with("alice", PASSWORD, NOON) is None
    assert accounts.known("alice", token=False, now=NOON) is None
    assert await accounts.user_with("bob", PASSWORD, NOON) is None


CHANGES = [
    (UserChange(password="a new password"), True),
    (UserChange(disabled=True), True),
    (UserChange(role=Role.ADMIN), False),
]


@pytest.mark.parametrize(("change", "ends"), CHANGES)
async def test_a_new_password_or_a_disabled_user_ends_sessions_for_good(accounts, change, ends):
    await accounts.make_user(user(), PASSWORD)
    stamp = accounts.stamp_of(ALICE)

    await accounts.change_user("alice", change, NOON)
    await accounts.change_user("alice", UserChange(disabled=False), NOON)

    assert (accounts.stamp_of(ALICE) != stamp) == ends
    assert accounts.known("alice", token=False, now=NOON).role is (change.role or Role.VIEWER)


async def test_a_revoked_token_has_no_sessions_and_a_new_one_of_its_name_has_others(accounts):
    ci = Caller("ci", Role.OPERATOR, Via.TOKEN)
    await accounts.make_token(token())
    stamp = accounts.stamp_of(ci)

    await accounts.revoke_token("ci")
    assert accounts.stamp_of(ci) is None
    await accounts.make_token(token())

    assert accounts.stamp_of(ci) not in {None, stamp}


async def test_concurrent_changes_of_one_user_all_take_effect(accounts):
    await accounts.make_user(user(), PASSWORD)

    await asyncio.gather(
        accounts.user_with("alice", PASSWORD, NOON),
        accounts.change_user("alice", UserChange(disabled=True), NOON),
        accounts.change_user("alice", UserChange(role=Role.ADMIN), NOON),
    )

    (alice,) = accounts.users()
    assert (alice.disabled, alice.role) == (True, Role.ADMIN)


async def test_the_last_use_of_a_token_is_known_to_within_minutes(accounts):
    await accounts.make_token(token())

    accounts.note_use("ci", NOON)
    accounts.note_use("ci", NOON + timedelta(hours=1))
    accounts.note_use("unknown", NOON)

    (ci,) = accounts.tokens()
    assert ci.last_used_at == NOON + timedelta(hours=1)


async def test_what_does_not_exist_is_not_found(accounts):
    for refused in (
        accounts.revoke_token("ci"),
        accounts.delete_user("alice"),
        accounts.change_user("alice", UserChange(disabled=True), NOON),
    ):
        with pytest.raises(NotFound):
            await refused

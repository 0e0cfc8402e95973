"""`tidegate token`, `tidegate user`, `tidegate audit`: who may come in, and what they did."""

import io
import sys
from contextlib import contextmanager

import pytest

TOKEN = {"name": "ci", "role": "operator", "createdAt": "2026-01-01T11:00:00Z", "createdBy": "admin"}
USER = {**TOKEN, "name": "alice", "disabled": True, "passwordChangedAt": "2026-01-01T11:00:00Z"}
SECRET = "tidegate_abc"


def listing(*data, following=None):
    return 200, {"type": "collection", "data": list(data), "pagination": {"next": following}}


@contextmanager
def typed(text):
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before


def test_a_new_token_is_the_only_thing_on_stdout(run, server):
    server.answers["POST", "/v1/tokens"] = (201, {"token": SECRET, "record": TOKEN})

    made = run("token", "create", "ci", "--role", "operator", "--expires", "90d")

    assert (made.code, made.out) == (0, f"{SECRET}\n")
    assert "not shown again" in made.err
    body = server.requests[-1][3]
    assert (body["name"], body["role"], body["expiresAt"][:10]) == ("ci", "operator", "2026-04-01")


def test_a_role_that_does_not_exist_is_wrong_usage_and_nothing_is_sent(run, server):
    refused = run("token", "create", "ci", "--role", "king")

    assert refused.code == 2
    assert "viewer, operator, admin" in refused.err
    assert server.requests == []


def test_tokens_and_users_are_listed_with_what_matters(run, server):
    server.answers["GET", "/v1/tokens"] = listing(TOKEN)
    server.answers["GET", "/v1/users"] = listing(USER)

    assert run("token", "get").rows[1] == ["ci", "operator", "never", "never", "1h", "admin"]
    assert run("user", "get").rows[1] == ["alice", "operator", "Disabled", "never", "1h", "admin"]
    assert run("token", "get", "ci", "-o", "name").out == "token/ci\n"
    assert run("token", "get", "other").code == 5


def test_a_token_is_revoked_only_with_a_yes(run, server):
    server.answers["DELETE", "/v1/tokens/ci"] = (204, None)

    assert run("token", "revoke", "ci").code == 2
    assert server.requests == []
    assert run("token", "revoke", "ci", "--yes").out == "token/ci\n"


def test_a_password_comes_from_a_file_or_standard_input_and_is_never_shown(run, server, tmp_path):
    server.answers["POST", "/v1/users"] = (201, USER)
    server.answers["PUT", "/v1/users/alice"] = (200, USER)
    (tmp_path / "secret").write_text("correct horse battery\n")

    made = run("user", "create", "alice", "--role", "viewer", "--password-file", "secret")
    with typed("staple of the horse\n"):
        changed = run("user", "set-password", "alice", "--password-file", "-")

    assert [request[3].get("password") for request in server.requests] == [
        "correct horse battery",
        "staple of the horse",
    ]
    assert "correct" not in made.out + made.err
    assert "staple" not in changed.out + changed.err


def test_without_anybody_to_ask_a_password_must_be_given(run, server):
    refused = run("user", "create", "alice", "--role", "viewer")
    missing = run("user", "create", "alice", "--role", "viewer", "--password-file", "nowhere")

    assert (refused.code, missing.code) == (2, 2)
    assert "--password-file" in refused.err
    assert server.requests == []


CHANGES = [
    (("set-role", "alice", "admin"), {"role": "admin"}),
    (("disable", "alice"), {"disabled": True}),
    (("enable", "alice"), {"disabled": False}),
]


@pytest.mark.parametrize(("words", "body"), CHANGES)
def test_a_change_of_a_user_names_only_what_changes(run, server, words, body):
    server.answers["PUT", "/v1/users/alice"] = (200, USER)

    assert run("user", *words).out == "user/alice\n"
    assert server.requests[-1][3] == body


def test_the_audit_is_asked_for_as_it_was_filtered(run, server):
    entry = {
        "at": "2026-01-01T11:00:00Z",
        "who": "alice",
        "address": "::1",
        "method": "POST",
        "what": "backups/now",
        "outcome": 201,
        "note": "",
    }
    refused = {**entry, "outcome": 403, "via": "user", "role": "viewer"}
    server.answers["GET", "/v1/audit"] = listing(refused, entry, entry)

    shown = run("audit", "--who", "alice", "--what", "backups", "--since", "24h", "--limit", "2")

    query = server.requests[-1][2]
    assert (query["who"], query["what"], query["since"][:10], query["limit"]) == ("alice", "backups", "2025-12-31", "3")
    assert shown.rows[1][2:] == ["alice", "viewer", "POST", "backups/now", "403"]
    assert shown.rows[2][2:] == ["(alice)", "POST", "backups/now", "201"]
    assert "There are more" in shown.err


def test_the_own_password_is_changed_by_the_old_one(run, server, tmp_path):
    server.answers["POST", "/v1/password"] = (200, {"user": "alice", "role": "viewer", "via": "user"})
    (tmp_path / "old").write_text("the old password\n")
    (tmp_path / "new").write_text("the new password\n")

    files = ("--old-password-file", str(tmp_path / "old"), "--password-file", str(tmp_path / "new"))
    changed = run("user", "password", "alice", *files)

    assert (changed.code, changed.out) == (0, "user/alice\n")
    wish = {"user": "alice", "password": "the old password", "newPassword": "the new password"}
    assert server.requests[-1][3] == wish

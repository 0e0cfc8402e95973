"""Who may do what, over the real application; and that the audit tells all of it and no secret."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import httpx2
import pytest
from fastapi import Request

from tidegate.access.accounts import SqliteAccounts
from tidegate.access.audit import SqliteAudit
from tidegate.access.passwords import Cost
from tidegate.api.application import build_application
from tidegate.api.event_position import start_of
from tidegate.api.routes.events import _may_hear_on, _stream
from tidegate.model.access.access import REQUESTED_BY, Role
from tidegate.model.backups.backup import Backup
from tidegate.testing.machine.documented import DocumentedTransport

PASSWORD = "correct horse battery"
NAMESPACE = {"metadata": {"name": "shop"}}
DB = {"metadata": {"name": "db", "namespace": "shop"}, "spec": {"directory": "/data/db"}}
CSRF = {"X-Tidegate-CSRF": "1"}


@pytest.fixture
def kept(services, tmp_path):
    """The services with accounts and an audit."""
    path = tmp_path / "access.sqlite"
    accounts, audit = SqliteAccounts.open(path, cost=Cost(4, 1, 1)), SqliteAudit.open(path)
    yield replace(services, accounts=accounts, audit=audit)
    accounts.close()
    audit.close()


@pytest.fixture
async def reach(kept):
    """A client for each who asks: by a token, or by nothing yet."""
    app = build_application(kept)
    clients = []

    def client(token=""):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        transport = DocumentedTransport(app, raise_app_exceptions=False)
        clients.append(httpx2.AsyncClient(transport=transport, base_url="http://test", headers=headers))
        return clients[-1]

    yield client
    for one in clients:
        await one.aclose()


@pytest.fixture
def owner(reach):
    return reach("secret")


@pytest.fixture
def token_of(owner):
    async def make(name, role, **more):
        made = await owner.post("/v1/tokens", json={"name": name, "role": role, **more})
        assert made.status_code == 201, made.text
        return made.json()["token"]

    return make


@pytest.fixture
def alice(owner, reach):
    async def come_in(role):
        assert (
            await owner.post("/v1/users", json={"name": "alice", "role": role, "password": PASSWORD})
        ).status_code == 201
        browser = reach()
        assert (await browser.post("/v1/login", json={"user": "alice", "password": PASSWORD})).status_code == 200
        return browser

    return come_in


async def audit_of(owner, **query):
    return (await owner.get("/v1/audit", params=query)).json()["data"]


async def test_a_token_is_told_once_works_and_opens_nothing_once_it_is_revoked(owner, reach, token_of):
    token = await token_of("ci", "viewer")
    ci = reach(token)
    assert (await ci.get("/v1/session")).json() == {"user": "ci", "role": "viewer", "via": "token"}

    listed = await owner.get("/v1/tokens")
    assert token not in listed.text
    assert [(one["name"], one["role"], one["createdBy"]) for one in listed.json()["data"]] == [
        ("ci", "viewer", "admin")
    ]
    assert listed.json()["data"][0]["lastUsedAt"]

    assert (await owner.delete("/v1/tokens/ci")).status_code == 204
    assert (await ci.get("/v1/session")).status_code == 401


async def test_a_viewer_reads_and_changes_nothing(reach, token_of, owner):
    viewer = reach(await token_of("screen", "viewer"))

    refused = await viewer.post("/v1/namespaces", json=NAMESPACE)

    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "this needs the role admin, and yours is viewer",
    )
    assert (await viewer.get("/v1/namespaces")).json()["data"] == []
    assert (await viewer.get("/v1/tokens")).status_code == 403
    assert (await viewer.get("/v1/audit")).status_code == 403
    (told, *_) = await audit_of(owner)
    assert (told["who"], told["via"], told["role"], told["outcome"]) == ("screen", "token", "viewer", 403)


async def test_an_operator_pauses_a_schedule_and_cannot_change_what_it_keeps(owner, reach, token_of):
    operator = reach(await token_of("hands", "operator"))
    spec = {"schedule": "30 2 * * *", "template": {}}
    target = {"metadata": {"name": "usb"}, "spec": {"url": "file:///mnt/usb", "default": True}}
    assert (await owner.post("/v1/backuptargets", json=target)).status_code == 201
    assert (await owner.post("/v1/volumes", json=DB)).status_code == 201
    assert (await owner.post("/v1/schedules", json={"metadata": {"name": "n"}, "spec": spec})).status_code == 201
    stored = (await operator.get("/v1/schedules/n")).json()

    def body(**changes):
        return {"metadata": {"name": "n"}, "spec": {**stored["spec"], **changes}}

    assert (await operator.put("/v1/schedules/n", json=body(paused=True))).status_code == 200
    assert (await operator.put("/v1/schedules/n", json=body(schedule="0 0 1 1 *"))).status_code == 403
    assert (await operator.put("/v1/settings/concurrent-backups", json={})).status_code == 403
    assert (await owner.get("/v1/schedules/n")).json()["spec"]["schedule"] == "30 2 * * *"


async def test_a_backup_tells_who_asked_for_it_whatever_the_client_says(owner, alice):
    target = {"metadata": {"name": "usb"}, "spec": {"url": "file:///mnt/usb", "default": True}}
    await owner.post("/v1/backuptargets", json=target)
    await owner.post("/v1/volumes", json=DB)
    browser = await alice("operator")
    forged = {"metadata": {"name": "now", "annotations": {REQUESTED_BY: "somebody else"}}, "spec": {}}

    made = await browser.post("/v1/backups", json=forged, headers=CSRF)

    assert made.status_code == 201, made.text
    assert made.json()["metadata"]["annotations"][REQUESTED_BY] == "alice"
    (told, *_) = await audit_of(owner)
    assert (told["who"], told["what"], told["outcome"]) == ("alice", "backups/now", 201)


SHUT_OUT = [{"disabled": True}, {"password": "another password"}]


@pytest.mark.parametrize("change", SHUT_OUT)
async def test_a_session_ends_at_once_with_what_it_began_with(owner, alice, change):
    browser = await alice("viewer")
    assert (await browser.get("/v1/session")).json() == {"user": "alice", "role": "viewer", "via": "user"}

    assert (await owner.put("/v1/users/alice", json=change)).status_code == 200

    assert (await browser.get("/v1/session")).status_code == 401


async def test_another_role_holds_at_once_and_ends_no_session(owner, alice):
    browser = await alice("viewer")

    await owner.put("/v1/users/alice", json={"role": "operator"})

    assert (await browser.get("/v1/session")).json()["role"] == "operator"


async def test_a_user_who_was_deleted_and_made_again_is_somebody_else(owner, alice):
    browser = await alice("admin")
    await owner.delete("/v1/users/alice")
    assert (await browser.get("/v1/session")).status_code == 401

    await owner.post("/v1/users", json={"name": "alice", "role": "admin", "password": PASSWORD})

    assert (await browser.get("/v1/session")).status_code == 401


async def test_a_session_of_a_token_ends_with_the_token(owner, reach, token_of):
    browser = reach()
    token = await token_of("kiosk", "viewer")
    assert (await browser.post("/v1/login", json={"token": token})).json() == {
        "user": "kiosk",
        "role": "viewer",
        "via": "token",
    }

    await owner.delete("/v1/tokens/kiosk")

    assert (await browser.get("/v1/session")).status_code == 401


async def test_a_token_ends_with_its_time(kept, reach, token_of):
    until = (kept.clock.now() + timedelta(hours=1)).isoformat()
    ci = reach(await token_of("ci", "viewer", expiresAt=until))
    assert (await ci.get("/v1/version")).status_code == 200

    await kept.clock.advance(timedelta(hours=1))

    assert (await ci.get("/v1/version")).status_code == 401


async def test_nobody_learns_from_a_refusal_whether_the_user_exists(owner, reach):
    await owner.post("/v1/users", json={"name": "alice", "role": "viewer", "password": PASSWORD})

    answers = [
        await reach().post("/v1/login", json={"user": name, "password": "not the password"})
        for name in ("alice", "nobody")
    ]

    assert {answer.status_code for answer in answers} == {401}
    assert answers[0].json() == answers[1].json()


async def test_guessing_a_password_is_stopped_also_when_all_guesses_come_at_once(owner, reach):
    await owner.post("/v1/users", json={"name": "alice", "role": "viewer", "password": PASSWORD})
    browser = reach()

    codes = [
        (await browser.post("/v1/login", json={"user": "alice", "password": f"guess number {n}"})).status_code
        for n in range(12)
    ]

    assert codes == [401] * 10 + [429] * 2
    # A right password waits as well: otherwise a guesser would learn from the answer that it is right.
    assert (await browser.post("/v1/login", json={"user": "alice", "password": PASSWORD})).status_code == 429
    assert (await owner.get("/v1/session")).status_code == 200


async def test_a_right_login_does_not_buy_ten_more_guesses(owner, reach):
    for name in ("alice", "mallory"):
        await owner.post("/v1/users", json={"name": name, "role": "viewer", "password": PASSWORD})
    browser, codes = reach(), []

    for n in range(3):
        for _ in range(4):
            guess = await browser.post("/v1/login", json={"user": f"alice-{n}", "password": "a guess"})
            codes.append(guess.status_code)
        await browser.post("/v1/login", json={"user": "mallory", "password": PASSWORD})

    assert codes == [401] * 10 + [429] * 2


async def test_an_open_stream_ends_at_once_when_its_session_logs_out(kept, alice):
    browser = await alice("viewer")
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    scope = {"type": "http", "method": "GET", "path": "/v1/events", "headers": [(b"cookie", cookie.encode())]}
    request = Request({**scope, "app": build_application(kept)})
    start = await start_of(kept.store, [Backup], None)
    lines = _stream(kept, start, lambda: _may_hear_on(request, Role.VIEWER))
    assert (await anext(lines)).startswith(b"id: ")
    waiting = asyncio.create_task(anext(lines, None))
    await asyncio.sleep(0)

    await browser.post("/v1/logout", headers=CSRF)

    async with asyncio.timeout(10):
        assert await waiting is None


WRONG = [
    ("tokens", {"name": "admin", "role": "viewer"}, "belongs to whoever has admin.token"),
    ("tokens", {"name": "ci", "role": "king"}, "role"),
    ("tokens", {"name": "ci", "role": "viewer", "expiresAt": "2001-01-01T00:00:00Z"}, "over already"),
    ("users", {"name": "alice", "role": "viewer", "password": "short"}, "at least 10 characters"),
    ("users", {"name": "alice", "role": "viewer", "password": "x" * 300}, "at most 256 characters"),
    ("users", {"name": "Alice!", "role": "viewer", "password": PASSWORD}, "is not a name"),
]


@pytest.mark.parametrize(("noun", "body", "words"), WRONG)
async def test_a_wrong_wish_gets_one_sentence_and_changes_nothing(owner, noun, body, words):
    refused = await owner.post(f"/v1/{noun}", json=body)

    assert refused.status_code == 422
    assert words in refused.json()["detail"]
    assert body.get("password", "nothing") not in refused.text
    assert (await owner.get(f"/v1/{noun}")).json()["data"] == []


async def test_the_audit_tells_every_change_and_login_by_whom_and_no_secret(owner, alice, reach):
    browser = await alice("viewer")
    await reach().post("/v1/login", json={"user": "alice", "password": "a wrong password"})
    await browser.post("/v1/namespaces", json=NAMESPACE, headers=CSRF)
    await browser.post("/v1/namespaces", json=NAMESPACE)
    await browser.get("/v1/namespaces")
    await owner.put("/v1/users/alice", json={"password": "a better password"})
    await browser.post("/v1/logout", headers=CSRF)

    whole = await owner.get("/v1/audit")

    told = [(one["who"], one["method"], one["what"], one["outcome"]) for one in whole.json()["data"]]
    assert told == [
        ("admin", "PUT", "users/alice", 200),
        ("alice", "POST", "namespaces", 403),
        ("alice", "POST", "namespaces", 403),
        ("alice", "POST", "login", 401),
        ("alice", "POST", "login", 200),
        ("admin", "POST", "users/alice", 201),
    ]
    assert "via" not in whole.json()["data"][3]
    assert whole.json()["data"][0]["note"] == "password"
    assert not any(secret in whole.text for secret in (PASSWORD, "wrong password", "better password", "secret"))


async def test_strangers_leave_no_trace_but_their_logins(owner, reach):
    assert (await reach().post("/v1/namespaces", json=NAMESPACE)).status_code == 401
    assert (await reach("guess").delete("/v1/backups/x")).status_code == 401

    assert await audit_of(owner) == []


async def test_the_audit_forgets_what_is_older_than_its_setting_says(owner, kept):
    setting = {"metadata": {"name": "audit-retention"}, "spec": {"value": "2d"}}
    assert (await owner.put("/v1/settings/audit-retention", json=setting)).status_code == 200
    await kept.clock.advance(timedelta(days=3))

    await owner.post("/v1/namespaces", json=NAMESPACE)

    assert [one["what"] for one in await audit_of(owner)] == ["namespaces/shop"]


async def test_a_stream_ends_with_the_token_that_opened_it(kept, owner, token_of):
    token = await token_of("ci", "viewer")
    app = build_application(kept)
    headers = [(b"authorization", f"Bearer {token}".encode())]
    request = Request({"type": "http", "method": "GET", "path": "/v1/events", "headers": headers, "app": app})
    assert _may_hear_on(request, Role.VIEWER)
    assert not _may_hear_on(request, Role.ADMIN)

    await owner.delete("/v1/tokens/ci")

    assert not _may_hear_on(request, Role.VIEWER)


@pytest.mark.parametrize("change", [{"role": "operator"}, {"disabled": True}, {"password": "another good password"}])
async def test_an_open_stream_ends_at_once_when_its_user_becomes_somebody_else(kept, owner, alice, change):
    browser = await alice("viewer")
    app = build_application(kept)
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    headers = [(b"cookie", cookie.encode())]
    request = Request({"type": "http", "method": "GET", "path": "/v1/events", "headers": headers, "app": app})
    start = await start_of(kept.store, [Backup], None)
    waits, comes_back = (_stream(kept, start, lambda: _may_hear_on(request, Role.VIEWER)) for _ in range(2))
    for lines in (waits, comes_back):
        assert (await anext(lines)).startswith(b"id: ")
    waiting = asyncio.create_task(anext(waits, None))
    await asyncio.sleep(0)

    await owner.put("/v1/users/alice", json=change)

    async with asyncio.timeout(10):
        assert await waiting is None
        # One whose client has only just taken the last line does not wait for the next sign of life either.
        assert await anext(comes_back, None) is None


async def test_a_user_changes_their_own_password_by_the_old_one_and_only_this_session_goes_on(owner, alice, reach):
    browser, other = await alice("viewer"), reach()
    await other.post("/v1/login", json={"user": "alice", "password": PASSWORD})
    wish = {"user": "alice", "password": PASSWORD, "newPassword": "a better password"}

    changed = await browser.post("/v1/password", json=wish)

    assert changed.json() == {"user": "alice", "role": "viewer", "via": "user"}
    assert (await browser.get("/v1/session")).status_code == 200
    assert (await other.get("/v1/session")).status_code == 401
    again = await reach().post("/v1/login", json={"user": "alice", "password": "a better password"})
    assert again.status_code == 200
    entry = next(one for one in await audit_of(owner) if one["what"] == "password")
    assert (entry["who"], entry["outcome"], entry["note"]) == ("alice", 200, "own password")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"password": "not this one at all"}, "this is not the password that this user has now"),
        ({"user": "nobody"}, "this is not the password that this user has now"),
        ({"newPassword": "short"}, "newPassword"),
        ({"newPassword": PASSWORD}, "the new password is the old one"),
    ],
)
async def test_a_password_that_cannot_be_changed_gets_one_sentence_and_stays(alice, reach, changes, words):
    browser = await alice("viewer")
    wish = {"user": "alice", "password": PASSWORD, "newPassword": "a better password", **changes}

    refused = await browser.post("/v1/password", json=wish)

    assert refused.status_code == 422
    assert words in refused.text
    assert (await browser.get("/v1/session")).status_code == 200
    assert (await reach().post("/v1/login", json={"user": "alice", "password": PASSWORD})).status_code == 200

"""Accounts and audit of a real server: kept when it is killed, and no secret in its log or its data directory."""

import json

import pytest

from tidegate.testing.machine.server_process import ServerProcess

CSRF = {"X-Tidegate-CSRF": "1"}
PASSWORD = "correct horse battery"


@pytest.fixture
def server(tmp_path):
    server = ServerProcess(tmp_path).start()
    yield server
    server.stop()


def test_what_was_given_out_outlives_a_killed_server_and_is_nowhere_to_be_read(server):
    (server.root / "password").write_text(PASSWORD)
    server.tidegate("user", "create", "alice", "--role", "operator", "--password-file", "password")
    token = server.tidegate("token", "create", "screen", "--role", "viewer").strip()
    (server.root / "screen.token").write_text(token)
    with server.client() as client:
        client.headers.pop("authorization")
        assert client.post("/v1/login", json={"user": "alice", "password": PASSWORD}).status_code == 200
        cookies = dict(client.cookies)

    server.kill()
    server.start()

    with server.client() as client:
        client.headers.pop("authorization")
        client.cookies.update(cookies)
        assert client.get("/v1/session").json() == {"user": "alice", "role": "operator", "via": "user"}
    as_screen = ("--server", server.url, "--token-file", "screen.token")
    assert server.run("backup", "get", *as_screen).returncode == 0
    refused = server.run("setting", "set", "concurrent-backups", "9", *as_screen)
    assert refused.returncode == 12
    assert "this needs the role admin, and yours is viewer" in refused.stderr

    told = [(entry["who"], entry["what"], entry["outcome"]) for entry in server.get("audit")["items"]]
    assert told == [
        ("screen", "settings/concurrent-backups", 403),
        ("alice", "login", 200),
        ("admin", "tokens/screen", 201),
        ("admin", "users/alice", 201),
    ]
    server.stop()
    kept = b"".join(path.read_bytes() for path in server.state.rglob("*") if path.is_file())
    written = json.dumps(server._log)
    for secret in (token, PASSWORD):
        assert secret.encode() not in kept
        assert secret not in written


def test_a_logout_outlives_a_killed_server(server):
    with server.client() as client:
        client.headers.pop("authorization")
        assert client.post("/v1/login", json={"token": server.token}).status_code == 200
        cookies = dict(client.cookies)
        assert client.post("/v1/logout", headers=CSRF).status_code == 204

    server.kill()
    server.start()

    with server.client() as client:
        client.headers.pop("authorization")
        client.cookies.update(cookies)
        assert client.get("/v1/session").status_code == 401


@pytest.mark.parametrize("junk", [b"", b" \n", b"\xff\xfe", b"\xef\xbb\xbf\n", b"\0\0", b'""'])
def test_a_server_whose_token_file_holds_no_token_does_not_start(server, junk):
    server.stop()
    (server.state / "admin.token").write_bytes(junk)

    refused = server.run_process("server", "--listen", "127.0.0.1:0")

    assert refused.returncode == 4
    assert "admin.token holds no token" in refused.stderr
    assert "delete it, and the next start makes a new one" in refused.stderr

"""What a person meets when the files of a server are damaged, while it runs and when it starts."""

import os

import pytest


@pytest.fixture
def with_volume(server):
    data = server.root / "data"
    data.mkdir()
    (server.root / "store").mkdir()
    (data / "file").write_text("content")
    server.tidegate("target", "create", "store", str(server.root / "store"))
    server.tidegate("volume", "create", "db", "-n", "shop", "--directory", str(data))
    return server


def test_a_database_that_is_deleted_under_a_running_server_is_noticed_and_nothing_is_accepted(with_volume):
    server = with_volume
    with server.client() as client:
        assert client.get("/readyz").status_code == 200
        (server.state / "tidegate.db").unlink()

        refused = server.run("backup", "create", "lost")
        server.wait_for_log("database damaged")

        assert refused.returncode == 1
        assert "tidegate.db is gone while the server runs" in refused.stderr
        assert "tidegate system restore create --from NAME" in refused.stderr
        ready = client.get("/readyz")
        assert (ready.status_code, "tidegate.db is gone" in ready.text) == (503, True)
        wanted = {"metadata": {"name": "b"}, "spec": {"includedNamespaces": ["shop"]}}
        answer = client.post("/v1/backups", json=wanted)
        assert (answer.status_code, answer.json()["code"]) == (503, "DatabaseDamaged")
    assert server.stop() == 0

    server.start()
    assert "tidegate system restore" in server.wait_for_log("the database is gone; all begins anew")["way_back"]


def test_an_application_that_a_backup_has_frozen_goes_on_when_the_database_is_gone(with_volume):
    server = with_volume
    hooks, said = server.state / "hooks", server.root / "said"
    hooks.mkdir(exist_ok=True, mode=0o700)
    for name, rest in (("freeze", f"exec sleep 600 <{server.root}/never"), ("thaw", "")):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {said}\n{rest}\n")
        (hooks / name).chmod(0o700)
    os.mkfifo(server.root / "never")
    pre, post = ({"exec": {"command": [name], "timeout": "10m"}} for name in ("freeze", "thaw"))
    hook = {"name": "app", "pre": [pre], "post": [post]}
    with server.client() as client:
        spec = {"includedNamespaces": ["shop"], "hooks": {"resources": [hook]}}
        assert client.post("/v1/backups", json={"metadata": {"name": "b"}, "spec": spec}).status_code == 201
        server.wait_for_log("hook runs", stage="pre")

        (server.state / "tidegate.db").unlink()
        server.wait_for_log("all work has stopped, because of the damaged database")
    assert said.read_text().split()[-1] == "thaw"
    assert server.stop() == 0


def test_a_start_with_changed_bytes_is_one_sentence_that_leads_to_the_system_backups(with_volume):
    server = with_volume
    server.stop()
    path = server.state / "tidegate.db"
    whole = path.read_bytes()

    for spoilt in (b"", b"junk" * 5000, whole[:4096] + b"\xff" * (len(whole) - 4096), whole[: len(whole) // 2]):
        path.write_bytes(spoilt)
        refused = server.run_process("server", "--listen", "127.0.0.1:0")
        assert refused.returncode == 1, spoilt[:20]
        assert "Error: " in refused.stderr
        assert "tidegate system restore create --from NAME" in refused.stderr
        assert "bug" not in refused.stderr
        assert "Traceback" not in refused.stderr


def spoil_rows(server, kind):
    path = server.state / "tidegate.db"
    spoilt = kind[:-1] + "#"
    path.write_bytes(path.read_bytes().replace(f'"kind":"{kind}"'.encode(), f'"kind":"{spoilt}"'.encode()))


def test_a_changed_row_names_itself_and_other_kinds_go_on(with_volume):
    server = with_volume
    server.stop()
    spoil_rows(server, "Volume")
    server.start()

    shown = server.run("volume", "get")
    assert shown.returncode == 1
    assert "Volume 'shop/db' is damaged in the server's database: kind: Input should be 'Volume'" in shown.stderr
    assert server.run("target", "get", "-o", "name").stdout == "target/store\n"


def test_a_start_that_needs_a_changed_row_names_it(with_volume):
    server = with_volume
    server.stop()
    spoil_rows(server, "BackupTarget")

    refused = server.run_process("server", "--listen", "127.0.0.1:0")
    assert refused.returncode == 1
    assert "Error: BackupTarget 'store' is damaged in the server's database" in refused.stderr
    assert "bug" not in refused.stderr

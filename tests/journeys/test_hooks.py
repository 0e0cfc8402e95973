"""Hooks with a real server and real programs: an application that is frozen while it is read, and never stays so."""

import os
from random import Random

import pytest


def put_hook(server, name, script):
    room = server.state / "hooks"
    room.mkdir(mode=0o700, exist_ok=True)
    (room / name).write_text(f"#!/bin/sh\n{script}\n")
    (room / name).chmod(0o700)


def hooked(name, **spec):
    def command(program, **more):
        return [{"exec": {"command": [program, "the-db"], **more}}]

    hooks = {"resources": [{"name": "database", "pre": command("freeze"), "post": command("thaw")}]}
    return {"metadata": {"name": name}, "spec": {"includedNamespaces": ["shop"], "hooks": hooks, **spec}}


@pytest.fixture
def shop(server, tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "state").write_text("running")
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    server.tidegate("volume", "create", "db", "-n", "shop", "--directory", str(tmp_path / "db"))
    note = f'echo "$TIDEGATE_HOOK $TIDEGATE_BACKUP $TIDEGATE_NAMESPACE/$TIDEGATE_VOLUMES $1" >> {tmp_path}/told'
    put_hook(server, "freeze", f"{note}; echo frozen > {tmp_path}/db/state")
    put_hook(server, "thaw", f"{note}; echo running > {tmp_path}/db/state")
    return tmp_path


def submit(server, body):
    with server.client() as client:
        return client.post("/v1/backups", json=body)


def test_the_application_is_frozen_while_it_is_read_and_runs_again_afterwards(server, shop):
    assert submit(server, hooked("nightly")).status_code == 201
    server.tidegate("backup", "wait", "nightly", "--timeout", "60s")

    assert (shop / "told").read_text().splitlines() == ["pre nightly shop/db the-db", "post nightly shop/db the-db"]
    assert (shop / "db" / "state").read_text() == "running\n"
    server.tidegate("restore", "create", "--from-backup", "nightly", "--to", str(shop / "back"), "--wait")
    assert (shop / "back" / "shop" / "db" / "state").read_text() == "frozen\n"
    status = server.get("backup", "get", "nightly")["status"]
    assert (status["hookStatus"]["hooksAttempted"], status["progress"]["itemsBackedUp"]) == (2, 1)


def test_a_command_that_is_no_hook_is_refused_when_the_backup_is_made(server, shop):
    body = hooked("nightly")
    body["spec"]["hooks"]["resources"][0]["pre"][0]["exec"]["command"] = ["reboot"]

    refused = submit(server, body)

    assert (refused.status_code, refused.json()["field"]) == (422, "spec.hooks.resources[0].pre[0].exec")
    assert "there is no hook reboot" in refused.json()["detail"]


def test_a_hook_that_fails_says_so_with_its_own_words(server, shop):
    put_hook(server, "freeze", "echo the database does not answer >&2; exit 3")
    submit(server, hooked("nightly"))

    ended = server.run("backup", "wait", "nightly", "--timeout", "60s")

    assert ended.returncode == 1
    reason = server.get("backup", "get", "nightly")["status"]["failureReason"]
    assert "freeze ended with exit code 3; it said: the database does not answer" in reason
    assert "the database does not answer" in server.tidegate("backup", "describe", "nightly")
    assert not list((shop / "store").rglob("backup_*.cfg"))


def test_a_server_that_is_killed_while_something_is_frozen_thaws_it_when_it_is_back(server, shop):
    os.mkfifo(shop / "pipe")
    put_hook(
        server, "freeze", f"echo frozen > {shop}/db/state; echo up > {shop}/pipe; sleep 600; echo late > {shop}/late"
    )
    submit(server, hooked("nightly"))
    assert (shop / "pipe").read_text() == "up\n"
    server.kill()
    assert (shop / "db" / "state").read_text() == "frozen\n"

    server.start()
    server.run("backup", "wait", "nightly", "--timeout", "60s")

    assert (shop / "db" / "state").read_text() == "running\n"
    status = server.get("backup", "get", "nightly")["status"]
    assert (status["phase"], status["failureReason"]) == ("Failed", "the server stopped while this was in progress")
    assert list((server.state / "hooks-running").iterdir()) == []


def test_a_backup_that_is_deleted_while_it_runs_is_thawed_before_the_next_one_freezes(server, shop):
    os.mkfifo(shop / "pipe")
    (shop / "db" / "large").write_bytes(Random(1).randbytes(8 * 2**20))
    note = f'echo "$TIDEGATE_HOOK $TIDEGATE_BACKUP" >> {shop}/told'
    put_hook(server, "freeze", note)
    put_hook(server, "thaw", f"test $TIDEGATE_BACKUP = bb || read go < {shop}/pipe; {note}")
    server.tidegate("setting", "set", "limit-upload", "64KiB")
    submit(server, hooked("aa"))
    server.wait_for_phase("PodVolumeBackup", "InProgress")
    submit(server, hooked("bb"))
    server.wait_for_log("backup queued", backup="bb")

    server.tidegate("backup", "delete", "aa", "--yes")
    waits = "backup aa is being deleted and shares namespace shop"
    server.wait_for_log("backup is passed over", backup="bb", why=waits)
    server.tidegate("setting", "set", "limit-upload", "0")
    (shop / "pipe").write_text("go\n")
    server.tidegate("backup", "wait", "bb", "--timeout", "60s")

    assert (shop / "told").read_text().splitlines() == ["pre aa", "post aa", "pre bb", "post bb"]

"""Proof that backups restore, with a real server, real movers and a real disk."""

import json
import os

import pytest

from tidegate.testing.sample_data import fill_image, fill_tree

VOLUMES = 2


def put_hook(server, name, script):
    room = server.state / "hooks"
    room.mkdir(mode=0o700, exist_ok=True)
    (room / name).write_text(f"#!/bin/sh\n{script}\n")
    (room / name).chmod(0o700)


@pytest.fixture
def protected(server, tmp_path):
    """A tree and an image in one backup."""
    (tmp_path / "store").mkdir()
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    server.tidegate("volume", "create", "home/docs", "--directory", str(fill_tree(tmp_path / "docs")))
    server.tidegate("volume", "create", "vm/disk", "--image", str(fill_image(tmp_path / "disk.img")))
    server.tidegate("backup", "create", "first", "--labels", "tidegate.dev/schedule=nightly", "--wait")
    return server


def scratch(server):
    room = server.state / "scratch"
    return list(room.iterdir()) if room.exists() else []


def test_a_backup_is_proven_and_tells_so_and_nothing_is_left_on_the_disk(protected, tmp_path):
    told = tmp_path / "told"
    put_hook(
        protected, "look", f'echo "$TIDEGATE_HOOK $TIDEGATE_BACKUP $1" > {told}; ls -A $TIDEGATE_RESTORED >> {told}'
    )

    shown = protected.run("verify", "create", "first", "--name", "v", "--check", "look twice", "--wait")

    assert shown.returncode == 0, shown.stderr
    assert told.read_text().splitlines() == ["verify first twice", "home", "vm"]
    record = protected.get("backup", "get", "first")["status"]["verification"]
    assert (record["verifiedBy"], record["volumes"], record["checkedWith"]) == ("v", VOLUMES, "look")
    assert record["bytes"] > (tmp_path / "disk.img").stat().st_size
    assert scratch(protected) == []
    assert "Verified" in protected.tidegate("backup", "describe", "first")
    log = json.loads(protected.tidegate("verify", "logs", "v", "-o", "json"))["items"]
    assert [line["what"] for line in log if line["who"] == "verification v"][-1] == "Completed"


def test_a_store_that_lost_its_blocks_is_found_out_before_anybody_needs_it(protected, tmp_path):
    for block in (tmp_path / "store").rglob("*.blk"):
        block.write_bytes(b"rotten")

    failed = protected.run("verify", "create", "--schedule", "nightly", "--name", "v", "--wait")

    assert failed.returncode == 1
    record = protected.get("backup", "get", "first")["status"]["verification"]
    assert ("verifiedAt" in record, record["failedBy"]) == (False, "v")
    assert "block" in record["failure"]
    assert scratch(protected) == []
    with protected.client() as client:
        metrics = client.get("/metrics").text
    assert 'tidegate_verifications{phase="Failed"} 1.0' in metrics


def test_a_check_that_says_no_fails_the_verification_with_its_words(protected):
    put_hook(protected, "look", "echo the newest order is missing; exit 3")

    failed = protected.run("verify", "create", "first", "--name", "v", "--check", "look", "--wait")

    assert failed.returncode == 1
    assert "the newest order is missing" in protected.get("verify", "get", "v")["status"]["failureReason"]
    assert scratch(protected) == []


def test_what_cannot_be_verified_is_refused_when_it_is_asked_for(protected):
    for words, code, sentence in (
        (("frist",), 5, "frist"),
        (("--schedule", "nihgtly"), 5, "nihgtly"),
        ((), 2, "Say what to verify"),
        (("first", "--check", "reboot"), 4, "there is no hook reboot"),
        (("first", "--check-timeout", "5m"), 2, "there is none"),
    ):
        refused = protected.run("verify", "create", *words)
        assert (refused.returncode, sentence in refused.stderr) == (code, True), words


def test_a_server_that_is_killed_while_it_checks_goes_on_and_cleans_up(protected, tmp_path):
    os.mkfifo(tmp_path / "began")
    once = tmp_path / "once"
    put_hook(protected, "look", f"[ -e {once} ] && exit 0; touch {once}; echo now > {tmp_path}/began; exec sleep 600")
    protected.tidegate("verify", "create", "first", "--name", "v", "--check", "look")
    assert (tmp_path / "began").read_text() == "now\n"  # waits for the check to begin
    protected.kill()
    assert len(scratch(protected)) == 1
    protected.start()

    protected.tidegate("verify", "wait", "v", "--timeout", "60s")

    assert protected.get("verify", "get", "v")["status"]["phase"] == "Completed"
    assert scratch(protected) == []

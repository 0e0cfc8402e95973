"""`--wait` and `wait`: honest exit codes, lines in a pipe, and patience with a server that restarts."""

import pytest

from tidegate.model.backups.backup import BackupPhase
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import Restore, RestoreSpec
from tidegate.model.transfers.transfer import BACKUP_LABEL, RESTORE_LABEL, DataDownload, TransferPhase
from tidegate.testing.resources.builders import a_backup, a_transfer

FINAL = [
    ("Completed", 0),
    ("PartiallyFailed", 3),
    ("Failed", 1),
    ("FailedValidation", 4),
    ("Canceled", 1),
]


@pytest.mark.parametrize(("phase", "code"), FINAL)
def test_the_exit_code_tells_how_a_backup_ended(run, server, phase, code):
    server.put(a_backup("nightly"))
    server.when_listening(lambda: server.put(a_backup("nightly"), phase=phase))

    result = run("backup", "wait", "nightly")

    assert result.code == code
    assert result.out == "backup/nightly\n"
    assert f"Backup nightly: {phase}" in result.err


@pytest.mark.parametrize(("phase", "code"), FINAL)
def test_the_exit_code_tells_how_a_restore_ended(run, server, phase, code):
    restore = Restore(metadata=Metadata(name="look"), spec=RestoreSpec(backup_name="nightly"))
    server.put(restore)
    server.when_listening(lambda: server.put(restore, phase=phase))

    assert run("restore", "wait", "look").code == code


def test_what_has_already_ended_is_told_at_once(run, server):
    server.put(a_backup("nightly", phase=BackupPhase.COMPLETED))

    assert run("backup", "wait", "nightly").code == 0
    assert not [request for request in server.requests if request[1] == "/v1/events"]


def test_in_a_pipe_each_change_is_one_line_with_place_reason_and_bytes(run, server):
    waiting = {"type": "Waiting", "status": "True", "reason": "ConcurrencyLimit", "message": "1 of 1 run"}
    server.put(a_backup("nightly"), phase="Queued", queuePosition=2, conditions=[waiting])
    upload = a_transfer("up", volume=("shop", "db")).with_metadata(labels={BACKUP_LABEL: "uid-of-nightly"})

    def moved(done):
        progress = {"stage": "uploading", "bytesDone": done, "totalBytes": 1000, "bytesPerSecond": 100.0}
        return server.put(upload, phase="InProgress", progress=progress)

    def go_on():
        server.put(a_backup("nightly"), phase="InProgress", progress={"totalItems": 1})
        moved(100)
        moved(150)  # within the same tenth: no news for a log
        moved(500)
        done = {"url": "file:///somewhere", "size": 1000}
        server.put(upload, phase="Completed", result=done)
        server.put(a_backup("nightly"), phase="Completed")

    server.when_listening(go_on)
    result = run("backup", "wait", "nightly")

    assert result.err.splitlines() == [
        "Backup nightly: Queued, number 2 in the queue, ConcurrencyLimit: 1 of 1 run",
        "Backup nightly: InProgress, 0 of 1 items",
        "Backup nightly: InProgress, uploading, 100 B of 1000 B (10 %), 100 B/s, 9s left, 0 of 1 items",
        "Backup nightly: InProgress, uploading, 500 B of 1000 B (50 %), 100 B/s, 5s left, 0 of 1 items",
        "Backup nightly: InProgress, 1000 B of 1000 B (99 %), 0 of 1 items",
        "Backup nightly: Completed, 1 of 1 volumes, 1000 B",
    ]


def test_the_volumes_that_failed_are_named(run, server):
    server.put(a_backup("nightly"), phase="PartiallyFailed", errors=1)
    failed = a_transfer("up", TransferPhase.FAILED, volume=("shop", "db"), message="permission denied")
    server.put(failed.with_metadata(labels={BACKUP_LABEL: "uid-of-nightly"}))

    result = run("backup", "wait", "nightly")

    assert result.code == 3
    assert "  shop/db: permission denied" in result.err.splitlines()


def test_the_transfers_of_a_restore_are_found_by_its_label(run, server):
    restore = Restore(metadata=Metadata(name="look", uid="uid-look"), spec=RestoreSpec(backup_name="nightly"))
    server.put(restore, phase="Failed")
    failed = a_transfer("down", TransferPhase.FAILED, kind=DataDownload, message="no space")
    server.put(failed.with_metadata(labels={RESTORE_LABEL: "uid-look"}))

    assert "no space" in run("restore", "wait", "look").err


def test_waiting_too_long_has_its_own_exit_code_and_says_that_the_job_goes_on(run, server):
    server.put(a_backup("nightly"))

    result = run("backup", "wait", "nightly", "--timeout", "0.5s")

    assert result.code == 7
    assert "It goes on" in result.err
    assert "tidegate backup wait nightly" in result.err


def test_a_restart_of_the_server_does_not_end_the_wait(run, server):
    server.put(a_backup("nightly"))
    server.when_listening(server.break_streams, lambda: server.put(a_backup("nightly", phase=BackupPhase.COMPLETED)))

    result = run("backup", "wait", "nightly")

    assert result.code == 0
    assert "looking for it again" in result.err


def test_a_server_that_stays_away_is_waited_for_until_the_timeout(run, server, tmp_path):
    server.put(a_backup("nightly"))

    def go_away():
        (tmp_path / "data" / "server.json").unlink()
        server.break_streams()

    server.when_listening(go_away)
    result = run("backup", "wait", "nightly", "--timeout", "1m")

    assert result.code == 7
    assert result.err.count("looking for it again") == 1


def test_a_backup_that_is_deleted_meanwhile_is_not_found(run, server):
    server.put(a_backup("nightly"))
    server.when_listening(lambda: server.remove("backups", "nightly"))

    result = run("backup", "wait", "nightly")

    assert result.code == 5
    assert "was deleted" in result.err


def test_a_namesake_that_came_later_is_not_what_was_waited_for(run, server):
    server.put(a_backup("nightly"))

    def replace():
        server.resources.clear()
        server.put(a_backup("nightly", phase=BackupPhase.COMPLETED).with_metadata(uid="another"))
        server.expire()

    server.when_listening(replace)

    assert run("backup", "wait", "nightly").code == 5


def test_create_can_wait_and_shows_the_end_in_the_form_asked_for(run, server):
    def finish():
        server.put({**server.resources["backups", "", "nightly"]}, phase="PartiallyFailed")

    server.when_listening(finish)
    result = run("backup", "create", "nightly", "--wait", "--timeout", "30m", "-o", "json")

    assert result.code == 3
    assert result.json["status"]["phase"] == "PartiallyFailed"


def test_a_wait_for_what_is_not_there_is_not_found(run, server):
    assert run("backup", "wait", "nightly").code == 5


@pytest.mark.parametrize("timeout", ["5", "soon"])
def test_a_timeout_without_a_unit_is_wrong_usage(run, server, timeout):
    result = run("backup", "wait", "nightly", "--timeout", timeout)

    assert result.code == 2
    assert "not a duration" in result.err


def test_several_are_waited_for_and_the_first_bad_end_is_the_exit_code(run, server):
    for name, phase in (("good", "Completed"), ("partly", "PartiallyFailed"), ("bad", "Failed")):
        server.put(a_backup(name), phase=phase)

    result = run("backup", "wait", "good", "partly", "missing", "bad", "good")

    assert result.code == 3
    assert result.out == "backup/good\nbackup/partly\nbackup/bad\n"
    assert "there is no missing" in result.err


def test_several_share_one_span_of_time(run, server):
    for name in ("a", "b"):
        server.put(a_backup(name), phase="Queued")
    server.when_listening(lambda: server.put(a_backup("a"), phase="Completed"))

    result = run("backup", "wait", "a", "b", "--timeout", "6s")

    assert (result.code, result.out) == (7, "backup/a\n")
    assert "The backup b did not end in time" in result.err


def test_every_kind_is_followed_from_where_it_was_listed(run, server):
    server.put(a_backup("nightly"))
    server.when_listening(lambda: server.put(a_backup("nightly"), phase="Completed"))
    run("backup", "wait", "nightly")

    (query,) = [query for _, path, query, _ in server.requests if path == "/v1/events"]
    assert [part.partition(":")[0] for part in query["since"].split(",")] == query["kinds"].split(",")

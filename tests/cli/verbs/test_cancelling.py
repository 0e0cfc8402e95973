"""`backup cancel`: never without a yes, and an honest end."""

import pytest

from tidegate.model.backups.backup import BackupPhase
from tidegate.testing.resources.builders import a_backup


def accept(server, name, phase):
    wire = server.put(a_backup(name, phase=phase))
    server.answers["POST", f"/v1/backups/{name}/cancel"] = (202, wire)


@pytest.mark.parametrize(
    ("phase", "says"),
    [
        (BackupPhase.QUEUED, "Cancelling backup b: it leaves the queue and ends as Canceled.\n"),
        (BackupPhase.IN_PROGRESS, "Cancelling backup b: its transfers stop, then it ends as Canceled.\n"),
        (
            BackupPhase.FINALIZING,
            "The backup b is Finalizing: all its data is moved, so it ends as it would have.\n",
        ),
    ],
)
def test_what_follows_depends_on_how_far_it_is(run, server, phase, says):
    accept(server, "b", phase)

    result = run("backup", "cancel", "b", "--yes")

    assert (result.code, result.out, result.err) == (0, "backup/b\n", says)


def test_nobody_is_cancelled_without_a_yes(run, server):
    accept(server, "b", BackupPhase.QUEUED)

    result = run("backup", "cancel", "b")

    assert result.code == 2
    assert result.err.startswith("Error: Nobody is here to ask whether to cancel the backup b.")
    assert server.requests == []


def test_what_is_over_is_a_conflict(run, server):
    detail = "backup b is Completed; there is nothing to cancel"
    server.answers["POST", "/v1/backups/b/cancel"] = (409, {"code": "Refused", "detail": detail})

    result = run("backup", "cancel", "b", "--yes")

    assert (result.code, result.err) == (6, f"Error: {detail}\n")


def test_of_several_each_is_cancelled_whatever_happens_to_the_others(run, server):
    accept(server, "b1", BackupPhase.QUEUED)
    accept(server, "b3", BackupPhase.QUEUED)
    server.answers["POST", "/v1/backups/b2/cancel"] = (404, {"code": "NotFound", "detail": "no b2"})

    result = run("backup", "cancel", "b1", "b2", "b3", "--yes")

    assert (result.code, result.out) == (5, "backup/b1\nbackup/b3\n")
    assert "Error: no b2" in result.err


@pytest.mark.parametrize(("phase", "code"), [("Canceled", 0), ("Completed", 6), ("PartiallyFailed", 6), ("Failed", 6)])
def test_with_wait_the_exit_code_tells_whether_it_was_cancelled_in_time(run, server, phase, code):
    accept(server, "b", BackupPhase.IN_PROGRESS)
    server.when_listening(lambda: server.put(a_backup("b"), phase=phase))

    result = run("backup", "cancel", "b", "--yes", "--wait")

    assert (result.code, result.out) == (code, "backup/b\n")
    assert f"Backup b: {phase}" in result.err


def test_a_backup_is_created_with_its_priority_and_what_an_interruption_means(run, server):
    run("backup", "create", "b", "--priority", "-3", "--on-interruption", "Requeue")

    assert server.requests[-1][3]["spec"] == {"priority": -3, "onInterruption": "Requeue"}
    assert run("backup", "create", "c", "--priority", "0").code == 0
    assert server.requests[-1][3]["spec"] == {"priority": 0}
    assert run("backup", "create", "d", "--on-interruption", "Panic").code == 2

"""`tidegate system`: what is sent, what is shown, and how it ends."""

import json

import pytest

from tidegate.model.resource import Metadata
from tidegate.model.system.system import SystemBackupPhase, SystemBackupVolume, VolumeBackupPolicy, VolumeOutcome
from tidegate.model.system.system_restore import RestoredDefinition, RestoredVolume, SystemRestore, SystemRestoreSpec
from tidegate.testing.resources.builders import THEN, a_system_backup, a_transfer

VERBS = [("backup", verb) for verb in ("create", "get", "describe", "delete", "wait")]
VERBS += [("restore", verb) for verb in ("create", "get", "describe", "delete", "wait")]


def sent(server):
    """The body of the last request that had one."""
    return next(body for _, _, _, body in reversed(server.requests) if body)


@pytest.mark.parametrize("command", VERBS)
def test_every_verb_has_examples_and_exit_codes_in_its_help(run, command):
    result = run("system", *command, "--help")

    assert result.code == 0
    assert f"  tidegate system {' '.join(command)}" in result.out
    assert "Exit codes:" in result.out


def test_a_system_backup_is_sent_with_its_policy(run, server):
    plain = run("system", "backup", "create", "weekly")
    first = sent(server)["spec"]
    run("system", "backup", "create", "other", "--volume-backup-policy", "always", "--target", "offsite")

    assert (plain.code, plain.out) == (0, "systembackup/weekly\n")
    assert first == {"volumeBackupPolicy": "if-not-present"}
    assert sent(server)["spec"] == {"volumeBackupPolicy": "always", "target": "offsite"}


def test_a_policy_that_nobody_knows_is_wrong_usage_and_names_the_right_ones(run, server):
    result = run("system", "backup", "create", "weekly", "--volume-backup-policy", "never")

    assert result.code == 2
    assert "if-not-present" in result.err
    assert server.requests == []


@pytest.mark.parametrize(
    ("phase", "why", "code"), [(SystemBackupPhase.READY, None, 0), (SystemBackupPhase.ERROR, "volume shop/db: no", 1)]
)
def test_waiting_ends_with_an_honest_exit_code_and_the_volume_that_failed(run, server, phase, why, code):
    ended = {"phase": str(phase), "failureReason": why}
    server.steps.append(lambda: server.put(server.resources["systembackups", "", "weekly"], **ended))

    result = run("system", "backup", "create", "weekly", "--wait", "--timeout", "60s")

    assert result.code == code
    assert f"System backup weekly: {phase}" in result.err
    assert (why or "") in result.err


def test_a_description_tells_of_each_volume_the_decision_the_state_and_the_time_left(run, server):
    rows = (
        SystemBackupVolume(volume="blog/posts", decision="Reused", reason="it has a backup", backup="old"),
        SystemBackupVolume(
            volume="shop/db", decision="Created", reason="it has no backup", backup="b", state="Waiting"
        ),
        SystemBackupVolume(volume="shop/x", decision="Skipped", reason="it is being deleted"),
    )
    phase = SystemBackupPhase.CREATING_VOLUME_BACKUPS
    server.put(a_system_backup("weekly", phase=phase, volumes=rows), deadline="2026-01-02T11:00:00Z")

    result = run("system", "backup", "describe", "weekly")

    shown = " ".join(result.out.split())
    assert result.code == 0
    assert "blog/posts: Reused: it has a backup, backup old" in shown
    assert "shop/db: Created: it has no backup, backup b, Waiting, time left 23h" in shown
    assert "shop/x: Skipped: it is being deleted" in shown


def test_the_list_shows_policy_volumes_and_size(run, server):
    ready = a_system_backup("weekly", VolumeBackupPolicy.ALWAYS, phase=SystemBackupPhase.READY, size=2048)
    server.put(ready)

    result = run("system", "backup", "get")

    found = a_system_backup("found", phase=SystemBackupPhase.READY, last_synced_at=THEN)
    assert "if-not-present" not in run("system", "backup", "describe", server.put(found)["metadata"]["name"]).out
    header, row = result.out.splitlines()
    assert header.split()[:3] == ["NAME", "STATUS", "POLICY"]
    assert row.split()[:3] == ["weekly", "Ready", "always"]
    assert "2.0 KiB" in row


def a_plan():
    system = SystemRestore(metadata=Metadata(name="back"), spec=SystemRestoreSpec(system_backup="weekly"))
    return system.with_status(
        source_url="file:///s/backupstore/system-backups/v1/weekly",
        definitions=(
            RestoredDefinition(kind="Volume", name="shop/db", action="Create"),
            RestoredDefinition(kind="Setting", name="concurrent-backup-restore-limit", action="Keep", reason="stays"),
        ),
        volumes=(
            RestoredVolume(volume="shop/db", state="Waiting", backup_url="file:///s?backup=b&volume=v"),
            RestoredVolume(volume="shop/x", state="Skipped", reason="/x holds something"),
        ),
    )


def test_a_dry_run_prints_the_plan_as_a_table_or_as_data(run, server):
    server.answers["POST", "/v1/systemrestores"] = (200, a_plan().to_wire())

    table = run("system", "restore", "create", "--from", "weekly", "--dry-run")
    data = run("system", "restore", "create", "--from", "weekly", "--dry-run", "-o", "json")

    assert table.code == 0
    assert "1 definitions to create, 1 definitions kept as they are here" in table.err
    assert "comes back" in table.out
    assert "/x holds something" in table.out
    assert json.loads(data.out)["status"]["volumes"][0]["volume"] == "shop/db"


def test_a_system_restore_is_sent_with_its_source_and_which_volumes(run, server):
    result = run("system", "restore", "create", "back", "--from", "weekly", "--volumes", "all")

    assert (result.code, result.out) == (0, "systemrestore/back\n")
    assert sent(server)["spec"] == {"systemBackup": "weekly", "volumes": "all"}
    assert run("system", "restore", "create").code == 2


def test_a_system_restore_that_misses_volumes_ends_with_the_code_for_that(run, server):
    ended = {"phase": "PartiallyFailed", "failureReason": "volume shop/db: a block is missing"}
    server.steps.append(lambda: server.put(server.resources["systemrestores", "", "back"], **ended))

    result = run("system", "restore", "create", "back", "--from", "weekly", "--wait", "--timeout", "60s")

    assert (result.code, "volume shop/db: a block is missing" in result.err) == (3, True)


def test_a_schedule_of_system_backups_takes_a_policy_and_nothing_about_namespaces(run, server):
    made = run("schedule", "create", "system", "--schedule", "@weekly", "--system-backup", "if-changed")
    spec = sent(server)["spec"]
    wrong = run(
        *("schedule", "create", "x", "--schedule", "@weekly", "--system-backup", "always"),
        *("--include-namespaces", "shop"),
    )

    assert (made.code, spec["systemBackup"]) == (0, {"volumeBackupPolicy": "if-changed", "target": ""})
    assert (wrong.code, "A system backup is of everything" in wrong.err) == (2, True)


def test_waiting_for_a_system_backup_tells_how_far_all_its_volumes_are(run, server):
    """Its bytes are moved by backups of its own: their news call for another look at the whole."""
    row = SystemBackupVolume(volume="shop/db", decision="Created", backup="b", state="InProgress")
    system = a_system_backup("weekly", phase=SystemBackupPhase.CREATING_VOLUME_BACKUPS, volumes=(row,))
    server.put(system, bytes={"done": 0, "total": 4096, "percent": 0})
    path = "/v1/systembackups/weekly"

    def move():
        server.resources["systembackups", "", "weekly"]["status"]["bytes"] = {
            "done": 1024, "total": 4096, "percent": 25, "bytesPerSecond": 1024.0, "secondsLeft": 3
        }  # fmt: skip
        ready = system.with_status(phase=SystemBackupPhase.READY, volumes=(row.replace(state=VolumeOutcome.COMPLETED),))
        server.after_looks(path, 1, lambda: server.put(ready, bytes={"done": 4096, "total": 4096}))
        for _ in range(3):
            server.put(a_transfer("up"), phase="InProgress")

    server.when_listening(move)
    result = run("system", "backup", "wait", "weekly", "--timeout", "1h")

    assert result.code == 0
    assert result.err.splitlines() == [
        "System backup weekly: CreatingVolumeBackups, 0 B of 4.0 KiB (0 %), 0 of 1 items",
        "System backup weekly: CreatingVolumeBackups, 1.0 KiB of 4.0 KiB (25 %), 1.0 KiB/s, 3s left, 0 of 1 items",
        "System backup weekly: Ready, 4.0 KiB: 1 volume created",
    ]

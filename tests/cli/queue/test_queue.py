"""`tidegate queue`: looking, explaining, pausing, moving, simulating; and what `backup describe` adds."""

import json

import pytest
import yaml

from tidegate.model.backups.backup import BackupPhase
from tidegate.testing.resources.builders import a_backup

QUEUE = {
    "limit": 2,
    "paused": False,
    "running": ["b1"],
    "waiting": [
        {
            "name": "b2",
            "position": 1,
            "priority": 5,
            "reason": "NamespaceOverlapRunning",
            "message": "backup b1 is running and shares namespace shop",
            "blockedBy": "b1",
            "since": "2026-01-01T11:57:00Z",
            "expectedStart": "2026-01-01T12:05:00Z",
        },
        {"name": "b3", "position": 2, "priority": 0, "reason": "TargetUnavailable", "message": "target t is away"},
    ],
}
EXPLANATION = {
    "name": "b3",
    "phase": "Queued",
    "position": 2,
    "since": "2026-01-01T11:57:00Z",
    "expectedStart": "2026-01-01T12:05:00Z",
    "obstacles": [
        {"reason": "NamespaceOverlapQueued", "message": "backup b2 is ahead and shares namespace shop"},
        {"reason": "ConcurrencyLimit", "message": "all 1 slots of concurrent-backups are taken"},
    ],
    "moreObstacles": 0,
    "endsFirst": [
        {"name": "b1", "running": True, "holdsUp": "b2"},
        {"name": "b2", "running": False, "holdsUp": "b3"},
    ],
    "orOneOf": ["b1", "bx"],
    "aFieldOfANewerServer": 1,
}
WORKLOAD = {
    "limit": 1,
    "headStartSeconds": 600,
    "namespaces": ["a", "b"],
    "backups": [
        {"name": "one", "includedNamespaces": ["a"], "duration": 60, "running": True},
        {"name": "two", "includedNamespaces": ["b"], "duration": 60},
        {"name": "three", "includedNamespaces": ["b"], "duration": 30, "queuedFor": -1},
    ],
}


def asked(server):
    return [(method, path) for method, path, _, _ in server.requests]


def test_the_queue_is_a_table_below_a_note_about_the_slots(run, server):
    server.answers["GET", "/v1/queue"] = (200, QUEUE)

    result = run("queue", "list")

    assert result.code == 0
    assert result.err == "1 of 2 slots in use: b1.\n"
    assert result.out.splitlines() == [
        "POSITION  NAME  PRIORITY  WAITING  REASON                   BLOCKED BY  EXPECTED START",
        "       1  b2           5  3m       NamespaceOverlapRunning  b1          in 5m",
        "       2  b3           0           TargetUnavailable                    unknown",
    ]


def test_an_empty_and_a_paused_queue_say_so(run, server):
    server.answers["GET", "/v1/queue"] = (200, {"limit": 2, "paused": False, "running": [], "waiting": []})
    empty = run("queue", "list")
    server.answers["GET", "/v1/queue"] = (200, {**QUEUE, "paused": True})
    paused = run("queue", "list")

    assert (empty.out, empty.err) == ("", "0 of 2 slots in use. Nothing waits.\n")
    assert "The queue is paused; go on with: tidegate queue resume" in paused.err


def test_the_queue_comes_in_every_form(run, server):
    server.answers["GET", "/v1/queue"] = (200, QUEUE)

    assert run("queue", "list", "-o", "json").json == QUEUE
    assert yaml.safe_load(run("queue", "list", "-o", "yaml").out)["limit"] == 2
    assert run("queue", "list", "-o", "name").out == "backup/b2\nbackup/b3\n"
    assert [json.loads(line)["name"] for line in run("queue", "list", "-o", "jsonl").out.splitlines()] == ["b2", "b3"]
    assert "shares namespace shop" in run("queue", "list", "-o", "wide").out


def test_a_watched_queue_is_shown_again_only_when_it_has_changed(run, server):
    server.answers["GET", "/v1/queue"] = (200, QUEUE)

    def one_leaves():
        server.answers["GET", "/v1/queue"] = (200, {**QUEUE, "waiting": QUEUE["waiting"][1:]})
        server.break_streams()

    def stop():
        server.problems.extend([(401, {"code": "Unauthenticated", "detail": "end of the test"})] * 5)
        server.break_streams()

    # Each stream that breaks makes the command look again.
    server.when_listening(server.break_streams, one_leaves, server.break_streams, stop)
    result = run("queue", "list", "-w", "-o", "json")

    assert [len(json.loads(line)["waiting"]) for line in result.out.splitlines()] == [2, 1]
    assert result.code == 12


def test_an_explanation_has_a_line_for_every_obstacle_and_for_what_has_to_end(run, server):
    server.answers["GET", "/v1/queue/b3"] = (200, EXPLANATION)

    lines = run("queue", "explain", "b3").out.splitlines()

    assert [line.split(":")[0].strip() for line in lines if line] == [
        *("Queue", "Backup", "Status", "Position", "Waiting since", "Expected start"),
        *("Obstacles", "NamespaceOverlapQueued", "ConcurrencyLimit"),
        *("Has to end first", "b1", "b2", "For a free slot"),
    ]
    assert lines[-3].endswith("running; holds up b2")
    assert lines[-1].endswith("one of b1, bx")


def test_what_does_not_wait_is_told_in_a_sentence(run, server):
    server.answers["GET", "/v1/queue/done"] = (200, {"name": "done", "phase": "Completed"})

    result = run("queue", "explain", "done")

    assert (result.code, result.err) == (0, "Backup done is Completed; it does not wait in the queue.\n")
    assert run("queue", "explain", "nobody").code == 5
    assert run("queue", "explain", "done", "-o", "json").json["phase"] == "Completed"


def test_pause_and_resume_set_and_unset_one_setting(run, server):
    paused = run("queue", "pause")
    stored = server.resources["settings", "", "backup-queue-paused"]["spec"]
    resumed = run("queue", "resume")

    assert (paused.code, paused.out, stored) == (0, "setting/backup-queue-paused\n", {"value": "true"})
    assert (resumed.code, resumed.err) == (0, "The queue moves again.\n")
    assert ("DELETE", "/v1/settings/backup-queue-paused") in asked(server)


def test_a_move_is_sent_and_its_new_place_told(run, server):
    moved = {**a_backup("b3", phase=BackupPhase.QUEUED).to_wire(), "status": {"phase": "Queued", "queuePosition": 1}}
    server.answers["POST", "/v1/queue/b3/move"] = (200, moved)

    result = run("queue", "move", "b3", "--to", "1")

    assert (result.out, result.err) == ("backup/b3\n", "Backup b3 is number 1 in the queue.\n")
    assert server.requests[-1][3] == {"to": 1}
    assert run("queue", "move", "b3", "--to", "0").code == 2
    assert run("queue", "move", "b3").code == 2


def test_what_does_not_wait_cannot_be_moved(run, server):
    server.answers["POST", "/v1/queue/b1/move"] = (409, {"code": "Refused", "detail": "backup b1 is InProgress"})

    result = run("queue", "move", "b1", "--to", "1")

    assert (result.code, result.err) == (6, "Error: backup b1 is InProgress\n")


def test_a_simulation_of_the_present_queue_compares_limits(run, server):
    server.answers["GET", "/v1/queue-workload"] = (200, WORKLOAD)

    result = run("queue", "simulate", "--limit", "1", "--limit", "2")

    assert result.rows[1:] == [["1", "2m30s", "1m", "2m", "2m", "100%"], ["2", "1m30s", "0s", "1m", "1m", "83%"]]


def test_a_simulation_as_json_has_seconds_and_the_picture(run, server):
    server.answers["GET", "/v1/queue-workload"] = (200, WORKLOAD)

    document = run("queue", "simulate", "-o", "json").json

    (found,) = document["limits"]
    assert (document["backups"], found["limit"], found["makespan"], found["waitP95"]) == (3, 1, 150, 120)
    assert (found["slotUse"], len(found["busySlots"]), found["never"]) == (1.0, 40, [])
    assert "█" * 40 in run("queue", "simulate", "-o", "wide").out


def test_a_saved_workload_is_simulated_again_without_a_server(run, server, tmp_path):
    server.answers["GET", "/v1/queue-workload"] = (200, WORKLOAD)
    saved = run("queue", "simulate", "--save", "tonight.json")
    server.answers.clear()
    asked_before = len(server.requests)

    again = run("queue", "simulate", "--file", "tonight.json", TIDEGATE_SERVER="http://127.0.0.1:1")

    assert saved.err == "Wrote a workload of 3 backups to tonight.json.\n"
    assert (again.code, again.out) == (0, saved.out)
    assert len(server.requests) == asked_before
    assert json.loads((tmp_path / "tonight.json").read_text())["backups"][2]["queuedFor"] == -1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "Cannot read w.json: No such file or directory."),
        ("{", "w.json is not JSON: "),
        ("[]", "w.json holds no workload."),
        ("{}", "w.json: backups: Field required."),
        ('{"backups": [{"name": "a", "duration": -3}]}', "w.json: backups.0.duration: Input should be greater"),
        ('{"backups": [{"name": "a", "duraton": 3, "duration": 1}]}', "w.json: backups.0.duraton: Extra inputs"),
        ('{"backups": [{"name": "a", "duration": 3, "includedNamespaces": ["**"]}]}', "'**' means nothing here"),
    ],
)
def test_a_workload_file_that_makes_no_sense_is_one_sentence(run, tmp_path, text, says):
    if text is not None:
        (tmp_path / "w.json").write_text(text)

    result = run("queue", "simulate", "--file", "w.json")

    assert (result.code, result.out) == (4, "")
    assert says in result.err
    assert "bug" not in result.err


def test_a_limit_below_one_is_wrong_usage(run, server):
    assert run("queue", "simulate", "--limit", "0").code == 2


def test_a_description_of_a_queued_backup_says_what_it_waits_for_and_until_when(run, server):
    waiting = {"type": "Waiting", "status": "True", "reason": "NamespaceOverlapQueued", "message": "b2 is ahead"}
    server.put(a_backup("b3", phase=BackupPhase.QUEUED), queuePosition=2, conditions=[waiting])
    server.answers["GET", "/v1/queue/b3"] = (200, EXPLANATION)

    text = run("backup", "describe", "b3").out

    assert "Queue position:    2" in text
    assert "Also:              all 1 slots of concurrent-backups are taken" in text
    assert "Has to end first:  b1, then b2" in text
    assert "(in 5m)" in text


def test_an_older_server_without_explanations_is_described_all_the_same(run, server):
    server.put(a_backup("b3", phase=BackupPhase.QUEUED), queuePosition=2)

    result = run("backup", "describe", "b3")

    assert (result.code, result.err) == (0, "")
    assert "Expected start" not in result.out


def test_a_list_of_backups_has_the_place_and_the_reason(run, server):
    waiting = {"type": "Waiting", "status": "True", "reason": "ConcurrencyLimit", "message": "full"}
    server.put(a_backup("b3", phase=BackupPhase.QUEUED), queuePosition=2, conditions=[waiting])

    assert run("backup", "get").rows[1][:4] == ["b3", "Queued", "2", "ConcurrencyLimit"]

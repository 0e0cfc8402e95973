"""How commands fail: sentences, objects, and exit codes for the whole tree of errors."""

import json

import pytest

from tidegate.cli.exit_codes import EXIT_CODES, PHASE_EXIT_CODES, ExitCode
from tidegate.errors import error_classes
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.restores.restore import RestorePhase


@pytest.mark.parametrize("error", error_classes().values())
def test_every_error_has_an_exit_code_that_is_not_success(error):
    assert EXIT_CODES[error] is not ExitCode.DONE


def test_every_exit_code_has_a_meaning():
    assert all(code.meaning for code in ExitCode)


@pytest.mark.parametrize("phase", [*BackupPhase, *RestorePhase])
def test_every_final_phase_has_an_exit_code(phase):
    assert phase.final == (phase in PHASE_EXIT_CODES)


@pytest.mark.parametrize("code", error_classes())
def test_an_error_of_the_server_ends_with_its_exit_code_and_its_own_words(run, server, code):
    server.problems.append((400, {"code": code, "detail": "what went wrong", "hint": "what to do"}))

    result = run("backup", "get", "nightly")

    assert result.code == EXIT_CODES[error_classes()[code]]
    assert result.err == "Error: what went wrong\nHint: what to do\n"
    assert result.out == ""


@pytest.mark.parametrize("form", ["json", "jsonl", "yaml"])
def test_for_programs_an_error_is_one_object_on_stderr(run, server, form):
    result = run("backup", "get", "nightly", "-o", form)

    assert json.loads(result.err) == {
        "code": "NotFound",
        "message": "there is no nightly among the backups",
        "hint": "",
        "exitCode": 5,
    }


def test_wrong_usage_is_an_object_too_when_objects_were_asked_for(run, server):
    assert json.loads(run("volume", "get", "db", "-o", "json").err)["code"] == "WrongUsage"


def test_a_bug_of_the_server_is_told_as_such(run, server):
    server.problems.append((500, {"code": "InternalError", "detail": "an unexpected error"}))

    result = run("backup", "get")

    assert result.code == 1
    assert result.err.startswith("Error: The server failed: an unexpected error\n")


def test_a_wrong_token_is_refused(run, server):
    result = run("backup", "get", TIDEGATE_TOKEN="wrong")

    assert result.code == 12
    assert "--token-file" in result.err


def test_without_a_server_the_hint_says_how_to_start_one(run, tmp_path):
    result = run("backup", "get")

    assert result.code == 10
    assert f"tidegate server --data-dir {tmp_path / 'data'}" in result.err


def test_a_server_that_is_gone_is_told_from_one_that_never_was(run, tmp_path):
    (tmp_path / "data").mkdir()
    # The highest number a process can have on Linux is far below.
    (tmp_path / "data" / "server.json").write_text('{"url": "http://127.0.0.1:1", "pid": 2147483646}')

    result = run("backup", "get")

    assert result.code == 10
    assert "is gone" in result.err


def test_a_port_where_nobody_listens_is_unreachable(run):
    result = run("--server", "http://127.0.0.1:1", "backup", "get", TIDEGATE_TOKEN="x")

    assert result.code == 10
    assert "http://127.0.0.1:1 (--server)" in result.err


def test_another_web_server_is_not_taken_for_ours(run, server):
    server.problems.append((404, "<html>"))

    result = run("backup", "get")

    assert result.code == 10
    assert "not a Tidegate server" in result.err


def test_a_name_cannot_become_another_path(run, server):
    assert run("backup", "get", "../volumes").code == 4
    assert run("backup", "get", "").code == 4
    assert server.requests == []


def test_the_local_token_is_not_sent_to_another_server(run, server):
    result = run("backup", "get", "--server", "http://127.0.0.1:1")

    assert result.code == 12
    assert "There is no token for http://127.0.0.1:1." in result.err


def test_the_local_token_is_used_for_the_local_server_however_it_was_named(run, server):
    assert run("backup", "get", "--server", server.url).code == 0


def test_a_token_can_come_from_a_file_and_a_flag_weighs_more_than_the_environment(run, server, tmp_path):
    (tmp_path / "token").write_text("open-sesame\n")

    assert run("--token-file", "token", "backup", "get", TIDEGATE_TOKEN="wrong").code == 0
    assert run("backup", "get", TIDEGATE_TOKEN_FILE="token").code == 0
    assert run("backup", "get", "--token-file", "missing").code == 12


def test_an_unforeseen_error_is_told_as_a_bug_with_a_traceback_only_on_request(run, server):
    server.put({"kind": "Backup", "metadata": {"name": "nightly"}, "spec": {}})
    for wire in server.resources.values():
        wire["metadata"] = "nonsense"

    quiet = run("backup", "get", "nightly", "-o", "name")
    loud = run("backup", "get", "nightly", "-o", "name", TIDEGATE_DEBUG="1")

    assert quiet.code == 1
    assert "This is a bug" in quiet.err
    assert "Traceback" not in quiet.err
    assert "Traceback" in loud.err

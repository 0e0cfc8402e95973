"""Asking for a verification, for one at set times, and for notifications."""

import pytest


def sent(server):
    """The body of the last request that had one."""
    return next(body for _, _, _, body in reversed(server.requests) if body)


def test_everything_that_can_be_said_is_sent(run, server):
    result = run(
        *("verify", "create", "--schedule", "nightly", "--name", "v"),
        *("--check", "open-db 'my shop'", "--check-timeout", "5m", "-l", "team=web"),
    )

    assert (result.code, result.out) == (0, "verify/v\n")
    assert sent(server)["metadata"] == {"name": "v", "labels": {"team": "web"}}
    assert sent(server)["spec"] == {
        "scheduleName": "nightly",
        "check": {"command": ["open-db", "my shop"], "timeout": "5m"},
    }


def test_without_a_name_it_is_named_after_its_source_and_the_time(run, server):
    assert run("verify", "create", "b").out == "verify/b-20260101120000\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("verify", "create"), "Say what to verify"),
        (("verify", "create", "b", "--schedule", "s"), "Say what to verify"),
        (("verify", "create", "b", "--check", "'open"), "--check: No closing quotation"),
        (("verify", "create", "b", "--check-timeout", "5m"), "there is none"),
        (("schedule", "create", "s", "--schedule", "@daily", "--verify-check", "look"), "says nothing of when"),
        (("notification", "create", "n"), "secret"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(run, server, words, sentence):
    result = run(*words)

    assert (result.code, sentence in result.err) == (2, True), result.err


def test_a_schedule_can_have_its_backups_verified(run, server):
    run("schedule", "create", "s", "--schedule", "@daily", "--verify-schedule", "@weekly", "--verify-check", "look -x")

    wanted = {"schedule": "@weekly", "check": {"command": ["look", "-x"]}}
    assert sent(server)["spec"]["verification"] == wanted
    run("schedule", "update", "s", "--verify-schedule", "")
    assert "verification" not in sent(server)["spec"]


def test_a_notification_is_sent_with_a_name_of_its_secret_and_never_an_address(run, server):
    result = run("notification", "create", "ops", "--secret", "hook", "--events", "Failure,Recovery")

    assert (result.code, result.out) == (0, "notification/ops\n")
    assert sent(server)["spec"] == {"type": "webhook", "secret": "hook", "events": ["Failure", "Recovery"]}
    assert "tidegate notification test ops" in result.err

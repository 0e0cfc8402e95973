"""Somebody is told when something went wrong: a real server, a real receiver, and secrets that stay secret."""

import pytest

from tidegate.testing.machine.webhook_receiver import WebhookReceiver

TOKEN = "tok3n-that-nobody-may-see"
KEY = "a-key-that-nobody-may-see"


@pytest.fixture
def receiver():
    with WebhookReceiver() as receiver:
        yield receiver


@pytest.fixture
def watched(server, receiver, tmp_path):
    """A server whose failures are told to the receiver."""
    secret = server.state / "secrets" / "ops"
    secret.parent.mkdir(mode=0o700, exist_ok=True)
    secret.write_text(f"URL={receiver.url}/{TOKEN}\nSIGNING_KEY={KEY}\n")
    secret.chmod(0o600)
    (tmp_path / "store").mkdir()
    (tmp_path / "db").mkdir()
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    server.tidegate("volume", "create", "shop/db", "--directory", str(tmp_path / "db"))
    server.tidegate("notification", "create", "ops", "--secret", "ops")
    return server


def everything_shown(server):
    """All that a person, a client or a log can see."""
    with server.client() as client:
        paths = ("/v1/notifications", "/v1/notificationdeliveries", "/v1/notifications/ops", "/metrics")
        answers = [client.get(path).text for path in paths]
    described = server.tidegate("notification", "describe", "ops")
    listed = server.tidegate("notification", "get", "-o", "wide")
    stored = b"".join(path.read_bytes() for path in server.state.glob("tidegate.db*"))
    return "".join([*answers, described, listed, str(server._log), stored.decode(errors="replace")])


def test_a_failure_is_told_also_after_a_receiver_was_away_and_a_server_was_killed(watched, receiver, tmp_path):
    receiver.answers.append(503)
    (tmp_path / "db").rmdir()
    watched.run("backup", "create", "b", "--wait")
    assert receiver.next().document["title"] == "Backup b is Failed"
    watched.wait_for_log("not delivered")
    watched.kill()
    watched.start()

    second = receiver.next()

    assert second.document["event"] == "Failure"
    assert second.headers["webhook-signature"].startswith("v1,")
    watched.wait_for_log("delivered")
    assert "Delivered: Backup b is Failed" in watched.tidegate("notification", "describe", "ops")
    shown = everything_shown(watched)
    assert TOKEN not in shown
    assert KEY not in shown


def test_a_test_tells_at_once_whether_it_arrives(watched, receiver):
    watched.tidegate("notification", "test", "ops")
    assert receiver.next().document["event"] == "Test"

    receiver.answers.append(404)
    failed = watched.run("notification", "test", "ops")

    assert (failed.returncode, "the webhook answered 404" in failed.stderr) == (1, True)
    assert TOKEN not in failed.stderr
    assert watched.run("notification", "test", "nobody").returncode == 5


def test_a_rule_that_can_never_work_is_refused_when_it_is_made(watched):
    for words, sentence in (
        (("--secret", "nobody"), "there is no secret nobody"),
        (("--secret", "ops", "--type", "pigeon"), "webhook"),
        (("--secret", "ops", "--events", "Failure,Rain"), "events"),
        (("--secret", "ops", "--events", "Test"), "Test is no event to wait for"),
        (("--secret", "../admin.token"), "secret"),
    ):
        refused = watched.run("notification", "create", "bad", *words)
        assert (refused.returncode, sentence in refused.stderr) == (4, True), refused.stderr

"""`tidegate target sync --wait`: told how it goes, and an exit code that says how it went."""

from datetime import UTC, datetime, timedelta

import pytest

from tidegate.testing.resources.builders import a_target

ASKED = datetime(2026, 1, 1, 12, tzinfo=UTC)
PATH = "/v1/backuptargets/far"


def later(seconds):
    return (ASKED + timedelta(seconds=seconds)).isoformat()


@pytest.fixture
def far(server):
    """A target that answers, and for which somebody asks a sync at noon."""
    wire = server.put(a_target("far"), available=True)
    asked = {**wire, "spec": {**wire["spec"], "syncRequestedAt": later(0)}}
    server.answers["POST", PATH] = (200, asked)

    def becomes(**status):
        server.put(asked, **{"available": True, **status})

    return becomes


def test_without_wait_it_only_asks_and_says_so(server, far, run):
    done = run("target", "sync", "far")

    assert (done.code, done.out) == (0, "target/far\n")
    assert server.requests[-1][2:] == ({"action": "backupTargetSync"}, {"syncBackupTarget": True})


def test_it_waits_for_a_sync_that_began_after_it_was_asked_for(server, far, run):
    running = {"stage": "ReadingBackups", "done": 4, "total": 10, "errors": 1, "startedAt": later(1)}
    finished = {"stage": "Done", "done": 10, "startedAt": later(1), "finishedAt": later(9)}
    server.when_listening(
        lambda: (
            far(lastSyncedAt=later(-5), sync={"stage": "Done", "startedAt": later(-5), "finishedAt": later(1)}),
            far(lastSyncedAt=later(-5), sync={**running, "expectedEnd": later(65)}),
            far(lastSyncedAt=later(1), sync=finished),
        )
    )

    done = run("target", "sync", "far", "--wait")

    assert done.code == 0
    assert "far: ReadingBackups 4 of 10, 1 errors, 1m5s left" in done.err
    assert "Target far is synced: 10 volumes looked at, 0 errors." in done.err


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"available": False, "message": "connection refused"}, (10, "does not answer: connection refused")),
        ({"sync": {"stage": "Failed", "failedAt": later(3), "messages": ["no such bucket"]}}, (10, "no such bucket")),
        ({"lastSyncedAt": later(1), "sync": {"errors": 2, "messages": ["volume a: torn"]}}, (3, "volume a: torn")),
        (
            {
                "lastSyncedAt": later(1),
                "sync": {"vanished": "abc"},
                "conditions": [
                    {
                        "type": "VolumesVanished",
                        "status": "True",
                        "reason": "HeldBack",
                        "message": "9 of 10 volumes are gone",
                        "lastTransitionTime": later(1),
                    }
                ],
            },
            (3, "tidegate target sync far --confirm-vanished abc"),
        ),
    ],
    ids=["away", "failed", "partly", "held back"],
)
def test_the_exit_code_tells_how_the_sync_ended(server, far, run, status, expected):
    server.when_listening(lambda: far(**status))

    done = run("target", "sync", "far", "--wait")

    assert (done.code, expected[1] in done.err) == (expected[0], True), done.err


def test_it_stops_waiting_when_the_time_is_over_and_says_that_the_sync_goes_on(server, far, run):
    done = run("target", "sync", "far", "--wait", "--timeout", "2s")

    assert done.code == 7
    assert "It goes on." in done.err


def test_a_volume_that_cannot_be_read_is_told_and_not_waited_for_forever(server, far, run):
    pending = {"target": "far", "volume": "v-1", "pending": True}
    server.answers["POST", PATH] = (200, pending)
    server.answers["GET", "/v1/catalogue/syncs/far/v-1"] = (200, {**pending, "failures": 1, "message": "torn cfg"})

    failed = run("target", "sync", "far", "--volume", "v-1", "--wait")
    server.answers["GET", "/v1/catalogue/syncs/far/v-1"] = (200, {**pending, "pending": False})
    done = run("target", "sync", "far", "--volume", "v-1", "--wait")

    assert (failed.code, "torn cfg" in failed.err) == (10, True)
    assert (done.code, "is synced" in done.err) == (0, True)


def test_what_contradicts_itself_is_wrong_usage(server, far, run):
    assert run("target", "sync", "far", "--volume", "v", "--confirm-vanished", "x").code == 2
    assert run("target", "sync", "far", "--timeout", "soon").code == 2
    assert run("catalog", "search", "--since", "yesterday").code == 2

"""The process that syncs, and the real server that it belongs to: neither outlives the other, and nothing is lost."""

import os
import select
import signal

import pytest

from tidegate.testing.stores.stored_samples import write_volume

PATIENCE_SECONDS = 60
VOLUMES, BACKUPS = 12, 100


@pytest.fixture
def syncing(server, tmp_path):
    """A server whose first sync has just begun: the pid of the process that carries it out, and a handle of it."""
    for number in range(VOLUMES):
        write_volume(tmp_path / "store", f"vol-{number:02}", backups=BACKUPS, blocks=False)
    server.tidegate("target", "create", "far", str(tmp_path / "store"), "--poll-interval", "0")
    pid = server.wait_for_log("process for syncs started")["pid"]
    handle = os.pidfd_open(pid)
    yield pid, handle
    os.close(handle)


def has_ended(handle):
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(PATIENCE_SECONDS * 1000))


def all_is_listed(server):
    server.tidegate("target", "sync", "far", "--wait")
    (found,) = server.get("catalog", "status")["targets"]
    return (found["volumes"], found["backups"], found["sync"]["errors"]) == (VOLUMES, VOLUMES * BACKUPS, 0)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_that_ends_in_the_middle_of_a_sync_takes_its_process_along_and_the_next_one_goes_on(
    server, syncing, how
):
    _, handle = syncing

    server.kill() if how is signal.SIGKILL else server.stop()

    assert has_ended(handle)
    assert all_is_listed(server.start())


def test_a_sync_whose_process_is_killed_is_begun_anew_by_the_server(server, syncing):
    pid, handle = syncing

    os.kill(pid, signal.SIGKILL)

    assert has_ended(handle)
    assert all_is_listed(server)

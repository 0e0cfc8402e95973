"""How a server starts, refuses and stops."""

import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time

import pytest

from tidegate.format.cfgs.lock_file import LockFile, LockType
from tidegate.format.cfgs.paths import lock_key, store_volume_name
from tidegate.testing.sample_data import fill_image


def test_a_first_start_makes_a_token_that_only_its_owner_can_read(server):
    mode = (server.state / "admin.token").stat().st_mode

    assert stat.S_IMODE(mode) == 0o600
    assert stat.S_IMODE(server.state.stat().st_mode) == 0o700


def test_a_second_server_on_the_same_directory_is_refused(server):
    refused = server.run_process("server", "--listen", "127.0.0.1:0")

    assert refused.returncode == 11
    assert refused.stderr.startswith("Error: another server (pid ")
    assert "--data-dir" in refused.stderr
    assert server.tidegate("backup", "get", "-o", "name") == ""


def test_a_port_in_use_is_one_clear_sentence_and_changes_nothing(idle_server):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = idle_server.run_process("server", "--listen", f"127.0.0.1:{port}")

    assert refused.returncode == 11
    assert refused.stderr.startswith(f"Error: port {port} on 127.0.0.1 is already in use")
    assert not (idle_server.state / "tidegate.db").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--listen", "nonsense"], "must be an address and a port"),
        (["--data-dir", "/proc/nothing/here"], "cannot use /proc/nothing/here"),
        (["--config", "missing.toml"], "no configuration file"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(idle_server, options, says):
    refused = idle_server.run_process("server", *options)

    assert refused.returncode == 4
    assert says in refused.stderr
    assert "Traceback" not in refused.stderr


def test_sigterm_stops_it_within_five_seconds_also_with_open_event_streams(server):
    connected, ended = threading.Barrier(4), []

    def follow():
        with server.client() as client, client.stream("GET", "/v1/events") as stream:
            lines = stream.iter_lines()
            next(lines)
            connected.wait(30)
            ended.append(list(lines))

    followers = [threading.Thread(target=follow) for _ in range(3)]
    for follower in followers:
        follower.start()
    connected.wait(30)
    began = time.monotonic()  # noqa: TID251  # the promise itself is about seconds

    code = server.stop()

    assert code == 0
    assert time.monotonic() - began < 5  # noqa: TID251
    for follower in followers:
        follower.join(10)
    assert len(ended) == 3
    assert not (server.state / "server.json").exists()


def test_a_stop_leaves_no_error_in_the_log(server):
    server.stop()
    server.wait_for_log("end of log")

    assert [record for record in server._log if record.get("level") == "error"] == []
    assert server.strange_words == []


def test_a_killed_server_leaves_a_directory_that_the_next_one_can_use(server):
    server.kill()
    unreachable = server.run("backup", "get")

    server.start()

    assert unreachable.returncode == 10
    assert "tidegate server" in unreachable.stderr
    assert server.tidegate("backup", "get", "-o", "name") == ""


def test_probes_answer_and_every_v1_call_needs_the_token(server):
    with server.client() as client:
        assert [client.get(path).status_code for path in ("/livez", "/readyz", "/metrics")] == [200, 200, 200]
        assert client.get("/v1/version").status_code == 200
        client.headers["Authorization"] = "Bearer wrong"
        assert client.get("/v1/version").status_code == 401


def test_configuration_says_where_each_value_came_from(idle_server):
    idle_server.root.joinpath("tidegate.toml").write_text('log_level = "debug"\n')
    shown = idle_server.tidegate("config", "show", "--origin")

    assert "TIDEGATE_DATA_DIR" in shown
    assert "tidegate.toml" in shown
    assert "default" in shown


def test_the_log_is_json_when_asked(idle_server):
    idle_server.start("--log-level", "info")

    os.kill(idle_server.process.pid, 15)
    record = idle_server.wait_for_log("server stopped")

    assert set(record) >= {"event", "level", "timestamp"}
    assert json.dumps(record)


def test_a_server_whose_log_nobody_reads_any_more_goes_on_and_stops_cleanly(idle_server):
    command = [sys.executable, "-m", "tidegate", "server", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, env=idle_server.environment, stderr=subprocess.PIPE)
    process.stderr.readline()
    process.stderr.close()  # as a log shipper that died
    with idle_server.client() as client:
        target = {"metadata": {"name": "t"}, "spec": {"url": f"file://{idle_server.root}"}}
        assert client.post("/v1/backuptargets", json=target).status_code == 201
        assert client.get("/readyz").status_code == 200

    process.terminate()

    assert process.wait(30) == 0


def test_sigterm_in_the_middle_of_a_transfer_stops_within_five_seconds_and_tells_it_afterwards(server, tmp_path):
    (tmp_path / "store").mkdir()
    fill_image(tmp_path / "image")
    # Somebody else deletes in the volume: however fast the machine is, the mover is busy waiting when the signal comes.
    lock = tmp_path / "store" / lock_key(store_volume_name("vm", "image"), "lock-0123456789abcdef")
    lock.parent.mkdir(parents=True)
    lock.write_bytes(LockFile("lock-0123456789abcdef", LockType.DELETION, acquired=True).encode())
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    server.tidegate("volume", "create", "image", "-n", "vm", "--image", str(tmp_path / "image"))
    server.tidegate("backup", "create", "b")
    server.wait_for_phase("DataUpload", "InProgress")
    began = time.monotonic()  # noqa: TID251  # the promise itself is about seconds

    assert server.stop() == 0
    assert time.monotonic() - began < 5  # noqa: TID251
    lock.unlink()
    server.start()
    ended = server.run("backup", "wait", "b", "--timeout", "60s")

    assert ended.returncode == 1
    assert "the server stopped while this was in progress" in server.tidegate("backup", "describe", "b")
    assert list((tmp_path / "store").rglob("backup_*.cfg")) == []

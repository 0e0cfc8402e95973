"""What strangers can do at the doors of a real server."""

import contextlib
import resource
import socket

import httpx2


@contextlib.contextmanager
def few_descriptors(number):
    """What is started meanwhile may have only so many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def alive(server):
    return httpx2.get(f"{server.url}/livez").text == "ok\n"


def accept_failures(server):
    return [record for record in server._log if record["event"].startswith("socket.accept() out of system resource")]


def test_connections_that_never_finish_a_request_stop_no_answers_and_fill_no_log(idle_server):
    with few_descriptors(256):
        server = idle_server.start()
    address = httpx2.URL(server.url)
    with contextlib.ExitStack() as held:
        for _ in range(400):
            stranger = held.enter_context(socket.create_connection((address.host, address.port)))
            stranger.send(b"GET / HT")

        assert server.tidegate("backup", "get", "-o", "name") == ""
        assert alive(server)
    server.stop()

    assert accept_failures(server) == []  # movers and databases had descriptors all the time
    assert len(server._log) < 50


def test_a_server_without_descriptors_writes_few_lines_and_answers_when_it_has_some_again(idle_server):
    server = idle_server.start()
    assert alive(server)  # it has loaded what it serves with
    url, pid = httpx2.URL(server.url), server.process.pid
    with contextlib.ExitStack() as held:
        held.callback(resource.prlimit, pid, resource.RLIMIT_NOFILE, resource.prlimit(pid, resource.RLIMIT_NOFILE))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        waiting = held.enter_context(socket.create_connection((url.host, url.port)))
        with server._logged:
            assert server._logged.wait_for(lambda: accept_failures(server), 60)
        held.pop_all().close()
        waiting.close()
    assert alive(server)
    server.stop()

    assert len(server._log) < 50


def test_an_operator_cannot_restore_into_the_servers_own_data_directory(server, tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "file").write_text("x")
    (tmp_path / "link").symlink_to(server.state)
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    server.tidegate("volume", "create", "home/docs", "--directory", str(tmp_path / "docs"))
    server.tidegate("backup", "create", "b", "--wait")
    before = sorted(server.state.iterdir())

    for place in (server.state, server.state / "secrets", tmp_path / "link" / "hooks"):
        for verb in ("plan", "create"):
            refused = server.run("restore", verb, "--from-backup", "b", "--to", str(place))
            assert (refused.returncode, "the data directory of this server" in refused.stdout + refused.stderr) == (
                6,
                True,
            )

    assert sorted(server.state.iterdir()) == before
    assert server.get("restore", "get")["items"] == []


def test_a_restore_that_waits_while_its_place_becomes_a_link_into_a_store_fails(server, tmp_path):
    for name in ("store", "usb", "docs"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs" / "file").write_text("x")
    server.tidegate("target", "create", "disk", str(tmp_path / "store"), "--default")
    server.tidegate("target", "create", "usb", str(tmp_path / "usb"))
    server.tidegate("volume", "create", "home/docs", "--directory", str(tmp_path / "docs"))
    server.tidegate("backup", "create", "b", "--wait")
    told = f"is, holds or lies in {tmp_path / 'usb'}, the store of target usb"
    for verb in ("plan", "create"):
        refused = server.run("restore", verb, "--from-backup", "b", "--to", str(tmp_path / "usb" / "x"))
        assert (refused.returncode, told in refused.stdout + refused.stderr) == (6, True)
    server.tidegate("setting", "set", "concurrent-backup-restore-limit", "0")
    server.tidegate("restore", "create", "r", "--from-backup", "b", "--to", str(tmp_path / "later" / "x"))
    (tmp_path / "later").symlink_to(tmp_path / "usb")
    before = sorted((tmp_path / "usb").rglob("*"))

    server.tidegate("setting", "set", "concurrent-backup-restore-limit", "4")
    server.run("restore", "wait", "r")

    assert server.get("restore", "get", "r")["status"]["phase"] == "Failed"
    assert told in server.tidegate("restore", "describe", "r")
    assert sorted((tmp_path / "usb").rglob("*")) == before


def test_a_restore_that_waits_while_its_place_becomes_a_link_into_the_data_directory_fails(server, tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "file").write_text("x")
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    server.tidegate("volume", "create", "home/docs", "--directory", str(tmp_path / "docs"))
    server.tidegate("backup", "create", "b", "--wait")
    server.tidegate("setting", "set", "concurrent-backup-restore-limit", "0")
    server.tidegate("restore", "create", "r", "--from-backup", "b", "--to", str(tmp_path / "later" / "hooks"))
    (tmp_path / "later").symlink_to(server.state)
    before = sorted((server.state / "hooks").rglob("*"))

    server.tidegate("setting", "set", "concurrent-backup-restore-limit", "4")
    server.run("restore", "wait", "r")

    assert server.get("restore", "get", "r")["status"]["phase"] == "Failed"
    assert "the data directory of this server" in server.tidegate("restore", "describe", "r")
    assert sorted((server.state / "hooks").rglob("*")) == before

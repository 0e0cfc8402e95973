"""A data directory whose disk is full."""

import contextlib
import subprocess

import pytest

from tidegate.testing.machine.server_process import ServerProcess


@pytest.fixture
def small_disk(tmp_path):
    """A file system of eight megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("needs the right to mount a small file system")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk):
    """Leave no room for anything."""
    with contextlib.suppress(OSError), (disk / "filler").open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))


@pytest.fixture
def idle(tmp_path, small_disk):
    server = ServerProcess(tmp_path)
    server.state = small_disk
    server.environment["TIDEGATE_DATA_DIR"] = str(small_disk)
    yield server
    server.stop()


def test_a_server_on_a_full_disk_starts_shows_its_backups_and_restores_them(idle, small_disk, tmp_path):
    server = idle.start()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "file").write_text("x")
    (tmp_path / "store").mkdir()
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    server.tidegate("volume", "create", "home/docs", "--directory", str(tmp_path / "docs"))
    server.tidegate("backup", "create", "b", "--wait")
    server.kill()
    fill(small_disk)

    server.start()

    server.wait_for_log("the disk of the data directory is full; its reserve is used to start")
    assert server.tidegate("backup", "get", "-o", "name") == "backup/b\n"
    server.tidegate("restore", "create", "--from-backup", "b", "--to", str(tmp_path / "back"), "--wait")
    assert [path.read_text() for path in (tmp_path / "back").rglob("file")] == ["x"]
    server.stop()
    (small_disk / "filler").unlink()
    server.start()
    assert (small_disk / "reserve").exists()


def test_a_first_start_on_a_full_disk_says_so_in_one_sentence(idle, small_disk):
    fill(small_disk)

    refused = idle.run_process("server", "--listen", "127.0.0.1:0")

    assert refused.returncode == 1
    assert f"no space left for {small_disk}" in refused.stderr
    assert "free some space" in refused.stderr
    assert "Traceback" not in refused.stderr

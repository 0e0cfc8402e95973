"""What only a real process on a real terminal or pipe shows."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import threading

import pytest

from tidegate.model.backups.backup import BackupPhase
from tidegate.model.transfers.transfer import BACKUP_LABEL
from tidegate.testing.resources.builders import a_backup, a_transfer

# As in a terminal: a shell that runs the tests in the background has them ignore Ctrl-C, and they inherit that.
MAIN = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from tidegate.cli.root import build_app; from tidegate.testing.clock import ManualClock; "
    "build_app(ManualClock())(prog_name='tidegate')"
)
SECONDS = 30


def start(tmp_path, *args, **streams):
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("TIDEGATE_", "NO_COLOR"))}
    variables |= {"HOME": str(tmp_path), "TIDEGATE_DATA_DIR": str(tmp_path / "data"), "TERM": "xterm", "COLUMNS": "200"}
    command = [sys.executable, "-c", MAIN, *args]
    return subprocess.Popen(command, env=variables, cwd=tmp_path, **streams)


@contextlib.contextmanager
def on_a_terminal(tmp_path, *args):
    """A process whose standard streams are a terminal; yields it and our end of the terminal."""
    ours, theirs = pty.openpty()
    process = start(tmp_path, *args, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait(SECONDS)
        os.close(ours)


def read_until(terminal, words):
    """What the terminal shows, until these words or the end."""
    shown = ""
    while words not in shown:
        readable, _, _ = select.select([terminal], [], [], SECONDS)
        assert readable, f"nothing more came after {shown!r}"
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece.decode("utf-8", "replace")
    return shown


@pytest.mark.parametrize(("answer", "code", "left"), [(b"y\n", 0, 0), (b"n\n", 1, 1)])
def test_on_a_terminal_a_deletion_asks(server, tmp_path, answer, code, left):
    server.put(a_backup("nightly"))

    with on_a_terminal(tmp_path, "backup", "delete", "nightly") as (process, terminal):
        assert "Delete the backup nightly?" in read_until(terminal, "?")
        os.write(terminal, answer)
        read_until(terminal, "no such words")
        assert process.wait(SECONDS) == code

    assert len(server.resources) == left


def test_on_a_terminal_waiting_draws_a_bar_per_volume_and_the_queue(server, tmp_path):
    waiting = {"type": "Waiting", "status": "True", "reason": "ConcurrencyLimit", "message": "1 of 1 run"}
    server.put(a_backup("nightly"), phase="Queued", queuePosition=2, conditions=[waiting])
    start_moving, finish = threading.Event(), threading.Event()

    def move():
        start_moving.wait(SECONDS)
        server.put(a_backup("nightly"), phase="InProgress")
        for name in ("db", "files"):
            upload = a_transfer(name, volume=("shop", name)).with_metadata(labels={BACKUP_LABEL: "uid-of-nightly"})
            progress = {"stage": "uploading", "bytesDone": 512, "totalBytes": 1024, "bytesPerSecond": 256.0}
            server.put(upload, phase="InProgress", progress=progress)
        finish.wait(SECONDS)
        server.put(a_backup("nightly"), phase="Completed")

    mover = threading.Thread(target=move)
    server.when_listening(mover.start)
    with on_a_terminal(tmp_path, "backup", "wait", "nightly") as (process, terminal):
        shown = read_until(terminal, "number 2 in the queue")
        start_moving.set()
        shown += read_until(terminal, "all volumes")
        finish.set()
        shown += read_until(terminal, "no such words")
        assert process.wait(SECONDS) == 0
    mover.join()

    assert "ConcurrencyLimit: 1 of 1 run" in shown
    assert "shop/db" in shown
    assert "shop/files" in shown
    assert "512 B of 1.0 KiB (50 %), 256 B/s, 2s left" in shown
    assert "Backup nightly: Completed" in shown


def test_ctrl_c_stops_only_the_waiting(server, tmp_path):
    server.put(a_backup("nightly"))
    listening = threading.Event()
    server.when_listening(listening.set)
    process = start(tmp_path, "backup", "wait", "nightly", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    assert listening.wait(SECONDS)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)

    assert process.returncode == 130
    assert out == ""
    assert "The backup nightly goes on." in err
    assert "Traceback" not in err


def test_ctrl_c_ends_a_watch_quietly(server, tmp_path):
    server.put(a_backup("nightly"))
    listening = threading.Event()
    server.when_listening(listening.set)
    process = start(tmp_path, "backup", "get", "-w", "-o", "name", stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    assert listening.wait(SECONDS)
    process.send_signal(signal.SIGINT)

    assert process.communicate(timeout=SECONDS) == (b"backup/nightly\n", b"")
    assert process.returncode == 130


def test_a_reader_that_has_seen_enough_ends_the_command_quietly(server, tmp_path):
    for number in range(300):
        server.put({**a_backup("b").to_wire(), "metadata": {"name": f"b{number}"}})
    reading, writing = os.pipe()
    os.close(reading)

    process = start(tmp_path, "backup", "get", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    _, err = process.communicate(timeout=SECONDS)

    assert (process.returncode, err) == (0, b"")


def test_the_outcome_is_told_even_if_nobody_reads_the_data(server, tmp_path):
    server.put(a_backup("nightly", phase=BackupPhase.FAILED))
    reading, writing = os.pipe()
    os.close(reading)

    process = start(tmp_path, "backup", "wait", "nightly", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    process.communicate(timeout=SECONDS)

    assert process.returncode == 1

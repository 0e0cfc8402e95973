"""The process `tidegate mover`: one job from standard input, JSON lines on standard output, then the end."""

import os
import signal
import sys
import threading

from tidegate.app.workshop import real_workshop
from tidegate.datapath.work import carry_out
from tidegate.errors import InvalidInput
from tidegate.model.mover_job import ErrorReport, read_job
from tidegate.ports.mover_host import Report

_NO_JOB = 2


def run_mover() -> int:
    """Carry out one job. The exit code is 0 if it was one: its last words tell how it went. 2: it was none."""
    cancelled = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: cancelled.set())
    line = sys.stdin.buffer.readline()
    threading.Thread(target=_stop_with_the_server, args=(cancelled,), daemon=True).start()
    try:
        job = read_job(line)
    except InvalidInput as error:
        _say(ErrorReport(code=error.code, message=f"the mover was given no job that it knows: {error.message}"))
        return _NO_JOB
    carry_out(job, real_workshop(pause=cancelled.wait), report=_say, cancelled=cancelled)
    return 0


def _say(report: Report) -> None:
    sys.stdout.write(report.to_json() + "\n")
    sys.stdout.flush()


def _stop_with_the_server(cancelled: threading.Event) -> None:
    """Our standard input is a pipe that only the server holds: its end is the server's end."""
    # Not through the buffered reader: its lock, held by a thread that waits, aborts the interpreter at its end.
    while os.read(sys.stdin.fileno(), 65536):
        pass
    cancelled.set()

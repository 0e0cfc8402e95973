"""The process `tidegate mover`: one job from standard input, JSON lines on standard output, then the end."""

import os
import signal
import sys
import threading

from tidegate.app.workshop import real_workshop
from tidegate.datapath.work import carry_out
from tidegate.model.mover_job import MOVER_JOB
from tidegate.ports.mover_host import Report


def run_mover() -> int:
    """Carry out one job. The exit code is 0 whenever last words were said: they tell how it went."""
    cancelled = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: cancelled.set())
    line = sys.stdin.buffer.readline()
    threading.Thread(target=_stop_with_the_server, args=(cancelled,), daemon=True).start()
    shop = real_workshop(pause=cancelled.wait)
    carry_out(MOVER_JOB.validate_json(line), shop, report=_say, cancelled=cancelled)
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

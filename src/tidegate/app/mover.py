"""The process `tidegate mover`: one job from standard input, JSON lines on standard output, then the end."""

import os
import signal
import sys
import threading
from functools import partial

from tidegate.app.clock import SystemClock
from tidegate.app.encryption_key import find_key
from tidegate.app.identity import new_id
from tidegate.datapath.work import carry_out
from tidegate.datapath.workshop import Workshop
from tidegate.model.mover_job import MOVER_JOB
from tidegate.objects.open import open_store
from tidegate.ports.mover_host import Report
from tidegate.volumes.open import open_sink, open_source


def run_mover() -> int:
    """Carry out one job. The exit code is 0 whenever last words were said: they tell how it went."""
    cancelled = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: cancelled.set())
    line = sys.stdin.buffer.readline()
    threading.Thread(target=_stop_with_the_server, args=(cancelled,), daemon=True).start()
    shop = Workshop(
        open_store=partial(open_store, pause=cancelled.wait),
        open_source=open_source,
        open_sink=open_sink,
        clock=SystemClock(),
        new_id=new_id,
        find_key=find_key,
    )
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

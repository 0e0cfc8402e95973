"""The process `tidegate mover`: one job from standard input, JSON lines on standard output, then the end."""

import resource
import signal
import sys
import threading

from tidegate.app.processes.mover_input import MoverInput
from tidegate.app.processes.workshop import real_workshop
from tidegate.datapath.work import carry_out
from tidegate.datapath.workshop import Workshop
from tidegate.errors import InvalidInput
from tidegate.model.transfers.mover_job import ErrorReport, ReadyReport, RemoveJob, read_job
from tidegate.ports.mover_host import Job, Report

_NO_JOB = 2
_MIB = 1024 * 1024
# Stacks count as used as soon as a thread has one; none of ours goes deep.
_STACK = 2 * _MIB
# What the process needs before it has moved anything, and room to tell what went wrong.
_LEAST_ROOM = 96 * _MIB


def run_mover() -> int:
    """Carry out one job. The exit code is 0 if it was one: its last words tell how it went. 2: it was none."""
    told = MoverInput(sys.stdin.fileno())
    signal.signal(signal.SIGTERM, lambda _number, _frame: told.stop())
    line = told.line()
    try:
        job = read_job(line)
    except InvalidInput as error:
        _say(ErrorReport(code=error.code, message=f"the mover was given no job that it knows: {error.message}"))
        return _NO_JOB
    bound_memory(job)
    shop = real_workshop(pause=told.cancelled.wait)
    told.obey(lambda upload, download: _limit(shop, upload, download))
    carry_out(job, shop, report=_say, cancelled=told.cancelled, on_ready=lambda ready: _get_ready(told, ready))
    return 0


def _get_ready(told: MoverInput, ready: ReadyReport) -> None:
    _say(ready)
    told.wait_for_go()


def _limit(shop: Workshop, upload: int | None, download: int | None) -> None:
    if shop.bandwidth is not None:
        shop.bandwidth.set(upload=upload, download=download)


def _say(report: Report) -> None:
    sys.stdout.write(report.to_json() + "\n")
    sys.stdout.flush()


def bound_memory(job: Job) -> None:
    """The last resort: the data path keeps to the limit by itself, and a mistake of its must not starve the machine."""
    if isinstance(job, RemoveJob) or job.memory_bytes is None:
        return
    threading.stack_size(_STACK)
    limit = max(job.memory_bytes, _LEAST_ROOM)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

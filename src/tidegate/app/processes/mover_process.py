"""One mover as a process, however it was started: what it is told, what it says, and how it ends."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from typing import Protocol

from tidegate.app.processes.report_record import ReportRecord
from tidegate.errors import InvalidInput, WorkCancelled
from tidegate.model.transfers.mover_job import (
    MOVER_DIED,
    ErrorReport,
    ProgressReport,
    ReadyReport,
    RemoveJob,
    read_report,
)
from tidegate.model.transfers.mover_orders import BandwidthOrder, GoOrder, MoverOrder
from tidegate.ports.mover_host import HostedMover, Job, Orders, Report

LONGEST_LINE = 4 * 1024 * 1024
# How long a mover may take to clean up after being asked to stop.
_GRACE_SECONDS = 3.0
_KEPT_STDERR = 4096
UNKNOWN_END = 255
"""The exit code of a process whose end nobody could see."""


class Process(Protocol):
    """What asyncio's own processes offer, as far as a mover needs it."""

    stdin: asyncio.StreamWriter | None
    stdout: asyncio.StreamReader | None
    stderr: asyncio.StreamReader | None

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    @property
    def returncode(self) -> int | None:
        """None while it runs; negative: the signal that ended it."""
        ...

    def send_signal(self, signal: int) -> None:
        """Raises ProcessLookupError if it is gone."""
        ...

    async def wait(self) -> int:
        """Return once it is gone."""
        ...


class ProcessMover:
    """One process. Its standard input stays open: a mover that reads its end has lost its server, and stops."""

    def __init__(self, process: Process, job: Job, label: HostedMover) -> None:
        self.label = label
        self.process = process
        self._record = ReportRecord()
        self._orders = Orders()
        self._limits = _limits_in(job)
        self._stderr = asyncio.create_task(self._keep_stderr())
        self._killer: asyncio.Task[None] | None = None
        self._write(job.to_json())
        self._listening = asyncio.create_task(self._listen(), name=f"listen to mover {label.name}")

    def reports(self) -> AsyncIterator[Report]:
        """What it said and says; see `MoverHost.adopt`."""
        return self._record.read()

    def order(self, orders: Orders) -> None:
        """Pass on what is new in them."""
        if (orders.upload, orders.download) != self._limits:
            self._limits = (orders.upload, orders.download)
            self._send(BandwidthOrder(upload=orders.upload, download=orders.download))
        if orders.go and not self._orders.go:
            self._send(GoOrder())
        if orders.cancel:
            self.cancel()
        self._orders = orders.replace(go=orders.go or self._orders.go)

    def cancel(self) -> None:
        """Ask it to stop; if it does not within the grace time, end it."""
        if self.process.returncode is None and self._killer is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGTERM)
            self._killer = asyncio.create_task(self._kill_after_grace())

    @property
    def has_ended(self) -> bool:
        """Whether its process is gone and its last words are known."""
        return self._record.ended

    async def ended(self) -> None:
        """Return once the process is gone and its last words are known."""
        await self._listening

    async def _listen(self) -> None:
        """Note what it says, then its last words, whatever happened to it; those once its process is gone."""
        last: Report | None = None
        assert self.process.stdout is not None  # noqa: S101  # asked for at the start
        async for line in self.process.stdout:
            try:
                last = read_report(line)
            except InvalidInput:
                continue  # a library printed something; it is not for us
            if not isinstance(last, ReadyReport | ProgressReport):
                break
            self._record.note(last)
        if last is None or isinstance(last, ReadyReport | ProgressReport):
            last = await self._obituary()
        await self.process.wait()
        if self._killer is not None:
            self._killer.cancel()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self._record.note(last)

    def _send(self, order: MoverOrder) -> None:
        if self.process.returncode is None:
            self._write(order.to_json())

    def _write(self, line: str) -> None:
        assert self.process.stdin is not None  # noqa: S101  # asked for at the start
        if not self.process.stdin.is_closing():
            self.process.stdin.write(line.encode() + b"\n")

    async def _kill_after_grace(self) -> None:
        await asyncio.sleep(_GRACE_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)

    async def _keep_stderr(self) -> bytes:
        """The tail of what it printed on standard error: the last words of a mover that died."""
        assert self.process.stderr is not None  # noqa: S101  # asked for at the start
        tail = b""
        while chunk := await self.process.stderr.read(_KEPT_STDERR):
            tail = (tail + chunk)[-_KEPT_STDERR:]
        return tail

    async def _obituary(self) -> ErrorReport:
        code = await self.process.wait()
        if code == -signal.SIGTERM and self._killer is not None:
            # Asked to stop before it could listen: it had not begun.
            return ErrorReport(code=WorkCancelled.code, message="the work was cancelled")
        how = f"ended with exit code {code}"
        if code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
        elif code == UNKNOWN_END:
            how = "ended, and nobody saw how"
        words = (await self._stderr).decode(errors="replace").strip().splitlines()
        return ErrorReport(
            code=MOVER_DIED, message=f"the mover {how}" + (f"; its last words: {words[-1]}" if words else "")
        )


def _limits_in(job: Job) -> tuple[int | None, int | None]:
    return (None, None) if isinstance(job, RemoveJob) else (job.upload_bytes_per_second, job.download_bytes_per_second)

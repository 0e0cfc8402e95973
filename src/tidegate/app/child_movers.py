"""Movers as child processes of the server: memory goes back at the end, a crash stays small, cancel is a signal."""

import asyncio
import contextlib
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from tidegate.app.encryption_key import with_key_of_machine, without_key
from tidegate.app.workshop import MAPS_DIR
from tidegate.errors import InvalidInput, RetryableError
from tidegate.model.mover_job import ErrorReport, ProgressReport, read_report
from tidegate.ports.mover_host import Job, Mover, Report

# How long a mover may take to clean up after being asked to stop.
_GRACE_SECONDS = 3.0
_LONGEST_LINE = 4 * 1024 * 1024
_KEPT_STDERR = 4096


@dataclass
class ChildMovers:
    """Keeps the MoverHost's promise with `tidegate mover` processes, which remember their uploads in `maps`."""

    maps: Path
    _running: set["ChildMover"] = field(default_factory=set)

    async def start(self, job: Job) -> Mover:
        """Start a process and hand it its job."""
        job = job.replace(target=with_key_of_machine(job.target))
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tidegate",
                "mover",
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                limit=_LONGEST_LINE,
                # A person who set the variable for the server meant its movers.
                env={MAPS_DIR: str(self.maps.absolute()), **without_key()},
                # A Ctrl-C on the terminal is for the server; it tells its movers what to do.
                start_new_session=True,
            )
        except OSError as error:
            raise RetryableError(f"no mover could be started: {error.strerror}") from error
        mover = ChildMover(process, self._running.discard)
        self._running.add(mover)
        assert process.stdin is not None  # noqa: S101  # asked for above
        process.stdin.write(job.to_json().encode() + b"\n")
        return mover

    async def close(self) -> None:
        """Ask all to stop, and make sure of it."""
        movers = list(self._running)
        for mover in movers:
            mover.cancel()
        await asyncio.gather(*(mover.ended() for mover in movers))


class ChildMover:
    """One process. Its standard input stays open: a mover that reads its end has lost its server, and stops."""

    def __init__(self, process: Process, on_end: Callable[["ChildMover"], None]) -> None:
        self._process = process
        self._on_end = on_end
        self._stderr = asyncio.create_task(self._keep_stderr())
        self._killer: asyncio.Task[None] | None = None

    async def reports(self) -> AsyncIterator[Report]:
        """What it says, then its last words, whatever happened to it."""
        last: Report | None = None
        assert self._process.stdout is not None  # noqa: S101  # asked for at the start
        async for line in self._process.stdout:
            try:
                last = read_report(line)
            except InvalidInput:
                continue  # a library printed something; it is not for us
            if not isinstance(last, ProgressReport):
                break
            yield last
        if last is None or isinstance(last, ProgressReport):
            last = ErrorReport(code="InternalError", message=await self._obituary())
        await self.ended()
        yield last

    def cancel(self) -> None:
        """Ask it to stop; if it does not within the grace time, end it."""
        if self._process.returncode is None and self._killer is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            self._killer = asyncio.create_task(self._kill_after_grace())

    async def ended(self) -> None:
        """Return once the process is gone."""
        await self._process.wait()
        if self._killer is not None:
            self._killer.cancel()
        self._on_end(self)

    async def _kill_after_grace(self) -> None:
        await asyncio.sleep(_GRACE_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def _keep_stderr(self) -> bytes:
        """The tail of what it printed on standard error: the last words of a mover that died."""
        assert self._process.stderr is not None  # noqa: S101  # asked for at the start
        tail = b""
        while chunk := await self._process.stderr.read(_KEPT_STDERR):
            tail = (tail + chunk)[-_KEPT_STDERR:]
        return tail

    async def _obituary(self) -> str:
        code = await self._process.wait()
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        words = (await self._stderr).decode(errors="replace").strip().splitlines()
        return f"the mover {how}" + (f"; its last words: {words[-1]}" if words else "")

"""A process that the nursery forked for us: not our child, but held by a handle that can mean no other process."""

import asyncio
import os
import signal

from tidegate.app.processes.mover_process import LONGEST_LINE, UNKNOWN_END

Ends = tuple[int, int, int]


def three_pipes() -> tuple[Ends, Ends]:
    """Our ends and the process's ends of its standard input, output and error."""
    made: list[int] = []
    try:
        for _ in range(3):
            made.extend(os.pipe())
    except OSError:
        for end in made:
            os.close(end)
        raise
    (their_in, our_in, our_out, their_out, our_err, their_err) = made
    return (our_in, our_out, our_err), (their_in, their_out, their_err)


class ForkedProcess:
    """Offers what asyncio's own processes do, as far as a mover needs it."""

    def __init__(self, pid: int, handle: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._handle: int | None = handle
        self._end: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def connect(self, ends: Ends) -> None:
        """Give it streams on our ends of its pipes."""
        loop = asyncio.get_running_loop()
        to_stdin, from_stdout, from_stderr = ends
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(to_stdin, "wb", 0)
        )
        self.stdin = asyncio.StreamWriter(transport, protocol, None, loop)
        self.stdout, self.stderr = [await _reader(end) for end in (from_stdout, from_stderr)]

    def send_signal(self, signal_number: int) -> None:
        """Raises ProcessLookupError if it is gone."""
        if self._handle is None:
            raise ProcessLookupError
        signal.pidfd_send_signal(self._handle, signal.Signals(signal_number))

    async def wait(self) -> int:
        """Return once it is gone."""
        return await asyncio.shield(self._end)

    def has_ended(self, code: int) -> None:
        """Somebody saw how."""
        if self._handle is not None:
            self.returncode = code
            os.close(self._handle)
            self._handle = None
            self._end.set_result(code)

    def watch_handle(self) -> None:
        """Nobody will tell us of its end; the handle tells that it ended, not how."""
        if self._handle is not None:
            asyncio.get_running_loop().add_reader(self._handle, self._seen)

    def _seen(self) -> None:
        if self._handle is not None:
            asyncio.get_running_loop().remove_reader(self._handle)
        self.has_ended(UNKNOWN_END)


async def _reader(end: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(end, "rb", 0)
    )
    return reader

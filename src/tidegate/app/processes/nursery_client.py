"""The server's side of the nursery: asks for processes, hears of their ends, and notices if the nursery is gone."""

import asyncio
import contextlib
import os
import socket
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidegate.app.processes.forked_process import ForkedProcess, three_pipes
from tidegate.app.processes.nursery import ANSWERS, LONGEST_MESSAGE, ORDERS, Exited, Fork, Forked, Trade

_PATIENCE_SECONDS = 20.0


class NurseryGone(Exception):
    """It died, or does not answer."""


@dataclass
class Nursery:
    """One at a time, started when the first process is wanted, and anew after it died.

    Its processes outlive it: they hold on to the server. Of those nobody hears how they ended, only that they did.
    """

    environment: Callable[[], Mapping[str, str]]
    pid: int | None = None
    _process: asyncio.subprocess.Process | None = None
    _socket: socket.socket | None = None
    _next_number: int = 0
    _asked: dict[int, "asyncio.Future[ForkedProcess]"] = field(default_factory=dict)
    _children: dict[int, ForkedProcess] = field(default_factory=dict)
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _ending: list[asyncio.subprocess.Process] = field(default_factory=list)
    """Nurseries that were lost: they end by themselves, but somebody has to see them off."""

    async def fork(self, trade: Trade) -> ForkedProcess:
        """A process that waits for its work. Raises NurseryGone, or OSError if the system has no room for one more."""
        async with self._starting:
            if self._socket is None:
                await self._start()
        number = self._next_number = self._next_number + 1
        answer: asyncio.Future[ForkedProcess] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        ours, theirs = three_pipes()
        try:
            self._ask(number, trade, theirs)
            async with asyncio.timeout(_PATIENCE_SECONDS):
                child = await answer
        except BaseException as error:
            for end in ours:  # one that was forked all the same reads the end, and stops
                os.close(end)
            if isinstance(error, OSError | TimeoutError | NurseryGone):
                self._lost()
                raise NurseryGone(str(error) or "it does not answer") from error
            raise
        finally:
            self._asked.pop(number, None)
            for end in theirs:
                os.close(end)
        await child.connect(ours)
        return child

    async def close(self) -> None:
        """End it, also while it still loads: without its server it has nothing to do, and it takes nobody along."""
        self._lost()
        for process in self._ending:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        self._ending.clear()

    async def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "tidegate",
                    "mover-nursery",
                    stdin=theirs.fileno(),
                    stdout=DEVNULL,
                    env=self.environment(),
                    start_new_session=True,
                )
            except OSError:
                ours.close()
                raise
        ours.setblocking(False)  # noqa: FBT003  # the standard library has it so
        self._socket, self.pid = ours, self._process.pid
        asyncio.get_running_loop().add_reader(ours, self._hear)

    def _ask(self, number: int, trade: Trade, handles: tuple[int, int, int]) -> None:
        if self._socket is None:
            raise NurseryGone("it died")
        socket.send_fds(self._socket, [ORDERS.encode(Fork(number=number, trade=trade))], handles)

    def _hear(self) -> None:
        while self._socket is not None:
            try:
                message, handles, *_ = socket.recv_fds(self._socket, LONGEST_MESSAGE, 1)
            except BlockingIOError:
                return
            except OSError:
                message, handles = b"", []
            if not message:
                self._lost()
                return
            match ANSWERS.decode(message):
                case Forked(number=number, pid=pid):
                    self._forked(number, pid, handles[0])
                case Exited(number=number, status=status):
                    if child := self._children.pop(number, None):
                        child.has_ended(os.waitstatus_to_exitcode(status))

    def _forked(self, number: int, pid: int, handle: int) -> None:
        # Known from here on, also if nobody waits for it any more: its end may be the next thing that we hear.
        child = self._children[number] = ForkedProcess(pid, handle)
        answer = self._asked.get(number)
        if answer is not None and not answer.done():
            answer.set_result(child)

    def _lost(self) -> None:
        """Forget it, so that the next one gets a new nursery; those that it forked are watched by their handles."""
        if self._socket is None:
            return
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()
        self._ending = [process for process in self._ending if process.returncode is None]
        if self._process is not None:
            self._ending.append(self._process)
        self._socket = self._process = self.pid = None
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(NurseryGone("it died"))
                with contextlib.suppress(NurseryGone):
                    answer.result()
        for child in self._children.values():
            child.watch_handle()
        self._children.clear()

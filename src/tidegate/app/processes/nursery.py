"""The process `tidegate mover-nursery`: loads what movers need once, then forks one for each that the server asks for.

A Python process takes a third of a second to load a mover; a fork of one that has loaded it takes milliseconds. So
that a fork is safe, this process has one thread, opens no store and no volume, and holds nothing of a mover once it is
forked: the other end of a mover's standard input is the server's alone, and its end is the server's end. The process
that syncs the catalogue comes from here too.

The server's socket is standard input, with one message in each packet. `Fork` comes with the three standard handles of
the process; the answer `Forked` comes with a handle of the process, and `Exited` follows at its end. A nursery whose
server is gone ends. A nursery that dies takes nobody with it.
"""

import importlib
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NoReturn

from tidegate.app.machine.collector import loading
from tidegate.disk.messages import Messages
from tidegate.model.plain import Plain

LONGEST_MESSAGE = 256
_STANDARD_HANDLES = 3
# Loaded only when they are needed elsewhere; none of them starts a thread when it is loaded (a test looks).
_LATE = (
    "tidegate.app.processes.mover",
    "tidegate.app.processes.sync_process",
    "tidegate.objects.open_reader",
    "tidegate.objects.mounts",
    "tidegate.objects.mount_plan",
    "tidegate.objects.pacing",
    "tidegate.objects.place",
    "tidegate.objects.remote",
    "tidegate.objects.remote_clients",
    "tidegate.volumes.images.device_sink",
    "tidegate.volumes.trees.directory",
    "tidegate.volumes.images.image",
    "tidegate.volumes.images.sink",
    "tidegate.volumes.trees.sink",
    "json.decoder",
    "encodings.idna",
)


class Trade(StrEnum):
    """What a forked process becomes; also the command that starts one of its own."""

    MOVER = "mover"
    SYNC = "catalogue-sync"


@dataclass(frozen=True, kw_only=True)
class Fork(Plain):
    """Fork one more process."""

    type: Literal["fork"] = "fork"
    number: int
    trade: Trade


@dataclass(frozen=True, kw_only=True)
class Forked(Plain):
    """It is there."""

    type: Literal["forked"] = "forked"
    number: int
    pid: int


@dataclass(frozen=True, kw_only=True)
class Exited(Plain):
    """It is gone; `status` is that of `os.waitpid`."""

    type: Literal["exited"] = "exited"
    number: int
    status: int


ORDERS: Messages[Fork] = Messages([Fork])
ANSWERS: Messages[Forked | Exited] = Messages([Forked, Exited])


def can_nurse() -> bool:
    """Whether this system can fork, hand over open handles and watch a process by one."""
    return all(hasattr(module, name) for module, name in ((os, "fork"), (os, "pidfd_open"), (socket, "send_fds")))


def run_nursery() -> int:
    """Fork movers until the server is gone."""
    server = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    _stand_in_for_stdin()
    # What is loaded also stays shared with the movers: their collectors do not touch it.
    with loading():
        for name in _LATE:
            importlib.import_module(name)
    return _Nursery(server).run()


def _stand_in_for_stdin() -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _work_of(trade: Trade) -> int:
    if trade is Trade.SYNC:
        from tidegate.app.processes.sync_process import run_sync_process

        return run_sync_process()
    from tidegate.app.processes.mover import run_mover

    return run_mover()


class _Nursery:
    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._bell, self._rope = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(self._rope, False)
        self._numbers: dict[int, int] = {}

    def run(self) -> int:
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._rope, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._server.fileno(), select.POLLIN)
        poll.register(self._bell, select.POLLIN)
        while True:
            ready = [handle for handle, _ in poll.poll()]
            if self._bell in ready:
                os.read(self._bell, 4096)
                self._tell_of_the_ended()
            if self._server.fileno() in ready:
                message, handles = self._hear()
                if not message:
                    return 0
                order = ORDERS.decode(message)
                self._fork(order.number, order.trade, handles)

    def _hear(self) -> tuple[bytes, Sequence[int]]:
        """The next message with its handles; an empty one at the server's end."""
        try:
            message, handles, *_ = socket.recv_fds(self._server, LONGEST_MESSAGE, _STANDARD_HANDLES)
        except ConnectionResetError:  # the server was killed before it had read what it was told
            return b"", ()
        return message, handles

    def _fork(self, number: int, trade: Trade, handles: Sequence[int]) -> None:
        pid = os.fork()
        if pid == 0:
            self._become(trade, handles)
        for handle in handles:
            os.close(handle)
        self._numbers[pid] = number
        # Nobody but us can take away the process before we have looked: the handle is of this one, and no other.
        process = os.pidfd_open(pid)
        self._tell(Forked(number=number, pid=pid), process)
        os.close(process)

    def _become(self, trade: Trade, handles: Sequence[int]) -> NoReturn:
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            self._server.close()
            os.close(self._bell)
            os.close(self._rope)
            for number, handle in enumerate(handles):
                os.dup2(handle, number)
                os.close(handle)
            code = _work_of(trade)
        except BaseException:  # noqa: BLE001  # nothing of a child may go on as a nursery
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _tell_of_the_ended(self) -> None:
        while self._numbers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            self._tell(Exited(number=self._numbers.pop(pid), status=status))

    def _tell(self, message: Forked | Exited, *handles: int) -> None:
        try:
            socket.send_fds(self._server, [ANSWERS.encode(message)], list(handles))
        except (BrokenPipeError, ConnectionResetError):
            raise SystemExit(0) from None  # the server is gone

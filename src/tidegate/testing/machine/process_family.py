"""Processes that a server of a test has started: found by the environment that they inherit, and ended by their id."""

import os
import select
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_PATIENCE_MILLISECONDS = 60_000
_PROCESSES = Path("/proc")


@dataclass(frozen=True)
class ProcessFamily:
    """Every living process with this variable in the environment that it was started with."""

    variable: str
    value: str

    def members(self) -> list[int]:
        """Their ids, in order. One that ends meanwhile may be among them."""
        mine = f"{self.variable}={self.value}".encode()
        found = []
        for entry in _PROCESSES.iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with suppress(OSError):
                    if mine in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
        return sorted(found)

    def kill(self, members: Iterable[int]) -> int:
        """Kill these members and return once they are dead: how many of them this was the end of."""
        killed = 0
        for member in members:
            with suppress(ProcessLookupError), _handle(member) as handle:
                if member in self.members():  # the id has not gone to a stranger since
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    _wait_for_end(handle, member)
                    killed += 1
        return killed

    def wait_until_gone(self) -> None:
        """Return once nobody is left; raise AssertionError if one does not end."""
        while members := self.members():
            with suppress(ProcessLookupError), _handle(members[0]) as handle:
                _wait_for_end(handle, members[0])


@contextmanager
def _handle(member: int) -> Iterator[int]:
    handle = os.pidfd_open(member)
    try:
        yield handle
    finally:
        os.close(handle)


def _wait_for_end(handle: int, member: int) -> None:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    if not poll.poll(_PATIENCE_MILLISECONDS):
        raise AssertionError(f"process {member} does not end")

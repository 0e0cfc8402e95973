"""Which cores the process that syncs may use: all of them, or one fewer while somebody looks at lists."""

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_QUIET_SECONDS = 5.0
"""Longer than a person looks at one page before turning to the next; short beside a sync that is worth speeding up."""


@dataclass
class SyncCores:
    """A sync keeps a core busy and a part of another. Who waits for a list feels each moment in which both are taken.

    Niceness does not help: a thread is preempted by the tick of the kernel's clock, up to ten milliseconds too late.
    """

    process: Callable[[], int | None]
    """The number of the process that syncs now, if there is one."""
    quiet_seconds: float = _QUIET_SECONDS
    _looked_at: float = 0.0
    _returning: asyncio.TimerHandle | None = None

    def make_way(self) -> None:
        """Somebody looks: until it has been quiet for a while, the server has a core for itself."""
        loop = asyncio.get_running_loop()
        self._looked_at = loop.time()
        if self._returning is None:
            self._returning = loop.call_later(self.quiet_seconds, self._return)
            self.settle()

    def settle(self) -> None:
        """Give the process what it may have now; needed for one that has just begun."""
        pid, cores = self.process(), os.sched_getaffinity(0)
        if pid is not None:
            confine(pid, cores if self._returning is None else all_but_one(cores))

    def _return(self) -> None:
        loop = asyncio.get_running_loop()
        left = self._looked_at + self.quiet_seconds - loop.time()
        if left > 0:
            self._returning = loop.call_later(left, self._return)
        else:
            self._returning = None
            self.settle()


def all_but_one(cores: set[int]) -> set[int]:
    """Where there is but one, that."""
    return cores - {min(cores)} or cores


def confine(pid: int, cores: set[int]) -> None:
    """All threads of a process. One that is born meanwhile may have the old ones, so look until none is new.

    A courtesy, and never an error: it may have ended, or somebody else may have settled which cores there are.
    """
    seen: set[str] = set()
    with contextlib.suppress(OSError):
        while born := {thread.name for thread in Path(f"/proc/{pid}/task").iterdir()} - seen:
            for thread in born:
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(int(thread), cores)
            seen |= born

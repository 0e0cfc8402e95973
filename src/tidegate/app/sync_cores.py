"""Which cores the process that syncs may use: all of them, or one fewer while somebody looks at lists."""

import asyncio
import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

_QUIET_SECONDS = 5.0
"""Longer than a person looks at one page before turning to the next; short beside a sync that is worth speeding up."""


@dataclass
class SyncCores:
    """A sync keeps a core busy and a part of another. Who waits for a list feels each moment in which both are taken.

    Niceness does not help: a thread is preempted by the tick of the kernel's clock, up to ten milliseconds too late.
    """

    quiet_seconds: float = _QUIET_SECONDS
    _pid: int | None = None
    _looked_at: float = 0.0
    _returning: asyncio.TimerHandle | None = None

    def belong_to(self, pid: int) -> None:
        """From now on, it is about this process."""
        self._pid = pid
        if self._returning is not None:
            confine(pid, all_but_one(_ours()))

    def left_by_all(self) -> None:
        """The process is gone, and its number may soon be another's."""
        self._pid = None

    def make_way(self) -> None:
        """Somebody looks: until it has been quiet for a while, the server has a core for itself."""
        loop = asyncio.get_running_loop()
        self._looked_at = loop.time()
        if self._returning is None:
            self._set(all_but_one(_ours()))
            self._returning = loop.call_later(self.quiet_seconds, self._return)

    def _return(self) -> None:
        loop = asyncio.get_running_loop()
        left = self._looked_at + self.quiet_seconds - loop.time()
        if left > 0:
            self._returning = loop.call_later(left, self._return)
        else:
            self._returning = None
            self._set(_ours())

    def _set(self, cores: set[int]) -> None:
        if self._pid is not None:
            confine(self._pid, cores)


def all_but_one(cores: set[int]) -> set[int]:
    """Where there is but one, that."""
    return cores - {min(cores)} or cores


def _ours() -> set[int]:
    return os.sched_getaffinity(0)


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

"""Movers as processes of this machine: memory goes back at the end, a crash stays small, cancel is a signal."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from tidegate.app.encryption_key import with_key_of_machine, without_key
from tidegate.app.mover_process import LONGEST_LINE, Process, ProcessMover
from tidegate.app.nursery import can_nurse
from tidegate.app.nursery_client import Nursery, NurseryGone
from tidegate.app.workshop import MAPS_DIR
from tidegate.errors import RetryableError
from tidegate.ports.mover_host import Job, Mover

log = structlog.get_logger(__name__)


@dataclass
class ChildMovers:
    """Keeps the MoverHost's promise with processes of this machine, which remember their uploads in `maps`.

    They are forked by a nursery, which takes milliseconds. Where there can be none, or it cannot be reached, each is a
    `tidegate mover` of its own, which takes longer and is the same otherwise.
    """

    maps: Path
    nursed: bool = field(default_factory=can_nurse)
    nursery: Nursery = field(init=False)
    _running: set[ProcessMover] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.nursery = Nursery(self._environment)

    async def start(self, job: Job) -> Mover:
        """Start a process and hand it its job."""
        job = job.replace(target=with_key_of_machine(job.target))
        try:
            process = await self._nursed() if self.nursed else await self._alone()
        except OSError as error:
            raise RetryableError(f"no mover could be started: {error.strerror}") from error
        mover = ProcessMover(process, job, self._running.discard)
        self._running.add(mover)
        return mover

    async def close(self) -> None:
        """Ask all to stop, and make sure of it."""
        movers = list(self._running)
        for mover in movers:
            mover.cancel()
        await asyncio.gather(*(mover.ended() for mover in movers))
        await self.nursery.close()

    async def _nursed(self) -> Process:
        try:
            return await self.nursery.fork()
        except NurseryGone as gone:
            # The next one finds a new nursery; this one need not wait for it.
            log.warning("the nursery of movers is gone; a new one is started", reason=str(gone))
            return await self._alone()

    async def _alone(self) -> Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tidegate",
            "mover",
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            limit=LONGEST_LINE,
            env=self._environment(),
            # A Ctrl-C on the terminal is for the server; it tells its movers what to do.
            start_new_session=True,
        )

    def _environment(self) -> dict[str, str]:
        # A person who set the variable for the server meant its movers.
        return {MAPS_DIR: str(self.maps.absolute()), **without_key()}

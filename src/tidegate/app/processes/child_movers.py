"""Movers as processes of this machine: memory goes back at the end, a crash stays small, cancel is a signal."""

import asyncio
from dataclasses import dataclass, field

from tidegate.app.machine.encryption_key import with_key_of_machine
from tidegate.app.machine.identity import new_id
from tidegate.app.processes.children import Children
from tidegate.app.processes.mover_process import ProcessMover
from tidegate.app.processes.nursery import Trade
from tidegate.errors import RetryableError
from tidegate.ports.mover_host import Job, Mover


@dataclass
class ChildMovers:
    """Keeps the MoverHost's promise with processes of this machine."""

    children: Children
    _running: set[ProcessMover] = field(default_factory=set)

    async def start(self, job: Job) -> Mover:
        """Start a process and hand it its job."""
        lock = f"lock-{new_id().replace('-', '')[:16]}"
        job = job.replace(target=with_key_of_machine(job.target), lock=lock)
        try:
            process = await self.children.start(Trade.MOVER)
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

"""Movers as processes of this machine: memory goes back at the end, a crash stays small, cancel is a signal."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from tidegate.app.machine.encryption_key import with_key_of_machine
from tidegate.app.machine.identity import new_id
from tidegate.app.processes.children import Children
from tidegate.app.processes.mover_process import ProcessMover
from tidegate.app.processes.nursery import Trade
from tidegate.errors import RetryableError
from tidegate.ports.mover_host import HostedMover, Job, Orders, Report, labels_of, unknown_mover


@dataclass
class ChildMovers:
    """Keeps the MoverHost's promise with processes of this machine, which end with their server."""

    children: Children
    outlives_server: bool = field(default=False, init=False)
    _movers: dict[str, ProcessMover] = field(default_factory=dict)
    _starting: set[str] = field(default_factory=set)
    _stopping: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)
    """Those that end and lose their name then."""

    async def ensure(self, name: str, node: str, job: Job) -> HostedMover:
        """Start a process and hand it its job. This machine is every node."""
        if name in self._stopping or name in self._starting:
            raise RetryableError(f"no mover could be started: another one of the name {name} is still there")
        if (known := self._movers.get(name)) is not None:
            return known.label
        self._starting.add(name)
        try:
            mover = await self._start(name, node, job)
        except OSError as error:
            raise RetryableError(f"no mover could be started: {error.strerror}") from error
        finally:
            self._starting.discard(name)
        self._movers[name] = mover
        return mover.label

    async def list(self) -> Sequence[HostedMover]:
        """Those of this server: there are no others."""
        return [mover.label for mover in self._movers.values()]

    def adopt(self, name: str) -> AsyncIterator[Report]:
        """What it said and says."""
        mover = self._movers.get(name)
        return unknown_mover(name) if mover is None else mover.reports()

    def order(self, name: str, orders: Orders) -> None:
        """Pass them on."""
        if mover := self._movers.get(name):
            mover.order(orders)

    async def stop(self, name: str) -> None:
        """Ask it to stop; it is killed if it does not."""
        mover = self._movers.get(name)
        if mover is None or name in self._stopping:
            return
        if mover.has_ended:
            del self._movers[name]
        else:
            mover.cancel()
            self._stopping[name] = asyncio.create_task(self._give_up(name, mover), name=f"stop mover {name}")

    async def close(self) -> None:
        """Ask all to stop, and make sure of it."""
        movers = list(self._movers.values())
        for mover in movers:
            mover.cancel()
        await asyncio.gather(*(mover.ended() for mover in movers), *self._stopping.values())
        self._movers.clear()

    async def _start(self, name: str, node: str, job: Job) -> ProcessMover:
        lock = f"lock-{new_id().replace('-', '')[:16]}"
        job = job.replace(target=with_key_of_machine(job.target), lock=lock)
        process = await self.children.start(Trade.MOVER)
        return ProcessMover(process, job, labels_of(name, node, job))

    async def _give_up(self, name: str, mover: ProcessMover) -> None:
        await mover.ended()
        self._movers.pop(name, None)
        del self._stopping[name]

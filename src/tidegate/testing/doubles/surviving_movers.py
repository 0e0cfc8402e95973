"""A host whose movers live elsewhere, as pods do: a server ends, and the next one finds them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from tidegate.errors import RetryableError
from tidegate.ports.mover_host import HostedMover, Job, Orders, Report
from tidegate.testing.doubles.movers import FakeMovers


@dataclass
class SurvivingMovers:
    """One server's way to movers that are kept by `elsewhere`. Each server has a host of its own."""

    elsewhere: FakeMovers
    outlives_server: bool = field(default=True, init=False)
    cut_off: bool = False
    """It cannot list what runs."""

    async def ensure(self, name: str, node: str, job: Job) -> HostedMover:
        """See MoverHost."""
        return await self.elsewhere.ensure(name, node, job)

    async def list(self) -> Sequence[HostedMover]:
        """See MoverHost."""
        if self.cut_off:
            raise RetryableError("the movers cannot be listed")
        return await self.elsewhere.list()

    def adopt(self, name: str) -> AsyncIterator[Report]:
        """See MoverHost."""
        return self.elsewhere.adopt(name)

    def order(self, name: str, orders: Orders) -> None:
        """See MoverHost."""
        self.elsewhere.order(name, orders)

    async def stop(self, name: str) -> None:
        """See MoverHost."""
        await self.elsewhere.stop(name)

    async def close(self) -> None:
        """Nothing ends."""

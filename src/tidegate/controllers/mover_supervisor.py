"""Holds on to the movers that this process started, and to what they last said.

Nothing here is state that must survive: a transfer's phase is in the store, and a mover ends when its server does.
Reports do not write to the store themselves; they wake the reconciler, which looks here and writes what differs.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from tidegate.model.mover_job import ErrorReport, ProgressReport, ResultReport
from tidegate.model.resource import Ref
from tidegate.model.transfer_progress import TransferProgress
from tidegate.ports.mover_host import Job, Mover, MoverHost


@dataclass
class Errand:
    """One mover and what is known of it."""

    mover: Mover
    job: Job
    progress: TransferProgress | None = None
    last_words: ResultReport | ErrorReport | None = None
    task: asyncio.Task[None] | None = None


@dataclass
class MoverSupervisor:
    """At most one mover per errand name; starting one that runs already changes nothing."""

    host: MoverHost
    wake: Callable[[Ref], None] = lambda _ref: None
    _errands: dict[str, Errand] = field(default_factory=dict)

    async def ensure(self, name: str, job: Job, *, on_news: Ref) -> Errand:
        """The errand of this name, started now if it was not known. `on_news` is woken at each report."""
        errand = self._errands.get(name)
        if errand is None:
            errand = Errand(await self.host.start(job), job)
            self._errands[name] = errand
            errand.task = asyncio.create_task(self._listen(errand, on_news), name=f"mover {name}")
        return errand

    def look(self, name: str) -> Errand | None:
        """What is known of an errand, if this process started it."""
        return self._errands.get(name)

    def forget(self, name: str) -> None:
        """Its last words have been written down."""
        self._errands.pop(name, None)

    async def close(self) -> None:
        """End all movers."""
        await self.host.close()
        tasks = [errand.task for errand in self._errands.values() if errand.task]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, errand: Errand, on_news: Ref) -> None:
        async for report in errand.mover.reports():
            if isinstance(report, ProgressReport):
                errand.progress = report.progress
            else:
                errand.last_words = report
            self.wake(on_news)

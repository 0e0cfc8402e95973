"""Holds on to the movers that this process started or adopted, and to what they last said.

Nothing here is state that must survive: a transfer's phase is in the store, and a mover ends with its server or is
adopted by the next one.
Reports do not write to the store themselves; they wake the reconciler, which looks here and writes what differs.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from tidegate.decide.stores.known_locks import KnownLocks
from tidegate.decide.transfers.deadlines import PROGRESS_EVERY
from tidegate.decide.transfers.known_mover import KnownMover, MoverState
from tidegate.errors import RetryableError
from tidegate.model.resource import Ref
from tidegate.model.transfers.mover_job import (
    MOVER_DIED,
    ErrorReport,
    ProgressReport,
    ReadyReport,
    RemoveJob,
    ResultReport,
)
from tidegate.ports.clock import Clock
from tidegate.ports.mover_host import HostedMover, Job, MoverHost, Orders, Report

log = structlog.get_logger(__name__)


@dataclass
class Errand:
    """One mover and what is known of it."""

    label: HostedMover
    known: KnownMover
    job: Job | None = None
    """None of an adopted one: what it was given, with the credentials, stays with its host."""
    orders: Orders | None = None
    """What it was last ordered; None: nothing by this server, which does not know what limits it keeps to."""
    told_at: datetime | None = None
    """When somebody was last woken for its progress."""
    task: asyncio.Task[None] | None = None

    @property
    def node(self) -> str:
        """Where it runs: movers of one node share its bandwidth."""
        return self.label.node

    @property
    def orders_so_far(self) -> Orders:
        """To be changed and given."""
        return self.orders or Orders()

    @property
    def last_words(self) -> ResultReport | ErrorReport | None:
        """What it ended with, if it did."""
        return self.known.last_words


@dataclass
class MoverSupervisor:
    """At most one mover per errand name; starting one that runs already changes nothing."""

    host: MoverHost
    clock: Clock
    wake: Callable[[Ref], None] = lambda _ref: None
    others_move: Callable[[], None] = lambda: None
    """Called whenever one more, or one less, moves bytes."""
    _errands: dict[str, Errand] = field(default_factory=dict)
    _locks: KnownLocks = field(default_factory=KnownLocks)
    _sweeps: set[asyncio.Task[None]] = field(default_factory=set)
    """They drop locks of movers that died."""

    async def ensure(self, name: str, job: Job, *, on_news: Ref, node: str = "") -> Errand:
        """The errand of this name, started now if it was not known. `on_news` is woken when it matters.

        Raises RetryableError if it cannot be started now.
        """
        errand = self._errands.get(name)
        if errand is None:
            job = self._locks.told(job, now=self.clock.now())
            label = await self.host.ensure(name, node, job)
            errand = self._take_on(label, on_news)
            errand.job, errand.orders = job, _orders_in(job)
        return errand

    def count(self, prefix: str) -> int:
        """How many errands there are whose names begin with it."""
        return sum(name.startswith(prefix) for name in self._errands)

    def look(self, name: str) -> Errand | None:
        """What is known of an errand, if this process started or adopted it."""
        return self._errands.get(name)

    async def adopt(self, claims: Mapping[str, Ref]) -> None:
        """Take on every mover that runs and has one of these names, for the sake of its ref; stop the others.

        Raises RetryableError; it may be called again then.
        """
        for label in await self.host.list():
            if label.name in self._errands:
                continue
            if label.name in claims:
                self._take_on(label, claims[label.name])
                log.info("mover adopted", mover=label.name, node=label.node, action=label.action)
            else:
                await self.host.stop(label.name)
                log.warning("mover stopped: nothing waits for it", mover=label.name, node=label.node)

    def let_go(self, name: str, *, limits: tuple[int | None, int | None]) -> None:
        """Let it move bytes, within these limits if it was given none yet.

        The time in which it may be silent begins now: so far it had nothing to say.
        """
        if errand := self._errands.get(name):
            orders = errand.orders or Orders(upload=limits[0], download=limits[1])
            self._order(errand, orders.replace(go=True))
            errand.told_at = self.clock.now()
            errand.known = errand.known.replace(state=MoverState.MOVING, heard_at=errand.told_at)
            self.others_move()

    def limit(self, errand: Errand, *, upload: int | None, download: int | None) -> None:
        """At most so many bytes per second from now on."""
        self._order(errand, errand.orders_so_far.replace(upload=upload, download=download))

    def cancel(self, name: str) -> None:
        """Ask it to stop; its last words tell when it has."""
        if errand := self._errands.get(name):
            self._order(errand, errand.orders_so_far.replace(cancel=True))

    def moving(self) -> Iterator[Errand]:
        """Those that move bytes now."""
        return (e for e in self._errands.values() if e.known.state is MoverState.MOVING and not e.known.clears)

    def moving_on(self, node: str) -> int:
        """How many move bytes on one node now."""
        return sum(errand.node == node for errand in self.moving())

    async def forget(self, name: str) -> None:
        """Its last words have been written down, or no one waits for them any more."""
        if name in self._errands:
            await self.host.stop(name)
            self._errands.pop(name, None)

    async def end_all(self) -> None:
        """Return when no mover of this server runs any more, also where they would outlive it."""
        for name in list(self._errands):
            await self.host.stop(name)
        await asyncio.gather(*self._tasks(), return_exceptions=True)
        await self.close()

    async def close(self) -> None:
        """Let go of all movers; the host ends those that do not outlive this server."""
        await self.host.close()
        tasks = self._tasks()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [errand.task for errand in self._errands.values() if errand.task] + list(self._sweeps)

    def _take_on(self, label: HostedMover, on_news: Ref) -> Errand:
        removes = label.action == "remove"
        state = MoverState.MOVING if removes else MoverState.STARTING
        errand = Errand(label, KnownMover(state, heard_at=self.clock.now(), clears=removes))
        self._errands[label.name] = errand
        errand.task = asyncio.create_task(self._listen(errand, on_news), name=f"mover {label.name}")
        return errand

    def _order(self, errand: Errand, orders: Orders) -> None:
        errand.orders = orders
        self.host.order(errand.label.name, orders)

    async def _listen(self, errand: Errand, on_news: Ref) -> None:
        async for report in self.host.adopt(errand.label.name):
            self._note(errand, report)
            if not isinstance(report, ProgressReport) or self._is_time_to_tell(errand):
                self.wake(on_news)

    def _is_time_to_tell(self, errand: Errand) -> bool:
        """Progress comes often and is written seldom; of a transfer that is quick only the end is of interest."""
        now = self.clock.now()
        if errand.told_at is None or now - errand.told_at < PROGRESS_EVERY:
            return False
        errand.told_at = now
        return True

    def _note(self, errand: Errand, report: Report) -> None:
        heard = errand.known.replace(heard_at=self.clock.now())
        match report:
            case ReadyReport(from_snapshot=from_snapshot):
                ready = MoverState.READY if heard.state is MoverState.STARTING else heard.state
                errand.known = heard.replace(state=ready, from_snapshot=from_snapshot)
            case ProgressReport(progress=progress):
                errand.known = heard.replace(progress=progress)
            case _:
                errand.known = heard.replace(state=MoverState.ENDED, last_words=report)
                self._note_locks(errand, report)
                self.others_move()

    def _note_locks(self, errand: Errand, words: ResultReport | ErrorReport) -> None:
        """A process that is gone refreshes nothing, so nobody needs to wait until its lock expires."""
        label = errand.label
        volume = (label.store_url, label.store_volume)
        if isinstance(words, ResultReport):
            if errand.job is not None:
                self._locks.done(errand.job)
        elif words.lock:
            self._locks.met(volume, words.lock, now=self.clock.now())
        elif words.code == MOVER_DIED and label.lock:
            self._locks.owner_died(volume, label.lock)
            if errand.job is not None:
                sweep = asyncio.create_task(self._sweep(errand.job, label), name=f"drop {label.lock}")
                self._sweeps.add(sweep)
                sweep.add_done_callback(self._sweeps.discard)

    async def _sweep(self, job: Job, dead: HostedMover) -> None:
        """Drop dead locks at once, for clients elsewhere too. If it fails, the next mover on the volume does it."""
        empty = RemoveJob(target=job.target, store_volume=job.store_volume, store_backups=(), only_dead_locks=True)
        sweeping, name = self._locks.told(empty, now=self.clock.now()), f"drop/{dead.lock}"
        try:
            await self.host.ensure(name, dead.node, sweeping)
            async for report in self.host.adopt(name):
                if isinstance(report, ResultReport):
                    self._locks.done(sweeping)
            await self.host.stop(name)
        except RetryableError:
            return


def _orders_in(job: Job) -> Orders:
    if isinstance(job, RemoveJob):
        return Orders()
    return Orders(upload=job.upload_bytes_per_second, download=job.download_bytes_per_second)

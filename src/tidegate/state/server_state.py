"""What one server knows: the cached store, the tables on top of it, and what follows from whole kinds."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from random import Random

from tidegate.decide.queue.surroundings import Surroundings, surroundings_of
from tidegate.decide.transfers.gate_surroundings import GateSurroundings
from tidegate.model.backups.backup import Backup
from tidegate.model.kinds import KINDS
from tidegate.model.resource import Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.setting import Setting, Settings, effective_settings
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.node import Node
from tidegate.model.transfers.transfer import Transfer
from tidegate.model.volumes.volume import Namespace, Volume
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import Change, ResourceStore
from tidegate.state.backup_figures import BackupFigures
from tidegate.state.cached_store import CachedStore
from tidegate.state.derived import Derived
from tidegate.state.gate_news import GateNews
from tidegate.state.informer import Informer
from tidegate.state.queue import QueueTable
from tidegate.state.restores import RestoreTable
from tidegate.state.scrape_figures import ScrapeFigures
from tidegate.state.transfer_figures import TransferFigures
from tidegate.state.transfers import TransferTable


class ServerState:
    """Made once per server; `start` begins to fill it. Tables and cache change together, between two waits."""

    def __init__(self, store: ResourceStore, clock: Clock, random: Random) -> None:
        self.store = CachedStore(store)
        """What controllers and API read and write."""
        self.queue = QueueTable()
        self.queue_decisions: Counter[str] = Counter()
        """What the queue decided since the server began, by outcome."""
        self.restores = RestoreTable()
        self.transfers = TransferTable()
        self.gate_news = GateNews()
        self.backup_figures = BackupFigures()
        self.transfer_figures = TransferFigures()
        self.scrape_figures = ScrapeFigures()
        self.informers = [Informer(kind, self.store, clock, random) for kind in KINDS]
        self.store.listeners.append(self._keep_tables)
        self._settings = Derived(self.store, _settings, Setting)
        beside_the_queue = (Setting, Namespace, BackupTarget)
        self._around_queue = Derived(self.store, _around_queue, *beside_the_queue)
        self._around_queue_by_volume = Derived(self.store, _around_queue, *beside_the_queue, Volume)
        self._around_gates = Derived(self.store, _around_gates, Setting, Node, BackupTarget)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to list and watch; returns at once. Starting twice is harmless."""
        if self._tasks:
            return
        self._tasks = [asyncio.create_task(one.run(), name=f"watch {one.kind.__name__}") for one in self.informers]

    async def stop(self) -> None:
        """End all watches. What is held stays as it was."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    @property
    def unread(self) -> list[str]:
        """Plurals of the kinds that were not listed yet."""
        return [kind.plural for kind in KINDS if not self.store.cache(kind).loaded]

    async def until_listed(self) -> None:
        """Until every kind was listed, or could not be: a damaged kind must not hold up the others."""
        for informer in self.informers:
            await informer.until_tried()

    async def wait_for(self, *kinds: type[Resource]) -> None:
        """Until these kinds were listed once: half of the truth counts too little."""
        for kind in kinds:
            await self.store.cache(kind).until_loaded()

    async def settings(self) -> Settings:
        """The settings as they are now."""
        return await self._settings.now()

    async def around_queue(self) -> Surroundings:
        """What is not in the queue but matters to it, restores left out."""
        by_volume = (await self.settings()).overlap_detection == "volume"
        return await (self._around_queue_by_volume if by_volume else self._around_queue).now()

    async def around_queue_with_restores(self) -> Surroundings:
        """The same with the restores that keep namespaces from backups."""
        around, settings = await self.around_queue(), await self.settings()
        by_volume, paused = around.volumes is not None, settings.concurrent_restores == 0
        return around.with_restores(self.restores.claims(by_volume=by_volume, paused=paused))

    async def around_gates(self) -> GateSurroundings:
        """What is not a transfer but matters to the gates."""
        return await self._around_gates.now()

    def _keep_tables(self, change: Change, resource: Resource) -> None:
        gone = change is Change.DELETED
        if gone:
            self.scrape_figures.forget(resource.ref)
        else:
            self.scrape_figures.note(resource)
        match resource:
            case Backup():
                self._keep_backup(resource, gone=gone)
            case Restore():
                (self.restores.forget if gone else self.restores.note)(resource)
            case Transfer():
                self._keep_transfer(resource, gone=gone)

    def _keep_backup(self, backup: Backup, *, gone: bool) -> None:
        if gone:
            self.queue.forget(backup.name)
            self.backup_figures.forget(backup.name)
        else:
            self.queue.note(backup)
            self.backup_figures.note(backup)

    def _keep_transfer(self, transfer: Transfer, *, gone: bool) -> None:
        if gone:
            self.transfer_figures.forget(transfer.ref)
            if self.transfers.forget(transfer.ref):
                self.gate_news.forget(transfer)
        else:
            self.transfer_figures.note(transfer)
            if self.transfers.note(transfer):
                self.gate_news.note(transfer)


def _settings(stored: Iterable[Setting]) -> Settings:
    return effective_settings(list(stored))


def _around_queue(
    stored: Iterable[Setting],
    namespaces: Iterable[Namespace],
    targets: Iterable[BackupTarget],
    volumes: Iterable[Volume] = (),
) -> Surroundings:
    return surroundings_of(_settings(stored), namespaces, targets, volumes)


def _around_gates(
    stored: Iterable[Setting], nodes: Iterable[Node], targets: Iterable[BackupTarget]
) -> GateSurroundings:
    return GateSurroundings.of(_settings(stored), nodes, targets)

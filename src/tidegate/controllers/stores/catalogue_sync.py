"""Brings the catalogue up to date: targets by their interval and on request, volumes after their own backups."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from tidegate.catalogue.progress import SyncProgress
from tidegate.catalogue.target_sync import SyncOrder, SyncOutcome
from tidegate.controllers.reconcile.observation import settings_now
from tidegate.controllers.reconcile.reconciler import Next, Watch
from tidegate.controllers.stores import sync_status
from tidegate.controllers.stores.sync_wishes import SyncWishes
from tidegate.decide.stores.sync_schedule import SyncReason, forecast, plan_sync, retry_delay
from tidegate.errors import NotFound, TidegateError
from tidegate.model.resource import Ref, Resource
from tidegate.model.stores.catalogue import FullSync
from tidegate.model.stores.catalogue_status import SyncForecast, VolumeSync
from tidegate.model.stores.target import CONFIRM_VANISHED, BackupTarget, SyncStatus
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.model.transfers.transfer import UPLOADS, Transfer, TransferPhase
from tidegate.ports.catalogue import Catalogue
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, access_to

log = structlog.get_logger(__name__)

TELL_EVERY = timedelta(seconds=5)
_WHILE_AWAY = timedelta(seconds=60)
VOLUME = "BackupVolume"


@dataclass(frozen=True)
class SyncErrand:
    """What a runner needs for one sync."""

    access: TargetAccess
    order: SyncOrder
    progress: SyncProgress
    requests_in_flight: int


Run = Callable[[SyncErrand], Awaitable[SyncOutcome]]


@dataclass
class _Running:
    errand: SyncErrand
    task: "asyncio.Task[SyncOutcome]"
    told_at: datetime
    asked: bool = False
    """Whether somebody wanted it who knew of no change."""


@dataclass
class CatalogueSync:
    """One key per target, and one per volume that somebody waits for. Owns what a target's status says of syncs.

    A sync runs beside the reconcilers: it may take hours. What is known of it here need not outlive the process: what
    it has written is in the catalogue, and a sync that was cut short comes again.
    """

    store: ResourceStore
    clock: Clock
    secrets: SecretStore
    catalogue: Catalogue
    run: Run
    wake: Callable[[Ref], None] = lambda _ref: None
    name: str = "catalogue-sync"
    workers: int = 4
    _running: dict[Ref, _Running] = field(default_factory=dict)
    _synced: dict[Ref, datetime] = field(default_factory=dict)
    _failures: dict[Ref, int] = field(default_factory=dict)
    _last_words: dict[Ref, str] = field(default_factory=dict)
    _turns: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._wishes = SyncWishes(self.clock)

    @property
    def watches(self) -> tuple[Watch, ...]:
        """Targets, and uploads: one that is finished or removed has changed its volume in the store."""
        return (Watch(BackupTarget), *(Watch(kind, self._volume_of) for kind in UPLOADS))

    def request(self, target: str, volume: str, *, forced: bool = False) -> None:
        """See CatalogueSyncs."""
        key = Ref(VOLUME, volume, target)
        self._wishes.want(key, self.clock.now(), forced=forced)
        self.wake(key)

    async def forecast(self, target: BackupTarget) -> SyncForecast:
        """See CatalogueSyncs."""
        settings, now = await settings_now(self.store), self.clock.now()
        last, forced_at = await self._last_full(target), self._wishes.forced_at(target.ref)
        state = sync_status.state_of(target, settings, last=last, forced_at=forced_at)
        return forecast(plan_sync(state, now), now, running=target.ref in self._running)

    async def looked_since(self, target: str, volume: str, moment: datetime) -> bool:
        """Whether a sync that began after that has seen this volume, or that it is gone."""
        return await self._is_fresh(Ref(VOLUME, volume, target), moment)

    def progress(self, target: str) -> SyncProgress | None:
        """Of the sync that runs now."""
        running = self._running.get(Ref("BackupTarget", target))
        return running.errand.progress if running else None

    def target_sync(self, target: BackupTarget) -> SyncStatus:
        """As its status says, but of this moment: what runs is written down every few seconds only."""
        progress = self.progress(target.name)
        if progress is None:
            return target.status.sync
        return sync_status.running(target.status, progress, self.clock.now()).sync

    def volume_sync(self, target: str, volume: str) -> VolumeSync:
        """How what was asked for goes."""
        key = Ref(VOLUME, volume, target)
        failures = self._failures.get(key, 0)
        return VolumeSync(
            target=target,
            volume=volume,
            pending=self._wishes.since(key) is not None,
            running=key in self._running,
            asked_at=self._wishes.since(key),
            failures=failures,
            message=self._last_words.get(key, "") if failures else "",
            forecast=self._wishes.forecast(key, running=key in self._running),
        )

    async def reconcile(self, key: Ref) -> Next:
        """Begin what is due, tell how it goes, write down what came of it."""
        if key.kind == VOLUME:
            return await self._reconcile_volume(key)
        try:
            target = await self.store.get(BackupTarget, key.name)
        except NotFound:
            await self._forget(key)
            return Next.done()
        running = self._running.get(key)
        if running is not None:
            return await self._tell(key, target, running)
        last = await self._last_full(target)
        if sync_status.agreed(target, last) is None and target.status.last_synced_at is not None:
            log.warning("the catalogue of a target is lost and is read anew", target=target.name)
            target = await self.store.update_status(target.replace(status=sync_status.begun_anew(target.status)))
        settings, now = await settings_now(self.store), self.clock.now()
        state = sync_status.state_of(target, settings, last=last, forced_at=self._wishes.forced_at(key))
        decision = plan_sync(state, now)
        if not decision.due:
            return Next(decision.again_after)
        moved = last is not None and (last.url != target.spec.url or target.synced_another_store)
        order = SyncOrder(
            target=target.name,
            confirmed=target.metadata.annotations.get(CONFIRM_VANISHED, ""),
            moved=moved,
            forced=decision.asked or decision.reason is SyncReason.REQUESTED or moved,
            turn=self._turns.get(target.name, 0),
        )
        self._turns[target.name] = order.turn + 1
        await self._begin(key, target, order, settings.catalogue_requests, asked=decision.asked)
        log.info("sync begun", target=target.name, reason=str(decision.reason))
        return Next.after(TELL_EVERY)

    async def close(self) -> None:
        """End all syncs; they come again after the next start."""
        tasks = [running.task for running in self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._running.clear()

    async def look_again(self) -> None:
        """Have each target looked at now, because the catalogue is another one."""
        self._synced.clear()
        for target in (await self.store.list(BackupTarget)).items:
            self.wake(target.ref)

    async def _last_full(self, target: BackupTarget) -> FullSync | None:
        return (await self.catalogue.full_syncs()).get(target.name)

    async def _begin(self, key: Ref, target: BackupTarget, order: SyncOrder, in_flight: int, *, asked: bool) -> None:
        access = await access_to(target, self.secrets)
        errand = SyncErrand(access, order, SyncProgress(self.clock.now()), in_flight)
        task = asyncio.ensure_future(self.run(errand))
        task.add_done_callback(lambda _: self.wake(key))
        self._running[key] = _Running(errand, task, self.clock.now(), asked)

    async def _tell(self, key: Ref, target: BackupTarget, running: _Running) -> Next:
        now = self.clock.now()
        if not running.task.done():
            # Each word wakes us again through the watch: so not more often than somebody would read it.
            if now - running.told_at < TELL_EVERY:
                return Next.after(TELL_EVERY - (now - running.told_at))
            running.told_at = now
            status = sync_status.running(target.status, running.errand.progress, now)
            await self.store.update_status(target.replace(status=status))
            return Next.after(TELL_EVERY)
        error = _error_of(running.task)
        if error is None:
            outcome, progress = running.task.result(), running.errand.progress
            # Before the status: who hears of the end through it finds it in the catalogue.
            access = running.errand.access
            await self.catalogue.note_full_sync(target.name, FullSync(access.url, outcome.started_at))
            status = sync_status.succeeded(target.status, outcome, progress, of=access, now=now)
        else:
            status = sync_status.failed(target.status, error, url=running.errand.access.url, now=now)
        await self.store.update_status(target.replace(status=status))
        self._wishes.ended(key, forced=running.asked)
        self._running.pop(key, None)  # only now: what could not be written is written when we look again
        _log_end(target.name, status.sync.messages, error)
        return Next.after(timedelta())

    async def _forget(self, key: Ref) -> None:
        running = self._running.pop(key, None)
        ended = [running] if running is not None else []
        # Those of its volumes too, or they would put back what is about to be forgotten.
        volumes = [one for one in self._running if one.namespace == key.name]
        ended.extend(self._running.pop(volume) for volume in volumes)
        for one in ended:
            one.task.cancel()
        await asyncio.gather(*(one.task for one in ended), return_exceptions=True)
        await self.catalogue.forget_target(key.name)
        log.info("target is forgotten", target=key.name)

    async def _reconcile_volume(self, key: Ref) -> Next:
        running = self._running.get(key)
        if running is not None:
            if not running.task.done():
                return Next.done()  # its end wakes us
            self._end_volume(key, running)
        wanted = self._wishes.since(key)
        if wanted is None or await self._is_fresh(key, wanted):
            self._wishes.fulfilled(key, wanted)
            return Next.done()
        try:
            target = await self.store.get(BackupTarget, key.namespace)
        except NotFound:
            self._wishes.fulfilled(key, wanted)
            return Next.done()
        if pause := self._volume_pause(key, target, failed=running is not None):
            return Next.after(pause)
        settings = await settings_now(self.store)
        order = SyncOrder(target=key.namespace, volume=key.name)
        await self._begin(key, target, order, settings.catalogue_requests, asked=self._wishes.is_forced(key))
        return Next.done()

    def _volume_pause(self, key: Ref, target: BackupTarget, *, failed: bool) -> timedelta:
        if target.status.available is not True or not target.identified:
            return _WHILE_AWAY
        failures = self._failures.get(key, 0)
        return retry_delay(failures) if failed and failures else self._wishes.pause(key)

    def _end_volume(self, key: Ref, running: _Running) -> None:
        self._running.pop(key)
        self._wishes.ended(key, forced=running.asked)
        error = _error_of(running.task)
        if error is None and not running.task.result().error_count:
            self._synced[key] = running.errand.progress.started_at
            self._failures.pop(key, None)
            self._last_words.pop(key, None)
            return
        self._failures[key] = self._failures.get(key, 0) + 1
        said = running.errand.progress.sentences
        self._last_words[key] = str(error) if error is not None else next(iter(said), "something could not be read")
        _log_end(f"{key.namespace}/{key.name}", (), error)

    async def _is_fresh(self, key: Ref, wanted: datetime) -> bool:
        if self._synced.get(key, wanted - timedelta(1)) >= wanted:
            return True
        try:
            seen = (await self.catalogue.volume(key.namespace, key.name)).last_synced_at
        except NotFound:
            return False
        return seen is not None and seen > wanted

    def _volume_of(self, resource: Resource) -> Iterable[Ref]:
        """The volume that a finished upload has changed; nobody, while the catalogue is newer than that."""
        if not isinstance(resource, Transfer):
            return ()
        key = Ref(VOLUME, resource.spec.store_volume, resource.spec.target)
        if resource.deleting:  # its backup goes, or has just gone
            moment: datetime | None = self.clock.now()
        elif resource.status.phase is TransferPhase.COMPLETED:
            moment = resource.status.completion_timestamp
        else:
            return ()
        if moment is None or self._synced.get(key, moment) > moment:
            return ()
        self._wishes.want(key, moment)
        return (key,)


def _error_of(task: "asyncio.Task[SyncOutcome]") -> Exception | None:
    if task.cancelled():
        return RuntimeError("it was ended")
    error = task.exception()
    return error if isinstance(error, Exception) else None


def _log_end(what: str, messages: Iterable[str], error: Exception | None) -> None:
    if error is None:
        log.info("sync ended", what=what, messages=list(messages))
    else:
        expected = isinstance(error, TidegateError)
        log.warning("sync failed", what=what, error=str(error), exc_info=None if expected else error)

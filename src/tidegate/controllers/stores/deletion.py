"""Carries deletions out: one worker for each volume and all of its deletions, under the volume's lock."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from tidegate.controllers.movers.names import REMOVALS, VOLUME, removal_of, volume_of
from tidegate.controllers.movers.supervisor import MoverSupervisor
from tidegate.controllers.movers.takeover import Takeover
from tidegate.controllers.reconcile.observation import all_transfers
from tidegate.controllers.reconcile.reconciler import Next, Watch
from tidegate.controllers.stores.deletion_desk import DeletionDesk
from tidegate.controllers.stores.deletion_traces import mark_removed
from tidegate.decide.stores.deletions import KEPT_FOR, DeletionPlan, VolumeLook, plan_deletions, retry_delay
from tidegate.decide.transfers.deadlines import LOCK_AGAIN
from tidegate.errors import InvalidInput, NotFound, StoreLockHeld, UserError
from tidegate.model.labels import Selector
from tidegate.model.resource import Ref, Resource
from tidegate.model.setting import CONCURRENT_DELETIONS, Setting
from tidegate.model.stores.deletion import STORE_VOLUME_LABEL, Deletion, DeletionPhase, store_volume_mark
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.mover_job import ErrorReport, RemoveJob, ResultReport, TargetAccess
from tidegate.model.transfers.transfer import TRANSFERS, Transfer
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, access_to
from tidegate.state.server_state import ServerState

log = structlog.get_logger(__name__)

_FIRST_LOOK = timedelta(seconds=2)
_LONGEST_LOOK = timedelta(minutes=1)


class Freshness(Protocol):
    """What the catalogue knows of a volume, and having it look again."""

    def request(self, target: str, volume: str) -> None:
        """Somebody wants this volume up to date now."""
        ...

    async def looked_since(self, target: str, volume: str, moment: datetime) -> bool:
        """Whether the volume was looked at in its store after that."""
        ...


@dataclass
class DeletionController:
    """Owns the status of deletions. One key per volume; one worker, so that no slot is given away twice."""

    state: ServerState
    clock: Clock
    movers: MoverSupervisor
    takeover: Takeover
    secrets: SecretStore
    desk: DeletionDesk
    lists: Freshness | None = None
    wake: Callable[[Ref], None] = lambda _ref: None
    name: str = "deletion"
    workers: int = 1
    _open: dict[Ref, None] = field(default_factory=dict)
    """Volumes that have a deletion which is not over; others are not looked at when a transfer moves."""
    _want_slot: dict[Ref, None] = field(default_factory=dict)
    _asked_to_look: set[str] = field(default_factory=set)

    @property
    def store(self) -> ResourceStore:
        """What it reads and writes."""
        return self.state.store

    @property
    def watches(self) -> tuple[Watch, ...]:
        """Deletions, and what they wait for."""
        transfers = (Watch(kind, self._concerned) for kind in TRANSFERS)
        surroundings = (Watch(BackupTarget, self._volumes_of_target), Watch(Setting, self._first_in_line))
        return (Watch(Deletion, self._volume_of), *transfers, *surroundings)

    async def reconcile(self, key: Ref) -> Next:
        """Bring all deletions of one volume a step further."""
        await self.takeover.begin()
        deletions = await self.desk.list(target=key.namespace, volume=key.name)
        if await self._conclude(key, deletions):
            deletions = await self.desk.list(target=key.namespace, volume=key.name)
        again = [await self._after_end(one) for one in deletions if one.status.phase.final]
        going = [one for one in deletions if not one.status.phase.final]
        if going:
            again.extend(await self._go_on(key, going))
        else:
            self._open.pop(key, None)
        await self._offer_slots()
        return _soonest(again, self.clock.now())

    async def _go_on(self, key: Ref, going: Sequence[Deletion]) -> tuple[datetime | None, ...]:
        plan = plan_deletions(going, await self._look(key))
        await self._note(going, plan)
        if plan.wants_slot:
            self._want_slot[key] = None
        retry_at = await self._run(key, [one for one in going if one.name in set(plan.run)]) if plan.run else None
        return (plan.again_at, retry_at)

    async def _look(self, key: Ref) -> VolumeLook:
        selector = Selector.matching({STORE_VOLUME_LABEL: store_volume_mark(key.namespace, key.name)})
        return VolumeLook(
            target=await self._target(key),
            transfers=await all_transfers(self.store, selector),
            at_work=self.movers.look(removal_of(key)) is not None,
            slot_free=await self._free_slots() > 0,
            now=self.clock.now(),
        )

    async def _target(self, key: Ref) -> BackupTarget | None:
        try:
            return await self.store.get(BackupTarget, key.namespace)
        except NotFound:
            return None

    async def _note(self, going: Sequence[Deletion], plan: DeletionPlan) -> None:
        now = self.clock.now()
        for one in going:
            status = one.status
            if one.name in plan.cancel:
                await self._end(one, DeletionPhase.CANCELED, "cancelled on request")
            elif one.name in plan.refuse:
                await self._end(one, DeletionPhase.REFUSED, plan.refuse[one.name])
            elif one.name in plan.wait:
                obstacle = plan.wait[one.name]
                waiting = status.waiting(obstacle.reason, obstacle.message, since=now)
                changes = {"phase": DeletionPhase.WAITING, "message": obstacle.message, "retry_at": None}
                await self.store.update_status(one.replace(status=waiting.replace(**changes)))

    async def _run(self, key: Ref, batch: Sequence[Deletion]) -> datetime | None:
        """Say so first, then do it: whoever finds it Running without a worker knows that it may be half done."""
        try:
            target = await self.store.get(BackupTarget, key.namespace)
            access = await access_to(target, self.secrets)
        except UserError as error:
            return await self._failed(batch, error.message)
        now = self.clock.now()
        running = [
            await self.store.update_status(
                one.replace(status=one.status.no_longer_waiting()).with_status(
                    phase=DeletionPhase.RUNNING, message="", retry_at=None, started_at=one.status.started_at or now
                )
            )
            for one in batch
        ]
        await mark_removed(self.store, running, now=now)
        await self.movers.ensure(removal_of(key), _job(key, running, access), on_news=key)
        log.info("deletion begun", target=key.namespace, volume=key.name, deletions=len(running))
        return None

    async def _conclude(self, key: Ref, deletions: Sequence[Deletion]) -> bool:
        """Write down what the worker of this volume said last, if it has."""
        errand = self.movers.look(removal_of(key))
        if errand is None or errand.last_words is None:
            return False
        running = [one for one in deletions if one.status.phase is DeletionPhase.RUNNING]
        words = errand.last_words
        if isinstance(words, ResultReport):
            for one in running:
                await self._end(one, DeletionPhase.DONE, "; ".join(words.result.warnings))
        elif words.code == InvalidInput.code:
            for one in running:
                await self._end(one, DeletionPhase.REFUSED, words.message)
        else:
            held = words.code == StoreLockHeld.code
            await self._failed(running, words.message, pause=LOCK_AGAIN if held else None)
        await self.movers.forget(removal_of(key))
        _log_end(key, words)
        return True

    async def _free_slots(self) -> int:
        """Negative after the setting was lowered, until enough workers have ended."""
        return (await self.state.settings()).concurrent_deletions - self.movers.count(REMOVALS)

    async def _offer_slots(self) -> None:
        """Who waits longest looks first; no more look than there are slots, for there may be very many."""
        for _ in range(min(await self._free_slots(), len(self._want_slot))):
            other = next(iter(self._want_slot))
            del self._want_slot[other]
            self.wake(other)

    async def _failed(self, batch: Iterable[Deletion], why: str, *, pause: timedelta | None = None) -> datetime | None:
        """Tried again later and later, or after `pause`, for as long as somebody wants it gone."""
        retry_at = None
        for one in batch:
            attempts = one.status.attempts + (pause is None)
            retry_at = self.clock.now() + (pause or retry_delay(attempts))
            status = one.status.no_longer_waiting()
            await self.store.update_status(
                one.replace(status=status).with_status(
                    phase=DeletionPhase.RETRYING, message=why, attempts=attempts, retry_at=retry_at
                )
            )
        return retry_at

    async def _end(self, one: Deletion, phase: DeletionPhase, message: str) -> None:
        status = one.status.no_longer_waiting()
        changes = {"phase": phase, "message": message, "retry_at": None, "finished_at": self.clock.now()}
        await self.store.update_status(one.replace(status=status.replace(**changes)))
        if self.lists is not None and one.status.started_at is not None and phase is not DeletionPhase.DONE:
            self.lists.request(one.spec.target, one.spec.volume)  # a try may have removed some of it

    async def _after_end(self, one: Deletion) -> datetime | None:
        """Hidden until the catalogue has seen that it is gone; then kept for a day for whoever asks."""
        now = self.clock.now()
        finished = one.status.finished_at or now
        if not one.status.settled:
            if one.status.phase is DeletionPhase.DONE and not await self._seen_gone(one, finished):
                return now + min(_LONGEST_LOOK, _FIRST_LOOK + (now - finished) / 4)
            await self.desk.show_again(one)
            one = await self.store.update_status(one.with_status(settled=True))
            self._asked_to_look.discard(one.metadata.uid)
        if now < finished + KEPT_FOR:
            return finished + KEPT_FOR
        await self.store.delete(one.ref, uid=one.metadata.uid)
        return None

    async def _seen_gone(self, one: Deletion, finished: datetime) -> bool:
        """Else a look that began before would bring it back. A target that is no longer known has no lists."""
        if self.lists is None or await self._target(volume_of(one)) is None:
            return True
        if await self.lists.looked_since(one.spec.target, one.spec.volume, finished):
            return True
        if one.metadata.uid not in self._asked_to_look:
            self._asked_to_look.add(one.metadata.uid)
            self.lists.request(one.spec.target, one.spec.volume)
        return False

    def _volume_of(self, resource: Resource) -> Iterable[Ref]:
        assert isinstance(resource, Deletion)  # noqa: S101  # see watches
        key = volume_of(resource)
        if not resource.status.phase.final:
            self._open[key] = None
        return (key,)

    def _concerned(self, resource: Resource) -> Iterable[Ref]:
        assert isinstance(resource, Transfer)  # noqa: S101  # see watches
        key = Ref(VOLUME, resource.spec.store_volume, resource.spec.target)
        return (key,) if key in self._open else ()

    def _first_in_line(self, setting: Resource) -> Iterable[Ref]:
        """Another number of workers concerns who waits for one; the first of them wakes the others."""
        return list(self._want_slot)[:1] if setting.name == CONCURRENT_DELETIONS.name else ()

    def _volumes_of_target(self, resource: Resource) -> Iterable[Ref]:
        return [key for key in self._open if key.namespace == resource.name]


def _job(key: Ref, batch: Sequence[Deletion], access: TargetAccess) -> RemoveJob:
    backups = dict.fromkeys(name for one in batch for name in one.spec.backups)
    whole = any(one.whole_volume for one in batch)
    return RemoveJob(target=access, store_volume=key.name, store_backups=tuple(backups), whole_volume=whole)


def _soonest(moments: Iterable[datetime | None], now: datetime) -> Next:
    known = [moment for moment in moments if moment is not None]
    return Next.after(max(min(known) - now, timedelta())) if known else Next.done()


def _log_end(key: Ref, words: ResultReport | ErrorReport) -> None:
    if isinstance(words, ErrorReport):
        log.warning("deletion failed", target=key.namespace, volume=key.name, error=words.message)
    else:
        log.info("deletion done", target=key.namespace, volume=key.name)

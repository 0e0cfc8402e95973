"""Carries one transfer from Accepted to its end, and removes what it wrote when it is deleted.

One shape for all four kinds: they differ in what their mover is told, not in what can happen to them. What happens next
is decided in `decide/transfers/steps.py`; here it is done.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from tidegate.controllers.movers.bandwidth import bandwidth_of_each
from tidegate.controllers.movers.jobs import MoverMeans, clearing_job, moving_job
from tidegate.controllers.movers.supervisor import MoverSupervisor
from tidegate.controllers.movers.takeover import Takeover
from tidegate.controllers.reconcile.finalizers import let_go
from tidegate.controllers.reconcile.reconciler import Next, Watch
from tidegate.controllers.stores.deletion_desk import DeletionDesk
from tidegate.controllers.transfers.taking_over import TransferTakeover
from tidegate.decide.jobs.events import with_events
from tidegate.decide.stores.places import store_places
from tidegate.decide.transfers import step as steps
from tidegate.decide.transfers.begin_anew import begun_anew
from tidegate.decide.transfers.deadlines import TransferLimits
from tidegate.decide.transfers.step import Step
from tidegate.decide.transfers.steps import next_step
from tidegate.errors import NotFound, UserError
from tidegate.model.kinds import KIND_BY_NAME
from tidegate.model.reasons import Reason
from tidegate.model.resource import Condition, Ref, Resource
from tidegate.model.setting import Settings
from tidegate.model.stores.deletion import Deletion
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.model.transfers.transfer import TRANSFERS, Transfer, TransferPhase
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, access_to
from tidegate.state.server_state import ServerState

log = structlog.get_logger(__name__)

# Held until the mover is gone and, for uploads, the volume backup is removed from the store.
FINALIZER = "tidegate.dev/transfer"
_TRY_AGAIN = Next.after(timedelta(seconds=5))


@dataclass
class TransferController:
    """Owns the steps out of Accepted, InProgress and Canceling, and cancelling in every phase."""

    state: ServerState
    clock: Clock
    movers: MoverSupervisor
    takeover: Takeover
    secrets: SecretStore
    deletions: DeletionDesk
    doubt: Callable[[str], None] = lambda _target: None
    """Hears of a target whose store a mover found to be another one."""
    keep_out: tuple[KeptPlace, ...] = ()
    """Beside the stores: the server's data directory, into which no restore writes."""
    name: str = "transfer"
    workers: int = 8

    def __post_init__(self) -> None:
        self.taking_over = TransferTakeover(self.store, self.clock, self.movers, self.takeover)
        self.watches: tuple[Watch, ...] = (
            *(Watch(kind) for kind in TRANSFERS),
            Watch(Deletion, _upload_of),
        )

    @property
    def store(self) -> ResourceStore:
        """What it reads and writes."""
        return self.state.store

    async def reconcile(self, key: Ref) -> Next:
        """One step of one transfer."""
        await self.takeover.begin()
        try:
            transfer = await self.store.get(_transfer_kind(key), key.name)
        except NotFound:
            self.takeover.settle(key)
            return Next.done()
        if transfer.status.phase.final:
            self.takeover.settle(key)
            await self.movers.forget(transfer.metadata.uid)
            return await self._remove(transfer) if transfer.deleting else Next.done()
        if self.takeover.holds(key) and not await self.taking_over.goes_on(transfer):
            return Next.done()
        settings = await self.state.settings()
        return await self._apply(transfer, self._decide(transfer, settings), settings)

    def _decide(self, transfer: Transfer, settings: Settings) -> Step:
        errand = self.movers.look(transfer.metadata.uid)
        limits = TransferLimits(prepare=settings.prepare_timeout, stall=settings.stall_timeout)
        return next_step(transfer, errand.known if errand else None, now=self.clock.now(), limits=limits)

    async def _apply(  # noqa: C901, PLR0911, PLR0912  # a row per kind of step
        self, transfer: Transfer, step: Step, settings: Settings
    ) -> Next:
        match step:
            case steps.Wait(until=until):
                return self._until(until)
            case steps.StartMover():
                return await self._start(transfer, settings)
            case steps.ClearLeftovers():
                return await self._clear(transfer)
            case steps.End():
                return await self._end(transfer, step)
            case steps.MarkPrepared(from_snapshot=held):
                now = self.clock.now()
                await self._write(transfer, phase=TransferPhase.PREPARED, prepared_timestamp=now, from_snapshot=held)
                return Next.done()
            case steps.Note():
                await self._note(transfer, step)
                return Next.done()
            case steps.BeginStop(why=why):
                now = self.clock.now()
                await self._write(transfer, phase=TransferPhase.CANCELING, message=why, canceling_timestamp=now)
                return Next.done()
            case steps.LetGo():
                self.movers.let_go(transfer.metadata.uid, limits=self._share(transfer, settings))
                return self._then_wait(transfer, settings)
            case steps.StopMover(again=again):
                self.movers.cancel(transfer.metadata.uid)
                return self._until(again)
            case steps.BeginAnew(why=why):
                # The target is looked at first, so that the gates know of it before they let the next one through.
                self.doubt(transfer.spec.target)
                return await self._back_to_new(transfer, begun_anew(transfer, why))
            case steps.WaitForLock():
                return await self._back_to_new(transfer, self._without_lock(transfer, step))
            case steps.TryAgain():
                await self.store.update_status(transfer.with_status(retry_at=None))
                return Next.done()
            case steps.ForgetMover(again=again):
                await self.movers.forget(transfer.metadata.uid)
                return self._until(again)

    def _then_wait(self, transfer: Transfer, settings: Settings) -> Next:
        """The mover has been told something and answers in its own time; until then only the deadlines matter."""
        step = self._decide(transfer, settings)
        return self._until(step.until) if isinstance(step, steps.Wait) else Next.after(timedelta())

    async def _start(self, transfer: Transfer, settings: Settings) -> Next:
        try:
            job = moving_job(transfer, await self._target(transfer), await self._means(transfer, settings))
        except UserError as error:
            return await self._end(transfer, steps.End(TransferPhase.FAILED, str(error), error_code=error.code))
        await self.movers.ensure(transfer.metadata.uid, job, on_news=transfer.ref, node=transfer.status.node or "")
        return self._then_wait(transfer, settings)

    async def _means(self, transfer: Transfer, settings: Settings) -> MoverMeans:
        upload, download = self._share(transfer, settings)
        keep_out = self.keep_out
        if transfer.direction == "download":
            keep_out += store_places((await self.store.list(BackupTarget)).items)
        return MoverMeans(settings.mover_memory_bytes, upload, download, keep_out)

    def _share(self, transfer: Transfer, settings: Settings) -> tuple[int | None, int | None]:
        """Of its node's bandwidth, as if it moved as well: bytes per second, up and down."""
        return bandwidth_of_each(settings, self.movers.moving_on(transfer.status.node or "") + 1)

    async def _clear(self, transfer: Transfer) -> Next:
        try:
            job = clearing_job(transfer, await self._target(transfer))
        except NotFound:  # no target, nothing to clear
            asked = transfer.spec.cancel or transfer.deleting
            phase = TransferPhase.CANCELED if asked else TransferPhase.FAILED
            return await self._end(transfer, steps.End(phase, transfer.status.message))
        except UserError as error:
            return await self._not_yet(transfer, error.message)
        await self.movers.ensure(transfer.metadata.uid, job, on_news=transfer.ref)
        return _TRY_AGAIN

    async def _note(self, transfer: Transfer, note: steps.Note) -> None:
        status = transfer.status.replace(progress=note.progress).without_condition("Stalled")
        if note.stalled:
            now = self.clock.now()
            status = status.with_condition(
                Condition(
                    type="Stalled", status="True", reason="NoProgress", message=note.stalled, last_transition_time=now
                )
            )
            log.warning("transfer stalled", transfer=str(transfer.ref), message=note.stalled)
        await self.store.update_status(transfer.replace(status=status))

    async def _end(self, transfer: Transfer, end: steps.End) -> Next:
        errand = self.movers.look(transfer.metadata.uid)
        progress = errand.known.progress if errand is not None else None
        if progress is not None and errand is not None and not errand.known.clears:
            transfer = transfer.with_status(progress=progress.replace(updated_at=errand.known.heard_at))
        await self._write(
            transfer,
            phase=end.phase,
            message=end.message,
            error_code=end.error_code,
            result=end.result,
            completion_timestamp=self.clock.now(),
        )
        await self.movers.forget(transfer.metadata.uid)
        log.info("transfer ended", transfer=str(transfer.ref), phase=str(end.phase), message=end.message)
        return Next.done()

    def _without_lock(self, transfer: Transfer, step: steps.WaitForLock) -> Transfer:
        """It has written nothing, so it begins anew; meanwhile slot and place are for others."""
        now = self.clock.now()
        again = begun_anew(transfer)
        waiting = again.status.waiting(Reason.WAITING_FOR_LOCK, step.why, since=now)
        since = transfer.status.waits_for_lock_since or now
        again = again.replace(status=waiting.replace(retry_at=step.until, waits_for_lock_since=since))
        return with_events(transfer, again, now=now)

    async def _back_to_new(self, transfer: Transfer, again: Transfer) -> Next:
        if again.metadata.labels != transfer.metadata.labels:
            written = await self.store.update(transfer.with_metadata(labels=again.metadata.labels))
            again = again.with_metadata(resource_version=written.metadata.resource_version)
        await self.store.update_status(again)
        await self.movers.forget(transfer.metadata.uid)
        why = again.status.condition("Waiting")
        message = why.message if why else again.status.message
        log.warning("transfer waits for its store", transfer=str(transfer.ref), message=message)
        return Next.done()

    async def _write(self, transfer: Transfer, **changes: object) -> None:
        now = self.clock.now()
        status = transfer.status.no_longer_waiting().without_condition("Stalled").replace(**changes)
        await self.store.update_status(with_events(transfer, transfer.replace(status=status), now=now))

    async def _remove(self, transfer: Transfer) -> Next:
        """Have the volume backup taken out of the store, then let go of the record."""
        if transfer.direction == "upload" and transfer.status.accepted_timestamp is not None:
            try:
                deletion = await self.deletions.ask_for(transfer)
            except NotFound:
                return await self._let_go(transfer)  # the target itself is no longer known: nothing we could remove
            if not deletion.status.phase.final:
                if deletion.status.message:
                    await self._say_not_yet(transfer, deletion.status.message)
                return Next.done()  # its news wake us
        return await self._let_go(transfer)

    async def _not_yet(self, transfer: Transfer, why: str) -> Next:
        """What must be removed stays known until it is."""
        await self._say_not_yet(transfer, why)
        return _TRY_AGAIN

    async def _say_not_yet(self, transfer: Transfer, why: str) -> None:
        message = f"could not be removed from the store yet: {why}"
        await self.store.update_status(transfer.with_status(message=message))

    async def _let_go(self, transfer: Transfer) -> Next:
        await let_go(self.store, transfer, FINALIZER)
        return Next.done()

    async def _target(self, transfer: Transfer) -> TargetAccess:
        target = await self.store.get(BackupTarget, transfer.spec.target)
        return await access_to(target, self.secrets)

    def _until(self, moment: datetime | None) -> Next:
        return Next.done() if moment is None else Next.after(max(moment - self.clock.now(), timedelta()))


def _upload_of(resource: Resource) -> Iterable[Ref]:
    """The upload that waits for this deletion, if one does."""
    assert isinstance(resource, Deletion)  # noqa: S101  # see the watches
    kind, _, name = resource.spec.upload.partition("/")
    return (Ref(kind, name),) if name else ()


def _transfer_kind(key: Ref) -> type[Transfer]:
    kind = KIND_BY_NAME[key.kind]
    assert issubclass(kind, Transfer)  # noqa: S101  # this reconciler watches nothing else
    return kind

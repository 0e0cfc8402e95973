"""Carries one transfer from Accepted to its end, and removes what it wrote when it is deleted.

One shape for all four kinds: they differ in what their mover is told, not in what can happen to them.
"""

from dataclasses import dataclass
from datetime import timedelta

import structlog

from tidegate.controllers.finalizers import let_go
from tidegate.controllers.mover_jobs import clearing_job, moving_job, removing_job
from tidegate.controllers.mover_supervisor import Errand, MoverSupervisor
from tidegate.controllers.reconciler import Next, Watch
from tidegate.errors import NotFound, UserError, WorkCancelled
from tidegate.model.kinds import KIND_BY_NAME
from tidegate.model.mover_job import ErrorReport, RemoveJob, ResultReport, TargetAccess
from tidegate.model.resource import Ref
from tidegate.model.target import BackupTarget
from tidegate.model.transfer import TRANSFERS, Transfer, TransferPhase
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, access_to

log = structlog.get_logger(__name__)

# Held until the mover is gone and, for uploads, the volume backup is removed from the store.
FINALIZER = "tidegate.dev/transfer"
_TRY_AGAIN = Next.after(timedelta(seconds=5))


@dataclass
class TransferController:
    """Owns the steps out of Accepted, InProgress and Canceling, and cancelling in every phase."""

    store: ResourceStore
    clock: Clock
    movers: MoverSupervisor
    secrets: SecretStore
    name: str = "transfer"
    workers: int = 8
    watches: tuple[Watch, ...] = tuple(Watch(kind) for kind in TRANSFERS)

    async def reconcile(self, key: Ref) -> Next:
        """One step of one transfer."""
        try:
            transfer = await self.store.get(_transfer_kind(key), key.name)
        except NotFound:
            return Next.done()
        phase = transfer.status.phase
        if phase.final:
            self.movers.forget(transfer.metadata.uid)
            return await self._remove(transfer) if transfer.deleting else Next.done()
        if phase is TransferPhase.CANCELING:
            return await self._stop(transfer)
        if phase is TransferPhase.IN_PROGRESS:
            return await self._move(transfer)
        if transfer.spec.cancel or transfer.deleting:
            return await self._end(transfer, TransferPhase.CANCELED, "cancelled before it moved anything")
        if phase is TransferPhase.ACCEPTED:
            await self.store.update_status(transfer.with_status(phase=TransferPhase.PREPARED))
        return Next.done()  # New and Prepared wait for their gates

    async def _move(self, transfer: Transfer) -> Next:
        errand = self.movers.look(transfer.metadata.uid)
        if errand is None:
            try:
                job = moving_job(transfer, await self._target(transfer))
            except UserError as error:
                return await self._end(transfer, TransferPhase.FAILED, str(error))
            errand = await self.movers.ensure(transfer.metadata.uid, job, on_news=transfer.ref)
        if errand.last_words is not None:
            return await self._conclude(transfer, errand)
        started = transfer.status.start_timestamp or self.clock.now()
        left = started + transfer.spec.timeout - self.clock.now()
        if transfer.spec.cancel or transfer.deleting:
            return await self._begin_stop(transfer, errand, "cancelled on request")
        if left <= timedelta():
            return await self._begin_stop(transfer, errand, f"took longer than {transfer.spec.timeout}")
        if errand.progress is not None and errand.progress != transfer.status.progress:
            await self.store.update_status(transfer.with_status(progress=errand.progress))
        return Next.after(left)

    async def _begin_stop(self, transfer: Transfer, errand: Errand, why: str) -> Next:
        await self.store.update_status(transfer.with_status(phase=TransferPhase.CANCELING, message=why))
        errand.mover.cancel()
        return Next.done()

    async def _stop(self, transfer: Transfer) -> Next:
        """Wait for the mover's last words; where there is no mover any more, clear what it may have left."""
        errand = self.movers.look(transfer.metadata.uid)
        if errand is None and transfer.direction == "upload" and transfer.status.accepted_timestamp is not None:
            try:
                job = clearing_job(transfer, await self._target(transfer))
            except NotFound:
                return await self._stopped(transfer)  # no target, nothing to clear
            except UserError as error:
                return await self._not_yet(transfer, error.message)
            await self.movers.ensure(transfer.metadata.uid, job, on_news=transfer.ref)
            return _TRY_AGAIN
        if errand is None:
            return await self._stopped(transfer)
        if errand.last_words is None:
            errand.mover.cancel()  # again: the first time may have been in another life of this server
            return _TRY_AGAIN
        return await self._conclude(transfer, errand)

    async def _conclude(self, transfer: Transfer, errand: Errand) -> Next:
        """Write the mover's last words down; only then are they forgotten."""
        words = errand.last_words
        if isinstance(words, ResultReport) and not isinstance(errand.job, RemoveJob):
            # Also when it was being cancelled: the mover was faster, and what is done is done.
            result = words.result
            done = transfer.with_status(result=result, message="", progress=errand.progress)
            return await self._end(done, TransferPhase.COMPLETED, "")
        if isinstance(words, ErrorReport) and words.code != WorkCancelled.code:
            if transfer.status.phase is TransferPhase.CANCELING and words.code in _WORTH_RETRYING:
                self.movers.forget(transfer.metadata.uid)
                return _TRY_AGAIN
            failed = transfer.with_status(error_code=words.code)
            return await self._end(failed, TransferPhase.FAILED, words.message)
        return await self._stopped(transfer)

    async def _stopped(self, transfer: Transfer) -> Next:
        """Canceled if somebody asked for it, Failed with the reason otherwise."""
        asked = transfer.spec.cancel or transfer.deleting
        phase = TransferPhase.CANCELED if asked else TransferPhase.FAILED
        return await self._end(transfer, phase, transfer.status.message or "cancelled on request")

    async def _end(self, transfer: Transfer, phase: TransferPhase, message: str) -> Next:
        status = transfer.status.no_longer_waiting().replace(
            phase=phase, message=message, completion_timestamp=self.clock.now()
        )
        await self.store.update_status(transfer.replace(status=status))
        self.movers.forget(transfer.metadata.uid)
        log.info("transfer ended", transfer=str(transfer.ref), phase=str(phase), message=message)
        return Next.done()

    async def _remove(self, transfer: Transfer) -> Next:
        """Take the volume backup out of the store, then let go of the record."""
        if transfer.direction == "upload" and transfer.status.accepted_timestamp is not None:
            errand_name = f"remove/{transfer.metadata.uid}"
            try:
                job = removing_job(transfer, await self._target(transfer))
            except NotFound:
                return await self._let_go(transfer)  # the target itself is no longer known: nothing we could remove
            except UserError as error:
                return await self._not_yet(transfer, error.message)
            errand = await self.movers.ensure(errand_name, job, on_news=transfer.ref)
            if errand.last_words is None:
                return Next.done()
            self.movers.forget(errand_name)
            if isinstance(errand.last_words, ErrorReport):
                return await self._not_yet(transfer, errand.last_words.message)
        return await self._let_go(transfer)

    async def _not_yet(self, transfer: Transfer, why: str) -> Next:
        """What must be removed stays known until it is."""
        message = f"could not be removed from the store yet: {why}"
        await self.store.update_status(transfer.with_status(message=message))
        return _TRY_AGAIN

    async def _let_go(self, transfer: Transfer) -> Next:
        await let_go(self.store, transfer, FINALIZER)
        return Next.done()

    async def _target(self, transfer: Transfer) -> TargetAccess:
        target = await self.store.get(BackupTarget, transfer.spec.target)
        return await access_to(target.spec, self.secrets)


_WORTH_RETRYING = frozenset({"StoreUnavailable", "StoreBusy", "StoreLocked", "RetryableError"})


def _transfer_kind(key: Ref) -> type[Transfer]:
    kind = KIND_BY_NAME[key.kind]
    assert issubclass(kind, Transfer)  # noqa: S101  # this reconciler watches nothing else
    return kind

"""Carries one backup from ReadyToStart to its end, and takes it apart when it is deleted."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from tidegate.controllers.backups.blocks import BackupBlocks, of_attempt
from tidegate.controllers.movers.takeover import Takeover
from tidegate.controllers.reconcile.cancelling import cancel_all
from tidegate.controllers.reconcile.finalizers import let_go
from tidegate.controllers.reconcile.observation import all_of, all_transfers, settings_now
from tidegate.controllers.reconcile.reconciler import Next, Watch, owners
from tidegate.decide.backups.cancelling import called_off_at, did_not_stop, time_left_to_stop
from tidegate.decide.backups.interruption import broken_off, interrupted, is_interrupted, under_way
from tidegate.decide.backups.item_blocks import plan_blocks
from tidegate.decide.backups.slot_lifetime import may_leave_slot, needs_live_data
from tidegate.decide.jobs.events import with_events
from tidegate.decide.jobs.rollup import Rollup, roll_up
from tidegate.decide.volumes.matching import ended_empty, match
from tidegate.errors import NotFound
from tidegate.model.backups.backup import BACKUP_FINALIZER, Backup, BackupPhase, BackupProgress
from tidegate.model.backups.hooks import HookStatus
from tidegate.model.job_progress import with_bytes, with_bytes_at_end
from tidegate.model.labels import Selector
from tidegate.model.resource import Ref, Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.setting import ITEM_BLOCK_WORKERS, Setting
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, BACKUP_LABEL, UPLOADS, Transfer
from tidegate.model.verification.verification import Verification
from tidegate.model.volumes.volume import Volume
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)

_FINALIZING = {"Completed": BackupPhase.FINALIZING, "PartiallyFailed": BackupPhase.FINALIZING_PARTIALLY_FAILED}
_AFTER_FINALIZING = {
    BackupPhase.FINALIZING: BackupPhase.COMPLETED,
    BackupPhase.FINALIZING_PARTIALLY_FAILED: BackupPhase.PARTIALLY_FAILED,
}


def _frees_something(upload: Resource) -> bool:
    """Whether a backup may go on because of it: with its next block, or out of its slot."""
    return isinstance(upload, Transfer) and (upload.deleting or not needs_live_data(upload))


@dataclass
class BackupController:
    """Owns every step of a backup after ReadyToStart."""

    store: ResourceStore
    clock: Clock
    blocks: BackupBlocks
    takeover: Takeover
    running: Callable[[], Iterable[str]] = tuple
    """Names of backups that have a slot: a changed number of workers concerns them."""
    name: str = "backup"
    workers: int = 4

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The backups, their uploads, and the number of workers that each backup has."""
        uploads = (Watch(kind, owners("Backup", of=_frees_something)) for kind in UPLOADS)
        return (Watch(Backup), *uploads, Watch(Setting, self._concerned))

    def _concerned(self, setting: Resource) -> Iterable[Ref]:
        return [Ref("Backup", name) for name in self.running()] if setting.name == ITEM_BLOCK_WORKERS.name else []

    async def reconcile(self, key: Ref) -> Next:
        """One step of one backup."""
        try:
            backup = await self.store.get(Backup, key.name)
        except NotFound:
            return Next.done()
        phase = backup.status.phase
        if phase.final:
            self.takeover.drop(backup)
        if backup.deleting:
            return await self._take_apart(backup)
        if phase is BackupPhase.READY_TO_START:
            await (self._finish(backup, BackupPhase.CANCELED) if backup.spec.cancel else self._begin(backup))
        elif under_way(backup):
            return await (self._go_on(backup) if self.takeover.carries(backup) else self._take_over(backup))
        elif phase in _AFTER_FINALIZING:
            await self._finish(backup, _AFTER_FINALIZING[phase])
        elif phase.final and backup.status.expiration is not None and not backup.pinned:
            return await self._expire(backup, backup.status.expiration)
        return Next.done()

    async def _begin(self, backup: Backup) -> None:
        now = self.clock.now()
        expiration = now + backup.spec.ttl
        started = backup.with_status(phase=BackupPhase.IN_PROGRESS, start_timestamp=now, expiration=expiration)
        self.takeover.carry(backup)
        await self.store.update_status(with_events(backup, started, now=now))
        log.info("backup started", backup=backup.name)

    async def _take_over(self, backup: Backup) -> Next:
        """Another server began it: it goes on, unless something of it ended with that server."""
        await self.takeover.begin()
        uploads = await self._uploads_of_attempt(backup)
        if not is_interrupted(backup, uploads, movers=self.takeover.movers_of(uploads)):
            self.takeover.carry(backup)
            return await self._go_on(backup)
        now = self.clock.now()
        await self.store.update_status(with_events(backup, broken_off(backup, now=now), now=now))
        log.warning("interrupted by the end of the last server", what=str(backup.ref))
        self.takeover.carry(backup)
        return Next.done()

    async def _settle_blocks(self, backup: Backup) -> None:
        """Which volumes, in which blocks: decided once, so that what changes meanwhile leaves nothing half done."""
        found = match(backup.spec, await all_of(self.store, Volume))
        settled = backup.with_status(
            progress=BackupProgress(total_items=len(found.volumes)),
            blocks=plan_blocks(backup.spec, found.volumes),
            unmatched=found.sentences,
        )
        await self.store.update_status(with_events(backup, settled, now=self.clock.now()))

    async def _go_on(self, backup: Backup) -> Next:
        called_off = backup.spec.cancel or backup.status.interrupted
        if backup.status.progress is None and not called_off:
            await self._settle_blocks(backup)
            return Next.done()
        uploads = await self._uploads_of_attempt(backup)
        if backup.spec.cancel:
            backup = await self._cancel(backup, uploads)
        patience = time_left_to_stop(called_off_at(backup), self.clock.now())
        workers = (await settings_now(self.store)).item_block_workers
        overdue = patience == timedelta()
        found = await self.blocks.look(backup, uploads, workers=workers, ending=called_off, overdue=overdue)
        uploads += await self.blocks.refuse(backup, found)
        after = _with_counts(self.blocks.noted(backup, found), roll_up(uploads))
        if not after.status.blocks:
            after = self._after_last_block(after, uploads, overdue=overdue)
        after = with_bytes(after, uploads)
        await self.blocks.apply(backup, with_events(backup, after, now=self.clock.now()), found)
        return Next.after(patience) if patience and not after.status.phase.final else Next.done()

    def _after_last_block(self, backup: Backup, uploads: list[Transfer], *, overdue: bool) -> Backup:
        rollup = roll_up(uploads)
        if backup.status.interrupted:
            return interrupted(backup, now=self.clock.now())
        if rollup.finished or overdue:
            backup = _concluded(backup, rollup) if rollup.finished else _ended_without(backup, uploads)
            return backup.with_status(completion_timestamp=self.clock.now()) if backup.status.phase.final else backup
        return backup.with_status(phase=_waiting_phase(backup)) if may_leave_slot(uploads) else backup

    async def _cancel(self, backup: Backup, uploads: list[Transfer]) -> Backup:
        """Each ends by itself, soon: a mover that does not stop is killed. The time they have begins now."""
        await cancel_all(self.store, uploads)
        if backup.status.cancel_requested_at is not None:
            return backup
        return await self.store.update_status(backup.with_status(cancel_requested_at=self.clock.now()))

    async def _finish(self, backup: Backup, phase: BackupPhase) -> None:
        now = self.clock.now()
        finished = with_bytes_at_end(backup.with_status(phase=phase, completion_timestamp=now))
        await self.store.update_status(with_events(backup, finished, now=now))
        log.info("backup ended", backup=backup.name, phase=str(phase))

    async def _expire(self, backup: Backup, expiration: datetime) -> Next:
        """Delete it the usual way once its time is over, but not while a restore or a verification reads it."""
        left = expiration - self.clock.now()
        if left > timedelta():
            return Next.after(left)
        readers: list[Restore | Verification] = [
            *await all_of(self.store, Restore),
            *await all_of(self.store, Verification),
        ]
        if any(one.source_backup == backup.name and not one.status.phase.final for one in readers):
            return Next.after(timedelta(minutes=1))
        log.info("backup expired", backup=backup.name, expired_at=expiration.isoformat())
        await self.store.delete(backup.ref, uid=backup.metadata.uid)
        return Next.done()

    async def _take_apart(self, backup: Backup) -> Next:
        """Delete the transfers, each of which removes its data from the store; run owed post hooks; then let go."""
        if backup.status.phase is not BackupPhase.DELETING:
            now, status = self.clock.now(), backup.status.no_longer_waiting().replace(phase=BackupPhase.DELETING)
            if not backup.holds_slot and status.completion_timestamp is None:
                status = status.replace(completion_timestamp=now)  # it left its slot, and must not take it again
            marked = with_events(backup, backup.replace(status=status), now=now)
            backup = await self.store.update_status(marked)
        uploads = await self._uploads(backup)
        for upload in uploads:
            if not upload.deleting:
                await self.store.delete(upload.ref, uid=upload.metadata.uid)
        patience = time_left_to_stop(called_off_at(backup), self.clock.now())
        current = [upload for upload in uploads if of_attempt(backup, upload)]
        released = await self.blocks.release(backup, current, overdue=patience == timedelta())
        if not uploads and released:
            await let_go(self.store, backup, BACKUP_FINALIZER)
            log.info("backup deleted", backup=backup.name)
        return Next.after(patience) if patience and not released else Next.done()

    async def _uploads(self, backup: Backup) -> list[Transfer]:
        return await all_transfers(self.store, Selector.matching({BACKUP_LABEL: backup.metadata.uid}))

    async def _uploads_of_attempt(self, backup: Backup) -> list[Transfer]:
        """Without those that an interruption ended."""
        wanted = {BACKUP_LABEL: backup.metadata.uid, ATTEMPT_LABEL: str(backup.status.attempt)}
        return await all_transfers(self.store, Selector.matching(wanted))


def _with_counts(backup: Backup, rollup: Rollup) -> Backup:
    status = backup.status
    hooks = status.hook_status or HookStatus()
    planned = status.progress.total_items if status.progress else 0
    return backup.with_status(
        progress=BackupProgress(total_items=planned, items_backed_up=rollup.done),
        errors=rollup.failed + rollup.cancelled + rollup.incomplete + hooks.errors,
        warnings=rollup.warnings + hooks.warnings + len(status.gone_volumes) + len(status.unmatched),
    )


def _waiting_phase(backup: Backup) -> BackupPhase:
    if backup.status.errors:
        return BackupPhase.WAITING_FOR_PLUGIN_OPERATIONS_PARTIALLY_FAILED
    return BackupPhase.WAITING_FOR_PLUGIN_OPERATIONS


def _ended_without(backup: Backup, uploads: list[Transfer]) -> Backup:
    return backup.with_status(phase=BackupPhase.CANCELED, failure_reason=did_not_stop(uploads))


def _concluded(backup: Backup, rollup: Rollup) -> Backup:
    planned = (backup.status.progress or BackupProgress()).total_items
    hooks = backup.status.hook_status or HookStatus()
    if backup.spec.cancel and (rollup.done < planned or not planned):
        why = f"cancelled on request; {rollup.done} of {planned} volumes were done"
        return backup.with_status(phase=BackupPhase.CANCELED, failure_reason=why)
    if rollup.total == 0:
        return ended_empty(backup)
    outcome = "PartiallyFailed" if rollup.outcome == "Completed" and hooks.errors else rollup.outcome
    phase = _FINALIZING.get(outcome) or BackupPhase(outcome)
    why_hooks = hooks.problems[0] if hooks.errors and hooks.problems else None
    return backup.with_status(phase=phase, failure_reason=rollup.first_failure or why_hooks)

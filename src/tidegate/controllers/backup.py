"""Carries one backup from ReadyToStart to its end, and takes it apart when it is deleted."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

import structlog

from tidegate.controllers import transfer as transfers
from tidegate.controllers.finalizers import let_go
from tidegate.controllers.observation import all_of, all_transfers
from tidegate.controllers.reconciler import Next, Watch, owners
from tidegate.decide.cancelling import did_not_stop, time_left_to_stop
from tidegate.decide.rollup import Rollup, roll_up
from tidegate.decide.selection import volumes_to_back_up
from tidegate.errors import AlreadyExists, NotFound
from tidegate.format.paths import store_backup_name, store_volume_name
from tidegate.model.backup import BACKUP_FINALIZER, Backup, BackupPhase, BackupProgress
from tidegate.model.labels import Selector
from tidegate.model.resource import Condition, Metadata, Ref
from tidegate.model.restore import Restore
from tidegate.model.transfer import (
    ATTEMPT_LABEL,
    BACKUP_LABEL,
    UPLOADS,
    VOLUME_LABEL,
    DataUpload,
    PodVolumeBackup,
    Transfer,
    TransferSpec,
)
from tidegate.model.volume import Volume
from tidegate.model.volume_kind import VolumeKind
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)

_FINALIZING = {"Completed": BackupPhase.FINALIZING, "PartiallyFailed": BackupPhase.FINALIZING_PARTIALLY_FAILED}
_AFTER_FINALIZING = {
    BackupPhase.FINALIZING: BackupPhase.COMPLETED,
    BackupPhase.FINALIZING_PARTIALLY_FAILED: BackupPhase.PARTIALLY_FAILED,
}


@dataclass
class BackupController:
    """Owns every step of a backup after ReadyToStart."""

    store: ResourceStore
    clock: Clock
    name: str = "backup"
    workers: int = 4
    watches: tuple[Watch, ...] = (Watch(Backup), *(Watch(kind, owners("Backup")) for kind in UPLOADS))

    async def reconcile(self, key: Ref) -> Next:
        """One step of one backup."""
        try:
            backup = await self.store.get(Backup, key.name)
        except NotFound:
            return Next.done()
        phase = backup.status.phase
        if backup.deleting:
            return await self._take_apart(backup)
        if phase is BackupPhase.READY_TO_START:
            await (self._finish(backup, BackupPhase.CANCELED) if backup.spec.cancel else self._begin(backup))
        elif phase is BackupPhase.IN_PROGRESS:
            await self._go_on(backup)
            return await self._see_cancel_through(backup.name) if backup.spec.cancel else Next.done()
        elif phase in _AFTER_FINALIZING:
            await self._finish(backup, _AFTER_FINALIZING[phase])
        elif phase.final and backup.status.expiration is not None:
            return await self._expire(backup, backup.status.expiration)
        return Next.done()

    async def _begin(self, backup: Backup) -> None:
        now = self.clock.now()
        expiration = now + backup.spec.ttl
        started = backup.with_status(phase=BackupPhase.IN_PROGRESS, start_timestamp=now, expiration=expiration)
        await self.store.update_status(started)
        log.info("backup started", backup=backup.name)

    async def _go_on(self, backup: Backup) -> None:
        if backup.status.progress is None and not backup.spec.cancel:
            await self._create_uploads(backup)
            return
        uploads = await self._uploads_of_attempt(backup)
        if backup.spec.cancel:
            await self._cancel(uploads)
        rollup = roll_up(uploads)
        backup = backup.with_status(
            progress=BackupProgress(total_items=rollup.total, items_backed_up=rollup.done),
            errors=rollup.failed + rollup.cancelled,
            warnings=rollup.warnings + (rollup.total == 0),
        )
        if rollup.finished:
            backup = _concluded(backup, rollup)
            if backup.status.phase.final:
                backup = backup.with_status(completion_timestamp=self.clock.now())
        await self.store.update_status(backup)  # writes nothing if nothing differs

    async def _create_uploads(self, backup: Backup) -> None:
        """One upload per volume. The progress is written last: as long as it is absent, creating goes on here."""
        volumes = volumes_to_back_up(backup.spec, await all_of(self.store, Volume))
        for volume in volumes:
            try:
                await self.store.create(upload_for(backup, volume))
            except AlreadyExists:
                continue  # we were here before: the name is made of the backup's uid and the volume
        await self.store.update_status(backup.with_status(progress=BackupProgress(total_items=len(volumes))))

    async def _cancel(self, uploads: list[Transfer]) -> None:
        """Each ends by itself, soon: a mover that does not stop is killed."""
        for upload in uploads:
            if not upload.status.phase.final and not upload.spec.cancel:
                await self.store.update(upload.with_spec(cancel=True))

    async def _see_cancel_through(self, name: str) -> Next:
        """End a cancelled backup whose transfers do not end; it must not keep its slot for ever."""
        backup = await self.store.get(Backup, name)
        if backup.status.phase is not BackupPhase.IN_PROGRESS:
            return Next.done()
        requested_at = backup.status.cancel_requested_at
        if requested_at is None:
            requested_at = self.clock.now()
            backup = await self.store.update_status(backup.with_status(cancel_requested_at=requested_at))
        left = time_left_to_stop(requested_at, self.clock.now())
        if left:
            return Next.after(left)
        why = did_not_stop(await self._uploads_of_attempt(backup))
        await self._finish(backup.with_status(failure_reason=why), BackupPhase.CANCELED)
        return Next.done()

    async def _finish(self, backup: Backup, phase: BackupPhase) -> None:
        await self.store.update_status(backup.with_status(phase=phase, completion_timestamp=self.clock.now()))
        log.info("backup ended", backup=backup.name, phase=str(phase))

    async def _expire(self, backup: Backup, expiration: datetime) -> Next:
        """Delete it the usual way once its time is over, but not while a restore reads it."""
        left = expiration - self.clock.now()
        if left > timedelta():
            return Next.after(left)
        restores = await all_of(self.store, Restore)
        if any(r.spec.backup_name == backup.name and not r.status.phase.final for r in restores):
            return Next.after(timedelta(minutes=1))
        log.info("backup expired", backup=backup.name, expired_at=expiration.isoformat())
        await self.store.delete(backup.ref, uid=backup.metadata.uid)
        return Next.done()

    async def _take_apart(self, backup: Backup) -> Next:
        """Delete the transfers, each of which removes its data from the store; then let go of the record."""
        if backup.status.phase is not BackupPhase.DELETING:
            status = backup.status.no_longer_waiting().replace(phase=BackupPhase.DELETING)
            backup = await self.store.update_status(backup.replace(status=status))
        uploads = await self._uploads(backup)
        for upload in uploads:
            if not upload.deleting:
                await self.store.delete(upload.ref, uid=upload.metadata.uid)
        if not uploads:
            await let_go(self.store, backup, BACKUP_FINALIZER)
            log.info("backup deleted", backup=backup.name)
        return Next.done()

    async def _uploads(self, backup: Backup) -> list[Transfer]:
        return await all_transfers(self.store, Selector.matching({BACKUP_LABEL: backup.metadata.uid}))

    async def _uploads_of_attempt(self, backup: Backup) -> list[Transfer]:
        """Without those that an interruption ended."""
        wanted = {BACKUP_LABEL: backup.metadata.uid, ATTEMPT_LABEL: str(backup.status.attempt)}
        return await all_transfers(self.store, Selector.matching(wanted))


def _concluded(backup: Backup, rollup: Rollup) -> Backup:
    # Called off before it had looked for volumes, it has not found none: it is cancelled, not complete.
    if backup.spec.cancel and (rollup.outcome != "Completed" or rollup.total == 0):
        why = f"cancelled on request; {rollup.done} of {rollup.total} volumes were done"
        return backup.with_status(phase=BackupPhase.CANCELED, failure_reason=why)
    if rollup.total == 0:
        message = "no volume matched; nothing was backed up"
        empty = Condition(type="Empty", status="True", reason="NothingMatched", message=message)
        backup = backup.replace(status=backup.status.with_condition(empty))
    phase = _FINALIZING.get(rollup.outcome) or BackupPhase(rollup.outcome)
    return backup.with_status(phase=phase, failure_reason=rollup.first_failure)


def upload_for(backup: Backup, volume: Volume) -> Transfer:
    """The upload of one volume for one backup: always the same names, so that creating it twice is harmless."""
    kind = PodVolumeBackup if volume.spec.source_kind is VolumeKind.DIRECTORY else DataUpload
    attempt = str(backup.status.attempt)
    identity = f"{backup.metadata.uid}/{volume.namespace}/{volume.name}"
    if backup.status.attempt:  # what an interruption ended keeps its name
        identity = f"{identity}/{attempt}"
    return kind(
        metadata=Metadata(
            name=f"{backup.name[:200]}-{sha256(identity.encode()).hexdigest()[:10]}",
            labels={
                BACKUP_LABEL: backup.metadata.uid,
                VOLUME_LABEL: volume.metadata.uid,
                ATTEMPT_LABEL: attempt,
            },
            owner_references=(backup.as_owner(),),
            finalizers=(transfers.FINALIZER,),
        ),
        spec=TransferSpec(
            volume_namespace=volume.namespace,
            volume_name=volume.name,
            volume_kind=volume.spec.source_kind,
            path=volume.spec.path,
            excludes=volume.spec.excludes,
            target=backup.spec.storage_location,
            store_volume=store_volume_name(volume.namespace, volume.name),
            store_backup=store_backup_name(identity),
            timeout=backup.spec.item_operation_timeout,
        ),
    )

"""Carries one restore from asking to its end."""

from dataclasses import dataclass
from hashlib import sha256

import structlog

from tidegate.controllers import transfer as transfers
from tidegate.controllers.finalizers import let_go
from tidegate.controllers.observation import all_of, all_transfers
from tidegate.controllers.reconciler import Next, Watch, owners
from tidegate.decide.rollup import roll_up
from tidegate.decide.selection import uploads_to_restore
from tidegate.errors import AlreadyExists, NotFound
from tidegate.model.backup import Backup, BackupPhase
from tidegate.model.labels import Selector
from tidegate.model.resource import Metadata, Ref
from tidegate.model.restore import RESTORE_FINALIZER, Restore, RestorePhase, RestoreProgress
from tidegate.model.transfer import BACKUP_LABEL, DOWNLOADS, RESTORE_LABEL, DataDownload, PodVolumeRestore, Transfer
from tidegate.model.volume import Volume
from tidegate.model.volume_kind import VolumeKind
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)

_RESTORABLE = frozenset({BackupPhase.COMPLETED, BackupPhase.PARTIALLY_FAILED})


@dataclass
class RestoreController:
    """Owns every step of a restore."""

    store: ResourceStore
    clock: Clock
    name: str = "restore"
    workers: int = 4
    watches: tuple[Watch, ...] = (Watch(Restore), *(Watch(kind, owners("Restore")) for kind in DOWNLOADS))

    async def reconcile(self, key: Ref) -> Next:
        """One step of one restore."""
        try:
            restore = await self.store.get(Restore, key.name)
        except NotFound:
            return Next.done()
        if restore.deleting:
            await self._take_apart(restore)
        elif restore.status.phase is RestorePhase.NEW:
            await self._begin(restore)
        elif restore.status.phase is RestorePhase.IN_PROGRESS:
            await self._go_on(restore)
        return Next.done()

    async def _begin(self, restore: Restore) -> None:
        now = self.clock.now()
        refusal = await self._refusal(restore)
        if refusal:
            refused = restore.with_status(
                phase=RestorePhase.FAILED_VALIDATION, validation_errors=(refusal,), completion_timestamp=now
            )
            await self.store.update_status(refused)
        else:
            await self.store.update_status(restore.with_status(phase=RestorePhase.IN_PROGRESS, start_timestamp=now))
            log.info("restore started", restore=restore.name)

    async def _refusal(self, restore: Restore) -> str | None:
        """Why the backup cannot be restored from, if so: it may have changed since the API looked."""
        name = restore.spec.backup_name or ""
        try:
            backup = await self.store.get(Backup, name)
        except NotFound:
            return f"there is no backup {name}"
        if backup.status.phase not in _RESTORABLE:
            return f"backup {name} is {backup.status.phase}; only Completed and PartiallyFailed ones can be restored"
        return None

    async def _go_on(self, restore: Restore) -> None:
        if restore.status.progress is None:
            await self._create_downloads(restore)
            return
        rollup = roll_up(await self._downloads(restore))
        restore = restore.with_status(
            progress=RestoreProgress(total_items=rollup.total, items_restored=rollup.done),
            errors=rollup.failed + rollup.cancelled,
            warnings=rollup.warnings,
        )
        if rollup.finished:
            restore = restore.with_status(
                phase=RestorePhase(rollup.outcome),
                failure_reason=rollup.first_failure,
                completion_timestamp=self.clock.now(),
            )
            log.info("restore ended", restore=restore.name, phase=rollup.outcome)
        await self.store.update_status(restore)  # writes nothing if nothing differs

    async def _create_downloads(self, restore: Restore) -> None:
        """One download per volume. The progress is written last: as long as it is absent, creating goes on here."""
        backup = await self.store.get(Backup, restore.spec.backup_name or "")
        uploads = await all_transfers(self.store, Selector.matching({BACKUP_LABEL: backup.metadata.uid}))
        wanted = uploads_to_restore(restore.spec, uploads)
        volumes = {(volume.namespace, volume.name): volume for volume in await all_of(self.store, Volume)}
        for upload in wanted:
            volume = volumes.get((upload.spec.volume_namespace, upload.spec.volume_name))
            try:
                await self.store.create(download_for(restore, upload, volume))
            except AlreadyExists:
                continue  # we were here before: the name is made of the restore's uid and the volume
        await self.store.update_status(restore.with_status(progress=RestoreProgress(total_items=len(wanted))))

    async def _take_apart(self, restore: Restore) -> None:
        downloads = await self._downloads(restore)
        for download in downloads:
            if not download.deleting:
                await self.store.delete(download.ref, uid=download.metadata.uid)
        if not downloads:
            await let_go(self.store, restore, RESTORE_FINALIZER)

    async def _downloads(self, restore: Restore) -> list[Transfer]:
        return await all_transfers(self.store, Selector.matching({RESTORE_LABEL: restore.metadata.uid}))


def download_for(restore: Restore, upload: Transfer, volume: Volume | None) -> Transfer:
    """The download of one volume for one restore: always the same name, so that creating it twice is harmless."""
    kind = PodVolumeRestore if upload.spec.volume_kind is VolumeKind.DIRECTORY else DataDownload
    namespace, name = upload.spec.volume_namespace, upload.spec.volume_name
    identity = f"{restore.metadata.uid}/{namespace}/{name}"
    return kind(
        metadata=Metadata(
            name=f"{restore.name[:200]}-{sha256(identity.encode()).hexdigest()[:10]}",
            labels={RESTORE_LABEL: restore.metadata.uid},
            owner_references=(restore.as_owner(),),
            finalizers=(transfers.FINALIZER,),
        ),
        spec=upload.spec.replace(
            path=_destination(restore, upload, volume),
            existing_data=restore.spec.existing_data,
            timeout=restore.spec.item_operation_timeout,
            cancel=False,
        ),
    )


def _destination(restore: Restore, upload: Transfer, volume: Volume | None) -> str:
    """Where asked, else where the volume is today, else where it was when it was backed up."""
    if restore.spec.destination is not None:
        base = restore.spec.destination.rstrip("/")
        return f"{base}/{upload.spec.volume_namespace}/{upload.spec.volume_name}"
    if volume is not None and volume.spec.source_kind is upload.spec.volume_kind:
        return volume.spec.path
    return upload.spec.path

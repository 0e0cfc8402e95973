"""How the volumes of a system backup or restore stand now: derived, since storing each step of each would cost much."""

from collections.abc import Iterable

from tidegate.api.services import Services
from tidegate.decide.system.backup import uploads_by_volume, volumes_as_they_are
from tidegate.decide.system.progress import bytes_backed_up, bytes_restored
from tidegate.decide.system.restore_volumes import volumes_as_they_are as restored_as_they_are
from tidegate.decide.volumes.last_backup import full_name
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.resource import Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.system.system import SYSTEM_BACKUP_LABEL, SYSTEM_RESTORE_LABEL, SystemBackup, SystemBackupPhase
from tidegate.model.system.system_restore import SystemRestore, SystemRestorePhase
from tidegate.model.transfers.transfer import BACKUP_LABEL, DOWNLOADS, RESTORE_LABEL, UPLOADS, Transfer
from tidegate.model.volumes.volume import Volume


def has_volumes_on_the_way(resource: Resource) -> bool:
    """Whether how its volumes stand is to be derived."""
    if isinstance(resource, SystemBackup):
        return resource.status.phase is SystemBackupPhase.CREATING_VOLUME_BACKUPS
    return isinstance(resource, SystemRestore) and resource.status.phase is SystemRestorePhase.RESTORING_VOLUMES


async def with_volumes_now(services: Services, resource: Resource) -> Resource:
    """The same with the state of each volume."""
    if not has_volumes_on_the_way(resource):
        return resource
    if isinstance(resource, SystemBackup):
        return await _with_backups(services, resource)
    return await _with_restores(services, resource) if isinstance(resource, SystemRestore) else resource


async def _with_restores(services: Services, resource: SystemRestore) -> SystemRestore:
    mine = Selector.matching({SYSTEM_RESTORE_LABEL: resource.metadata.uid})
    restores = {restore.name: restore for restore in (await services.store.list(Restore, selector=mine)).items}
    requested = resource.status.volumes_requested_at is not None
    rows = restored_as_they_are(resource.status.volumes, restores, requested=requested)
    downloads = await _parts_of(services, restores.values(), RESTORE_LABEL, DOWNLOADS)
    return resource.with_status(volumes=rows, bytes=bytes_restored(rows, restores, downloads))


async def _with_backups(services: Services, resource: SystemBackup) -> SystemBackup:
    mine = Selector.matching({SYSTEM_BACKUP_LABEL: resource.metadata.uid})
    backups = {backup.name: backup for backup in (await services.store.list(Backup, selector=mine)).items}
    uploads = uploads_by_volume(backups.values(), await _parts_of(services, backups.values(), BACKUP_LABEL, UPLOADS))
    requested = resource.status.volumes_requested_at is not None
    rows = volumes_as_they_are(resource.status.volumes, backups, uploads, requested=requested)
    sizes = {full_name(one): one.status.size for one in (await services.store.list(Volume)).items}
    return resource.with_status(volumes=rows, bytes=bytes_backed_up(rows, backups, uploads, sizes))


async def _parts_of(
    services: Services, jobs: Iterable[Backup | Restore], label: str, kinds: Iterable[type[Transfer]]
) -> list[Transfer]:
    """The transfers of all of these."""
    return [
        part
        for job in jobs
        for kind in kinds
        for part in (await services.store.list(kind, selector=Selector.matching({label: job.metadata.uid}))).items
    ]

"""How the volumes of a system backup stand now: derived, because storing every step of every volume would cost much."""

from tidegate.api.services import Services
from tidegate.decide.system_backup import uploads_by_volume, volumes_as_they_are
from tidegate.model.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.resource import Resource
from tidegate.model.system import SYSTEM_BACKUP_LABEL, SystemBackup, SystemBackupPhase
from tidegate.model.transfer import BACKUP_LABEL, UPLOADS


def backs_volumes_up(resource: Resource) -> bool:
    """Whether its volumes are on their way."""
    return isinstance(resource, SystemBackup) and (resource.status.phase is SystemBackupPhase.CREATING_VOLUME_BACKUPS)


async def with_volumes_now(services: Services, resource: Resource) -> Resource:
    """The same with the state of each volume."""
    if not isinstance(resource, SystemBackup) or not backs_volumes_up(resource):
        return resource
    mine = Selector.matching({SYSTEM_BACKUP_LABEL: resource.metadata.uid})
    backups = {backup.name: backup for backup in (await services.store.list(Backup, selector=mine)).items}
    uploads = [
        upload
        for backup in backups.values()
        for kind in UPLOADS
        for upload in (
            await services.store.list(kind, selector=Selector.matching({BACKUP_LABEL: backup.metadata.uid}))
        ).items
    ]
    rows = volumes_as_they_are(
        resource.status.volumes,
        backups,
        uploads_by_volume(backups.values(), uploads),
        requested=resource.status.volumes_requested_at is not None,
    )
    return resource.with_status(volumes=rows)

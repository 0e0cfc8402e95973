"""Finding what a restore would read: looks here, decides in `decide`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidegate.api.services import Services
from tidegate.decide.resources.admission import admit_restore
from tidegate.decide.restores.places import Volumes
from tidegate.decide.restores.source import source_of
from tidegate.decide.volumes.selection import (
    check_choice,
    check_restorable,
    newest_good_backup,
    uploads_lost,
    uploads_to_restore,
)
from tidegate.errors import InvalidInput, NotFound
from tidegate.format.cfgs.backup_url import BackupUrl, same_store
from tidegate.format.trees.globs import TreeGlobs
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.restores.restore import FoundSource, Restore, RestoreSpec
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, Schedule
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.transfer import BACKUP_LABEL, UPLOADS, Transfer, TransferSpec
from tidegate.model.volumes.volume import Volume
from tidegate.ports.secrets import access_to


@dataclass(frozen=True)
class RestoreSource:
    """What would be read."""

    backup: str | None
    sources: Sequence[TransferSpec]
    sizes: Mapping[str, int]
    """Bytes by the name of the volume backup."""
    lost: Sequence[TransferSpec] = ()
    """What the backup had too, until it was deleted from the store."""

    def noted_on(self, restore: Restore) -> Restore:
        """The restore that keeps to it, whatever comes later: what was shown is what is restored.

        The status is for the answer: its controller writes the same from the spec.
        """
        if restore.spec.backup_name:
            return restore.with_spec(found=None).with_status(backup_name=self.backup)
        source = self.sources[0] if restore.spec.backup_url else None
        found = FoundSource(backup_name=self.backup, volume_backup=source)
        return restore.with_spec(found=found).with_status(backup_name=self.backup, source=source)


async def read_source(services: Services, spec: RestoreSpec) -> RestoreSource:
    """Raises UserError with a sentence where something is wrong with what is asked for."""
    admit_restore(spec)
    if spec.included_paths:
        TreeGlobs(spec.included_paths)  # refuses one that can never match
    if spec.backup_url:
        return await _from_url(services, spec.backup_url)
    backup = await _backup(services, spec)
    check_restorable(backup)
    uploads = await uploads_of(services, backup)
    check_choice(spec, uploads)
    chosen = uploads_to_restore(spec, uploads)
    sizes = {upload.spec.store_backup: upload.status.result.size for upload in chosen if upload.status.result}
    lost = [upload.spec for upload in uploads_lost(spec, uploads)]
    return RestoreSource(backup.name, [upload.spec for upload in chosen], sizes, lost)


async def volumes_by_name(services: Services) -> Volumes:
    """All that are defined."""
    return {(volume.namespace, volume.name): volume for volume in (await services.store.list(Volume)).items}


async def _backup(services: Services, spec: RestoreSpec) -> Backup:
    if spec.schedule_name is None:
        return await services.store.get(Backup, spec.backup_name or "")
    selector = Selector.matching({SCHEDULE_LABEL: spec.schedule_name})
    backups = (await services.store.list(Backup, selector=selector)).items
    if not backups:  # backups outlive their schedule; where there are none, a mistyped name is told as such
        await services.store.get(Schedule, spec.schedule_name)
    return newest_good_backup(spec.schedule_name, backups)


async def uploads_of(services: Services, backup: Backup) -> list[Transfer]:
    """All uploads of a backup, whatever became of them."""
    selector = Selector.matching({BACKUP_LABEL: backup.metadata.uid})
    return [upload for kind in UPLOADS for upload in (await services.store.list(kind, selector=selector)).items]


async def _from_url(services: Services, text: str) -> RestoreSource:
    url = BackupUrl.decode(text)
    if not url.backup:
        raise InvalidInput(f"{text!r} names a volume but no backup of it; add backup=NAME", field="spec.backupUrl")
    targets = (await services.store.list(BackupTarget)).items
    target = next((one for one in targets if same_store(one.spec.url, url.target)), None)
    if target is None:
        raise NotFound(
            f"no backup target has the URL {url.target}", hint=f"make one: tidegate target create NAME {url.target}"
        )
    access = await access_to(target, services.secrets)
    stored = await services.store_probe.stored_backup(access, url.volume, url.backup)
    source = source_of(stored, target=target.name, store_volume=url.volume, store_backup=url.backup)
    return RestoreSource(None, [source], {url.backup: stored.size})

"""Looks that a system backup takes: at uploads, at volumes, at all definitions. Each raises on a failed look."""

from collections.abc import Iterable, Mapping, Sequence

from tidegate.controllers.reconcile.observation import all_of
from tidegate.controllers.stores.stored_backups import stored_backups
from tidegate.decide.system.backup import uploads_by_volume
from tidegate.decide.volumes.last_backup import (
    LastBackup,
    found_in_store,
    full_name,
    is_lost,
    made_here,
    newest_uploads,
)
from tidegate.errors import CatalogueNotRead
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import EVERYTHING, Selector
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup, VolumeBackupPolicy
from tidegate.model.system_archive import DEFINITIONS, ArchivedVolumeBackup, ArchiveMetadata, SystemArchive
from tidegate.model.transfers.transfer import BACKUP_LABEL, UPLOADS, Transfer
from tidegate.model.volumes.volume import Volume
from tidegate.ports.catalogue import Catalogue
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.volume_probe import VolumeProbe


async def volume_uploads(store: ResourceStore, selector: Selector = EVERYTHING) -> list[Transfer]:
    """Uploads of both kinds."""
    return [upload for kind in UPLOADS for upload in await all_of(store, kind, selector)]


async def uploads_of(store: ResourceStore, backups: Iterable[Backup]) -> dict[tuple[str, str], Transfer]:
    """The uploads of these Backups, by the uid of the Backup and the volume."""
    of_each = [(b, await volume_uploads(store, Selector.matching({BACKUP_LABEL: b.metadata.uid}))) for b in backups]
    return uploads_by_volume((backup for backup, _ in of_each), (one for _, uploads in of_each for one in uploads))


async def last_backups(
    store: ResourceStore, catalogue: Catalogue | None, volumes: Sequence[Volume]
) -> dict[str, LastBackup]:
    """Return the last backup of each volume that has one, by NAMESPACE/NAME: of this server, else of any store.

    One of this server that its store does not hold any more is none. Raise CatalogueNotRead while a store that has not
    been read may hold one that is not known here.
    """
    uploads = newest_uploads(await volume_uploads(store))
    stored = await stored_backups(store, catalogue, volumes)
    made = made_here(
        upload for name, upload in uploads.items() if not is_lost(upload, stored.newest.get(name), stored.read)
    )
    others = {full_name(volume) for volume in volumes} - made.keys()
    found = {name: found_in_store(one) for name, one in stored.newest.items() if name in others}
    if stored.not_read_yet and len(found) < len(others):
        raise CatalogueNotRead(f"the catalogue has not read target {', '.join(stored.not_read_yet)} yet")
    return made | found


async def changed_volumes(
    probe: VolumeProbe, system: SystemBackup, volumes: Iterable[Volume], known: Mapping[str, LastBackup]
) -> frozenset[str]:
    """Those with a backup that may have changed since it began; looked at only if the policy wants to know."""
    if system.spec.volume_backup_policy is not VolumeBackupPolicy.IF_CHANGED:
        return frozenset()
    changed = set()
    for volume in volumes:
        last = known.get(full_name(volume))
        began = last.began_at if last is not None else None
        if last is not None and (began is None or await probe.changed_since(volume.spec.ref, began)):
            changed.add(full_name(volume))
    return frozenset(changed)


async def archive_of(store: ResourceStore, system: SystemBackup) -> SystemArchive:
    """Everything as it is defined now, and the volume backups that the system backup has settled on."""
    definitions = [one for kind in DEFINITIONS for one in await all_of(store, kind) if not one.deleting]
    urls = {one.name: one.spec.url for one in definitions if isinstance(one, BackupTarget)}
    created_at = system.status.created_at
    assert created_at is not None  # noqa: S101  # written before anything is generated
    return SystemArchive(
        name=system.name,
        metadata=ArchiveMetadata(
            version=system.status.version,
            created_at=created_at,
            system_backup_uid=system.metadata.uid,
            volume_backup_policy=system.spec.volume_backup_policy,
        ),
        definitions=tuple(definitions),
        volume_backups=tuple(
            ArchivedVolumeBackup(volume=row.volume, target_url=urls.get(row.stored.target, ""), stored=row.stored)
            for row in system.status.volumes
            if row.stored is not None
        ),
    )

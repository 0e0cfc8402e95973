"""Keeps each volume's last backup true: the newest finished upload that still exists, else what the stores hold."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from tidegate.controllers.reconcile.observation import all_of, all_transfers, over_or_deleting
from tidegate.controllers.reconcile.reconciler import Next, Watch
from tidegate.controllers.stores.stored_backups import StoredBackups, stored_backups
from tidegate.decide.volumes.last_backup import (
    LastFailure,
    backup_of,
    failure_since,
    full_name,
    is_lost,
    newest_uploads,
)
from tidegate.errors import NotFound
from tidegate.format.cfgs.backup_url import BackupUrl
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.resource import Ref, Resource
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.transfer import BACKUP_LABEL, UPLOADS, VOLUME_LABEL, Transfer
from tidegate.model.volumes.volume import Volume
from tidegate.ports.catalogue import Catalogue
from tidegate.ports.resource_store import ResourceStore

_LONGEST_FAILURE = 500
_TARGETS = Ref("BackupTarget", "all")


def _volume_of(resource: Resource) -> Iterable[Ref]:
    if not isinstance(resource, Transfer) or not over_or_deleting(resource):
        return ()
    return (Ref("Volume", resource.spec.volume_name, resource.spec.volume_namespace),)


def _verified(resource: Resource) -> Iterable[Ref]:
    assert isinstance(resource, Backup)  # noqa: S101  # only used on the watch of these
    return (resource.ref,) if resource.status.verification is not None else ()


@dataclass
class VolumeController:
    """Owns the status of volumes."""

    store: ResourceStore
    catalogue: Catalogue | None = None
    name: str = "volume"
    workers: int = 2
    _seen: dict[str, datetime] = field(default_factory=dict)
    """The full sync of each target that volumes were last looked up after."""

    @property
    def watches(self) -> tuple[Watch, ...]:
        """Volumes, uploads that end, and targets that were read."""
        uploads = tuple(Watch(kind, _volume_of) for kind in UPLOADS)
        return (Watch(Volume), Watch(BackupTarget, self._after_a_sync), Watch(Backup, _verified), *uploads)

    async def reconcile(self, key: Ref) -> Next:
        """Derive the status anew; written only if it differs."""
        if key == _TARGETS:
            await self._look_into_stores()
            return Next.done()
        if key.kind == Backup.__name__:
            return await self._look_at_volumes_of(key)
        try:
            volume = await self.store.get(Volume, key.name, key.namespace)
        except NotFound:
            return Next.done()
        uploads = await all_transfers(self.store, Selector.matching({VOLUME_LABEL: volume.metadata.uid}))
        if (newest := next(iter(newest_uploads(uploads).values()), None)) is not None:
            found = with_upload(volume, newest).with_status(last_backup_doubt=await self._doubt(volume, newest))
            await self.store.update_status(with_failure(found, failure_since(found.status.last_backup_at, uploads)))
            return Next.done()
        await self._write_stored([with_failure(volume, failure_since(None, uploads))])
        return Next.done()

    def _after_a_sync(self, resource: Resource) -> Iterable[Ref]:
        """Once for each sync: its target changes every few seconds while one runs."""
        if not isinstance(resource, BackupTarget):
            return ()
        uid, synced = resource.metadata.uid, resource.status.last_synced_at
        if synced is None or self._seen.get(uid) == synced:
            return ()
        self._seen[uid] = synced
        return (_TARGETS,)

    async def _look_into_stores(self) -> None:
        """All volumes without a backup of this server, in one look; and those whose backup the look does not show."""
        volumes = await all_of(self.store, Volume)
        await self._write_stored([one for one in volumes if one.status.last_backup is None])
        made = [one for one in volumes if one.status.last_backup is not None]
        stored = await stored_backups(self.store, self.catalogue, made)
        for volume in made:
            newest = stored.newest.get(full_name(volume))
            shown = newest is not None and f"={newest.record.name}&" in f"{volume.status.last_backup_url}&"
            if not shown or volume.status.last_backup_doubt:
                await self.reconcile(volume.ref)

    async def _look_at_volumes_of(self, key: Ref) -> Next:
        """Whether a backup restores concerns each of its volumes."""
        with suppress(NotFound):
            backup = await self.store.get(Backup, key.name)
            for upload in await all_transfers(self.store, Selector.matching({BACKUP_LABEL: backup.metadata.uid})):
                await self._look_if_last(backup, upload)
        return Next.done()

    async def _look_if_last(self, backup: Backup, upload: Transfer) -> None:
        with suppress(NotFound):
            volume = await self.store.get(Volume, upload.spec.volume_name, upload.spec.volume_namespace)
            if volume.status.last_backup == backup.name:
                await self.reconcile(volume.ref)

    async def _doubt(self, volume: Volume, newest: Transfer) -> str | None:
        """Why its newest backup cannot be relied on, as the store and verifications tell."""
        name = backup_of(newest) or newest.spec.store_backup
        stored = await stored_backups(self.store, self.catalogue, [volume])
        if is_lost(newest, stored.newest.get(full_name(volume)), stored.read):
            return f"its last backup, {name}, is not in target {newest.spec.target} any more, or cannot be read there"
        with suppress(NotFound):
            proof = (await self.store.get(Backup, name)).status.verification
            if proof is not None and proof.failure:
                return f"its last backup, {name}, failed verification {proof.failed_by}: {proof.failure}"
        return None

    async def _write_stored(self, volumes: list[Volume]) -> None:
        stored = await stored_backups(self.store, self.catalogue, volumes)
        urls = {target.name: target.spec.url for target in await all_of(self.store, BackupTarget)}
        for volume in volumes:
            await self.store.update_status(with_stored(volume, stored, urls))


def with_upload(volume: Volume, newest: Transfer) -> Volume:
    """The volume with what its newest upload tells."""
    result = newest.status.result
    return volume.with_status(
        last_backup=backup_of(newest),
        last_backup_at=newest.status.completion_timestamp,
        last_backup_url=result.url if result is not None else None,
        size=result.size if result is not None else None,
    )


def with_failure(volume: Volume, failure: LastFailure | None) -> Volume:
    """The volume with what went wrong since its last good backup; without, if nothing did."""
    if failure is None:
        return volume.with_status(last_failed_backup=None, last_failed_at=None, last_failure=None)
    return volume.with_status(
        last_failed_backup=failure.backup, last_failed_at=failure.at, last_failure=failure.why[:_LONGEST_FAILURE]
    )


def with_stored(volume: Volume, stored: StoredBackups, urls: dict[str, str]) -> Volume:
    """The volume with what a store holds of it. While not all are read, what was known of them stays."""
    found = stored.newest.get(full_name(volume))
    if found is not None and found.target in urls:
        return volume.with_status(
            last_backup=None,
            last_backup_at=found.record.created_at,
            last_backup_url=BackupUrl(urls[found.target], found.volume, found.record.name).encode(),
            last_backup_doubt=None,
            size=known if (known := found.record.data_size) is not None else found.volume_size or found.record.size,
        )
    if stored.not_read_yet and volume.status.last_backup is None:
        return volume
    return volume.with_status(
        last_backup=None, last_backup_at=None, last_backup_url=None, size=None, last_backup_doubt=None
    )

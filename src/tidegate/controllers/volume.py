"""Keeps each volume's `lastBackup` true: the newest finished upload that still exists."""

from collections.abc import Iterable
from dataclasses import dataclass

from tidegate.controllers.observation import all_transfers, over_or_deleting
from tidegate.controllers.reconciler import Next, Watch
from tidegate.errors import NotFound
from tidegate.model.labels import Selector
from tidegate.model.resource import Ref, Resource
from tidegate.model.transfer import UPLOADS, VOLUME_LABEL, Transfer, TransferPhase
from tidegate.model.volume import Volume
from tidegate.ports.resource_store import ResourceStore


def _volume_of(resource: Resource) -> Iterable[Ref]:
    if not isinstance(resource, Transfer) or not over_or_deleting(resource):
        return ()
    return (Ref("Volume", resource.spec.volume_name, resource.spec.volume_namespace),)


@dataclass
class VolumeController:
    """Owns the status of volumes."""

    store: ResourceStore
    name: str = "volume"
    workers: int = 2
    watches: tuple[Watch, ...] = (Watch(Volume), *(Watch(kind, _volume_of) for kind in UPLOADS))

    async def reconcile(self, key: Ref) -> Next:
        """Derive the status anew; written only if it differs."""
        try:
            volume = await self.store.get(Volume, key.name, key.namespace)
        except NotFound:
            return Next.done()
        uploads = await all_transfers(self.store, Selector.matching({VOLUME_LABEL: volume.metadata.uid}))
        await self.store.update_status(with_last_backup(volume, uploads))
        return Next.done()


def with_last_backup(volume: Volume, uploads: list[Transfer]) -> Volume:
    """The volume as its uploads tell it. One that is being deleted, or whose data was, does not count any more."""
    finished = [
        u for u in uploads if u.status.phase is TransferPhase.COMPLETED and not u.deleting and not u.data_removed
    ]
    newest = max(finished, key=lambda u: (u.status.start_timestamp is not None, u.status.start_timestamp), default=None)
    if newest is None or newest.status.result is None:
        return volume.with_status(last_backup=None, last_backup_at=None, last_backup_url=None, size=None)
    return volume.with_status(
        last_backup=next((owner.name for owner in newest.metadata.owner_references), None),
        last_backup_at=newest.status.completion_timestamp,
        last_backup_url=newest.status.result.url,
        size=newest.status.result.size,
    )

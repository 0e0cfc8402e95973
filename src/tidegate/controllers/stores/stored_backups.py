"""What the stores hold of volumes, asked of the catalogue. What it has not read yet is never taken for absent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from tidegate.controllers.reconcile.observation import all_of
from tidegate.decide.stores.catalogue_state import not_read_yet, read_targets
from tidegate.decide.volumes.last_backup import full_name
from tidegate.format.cfgs.paths import store_volume_name
from tidegate.model.stores.catalogue import CatalogueBackup
from tidegate.model.stores.target import BackupTarget
from tidegate.model.volumes.volume import Volume
from tidegate.ports.catalogue import Catalogue
from tidegate.ports.resource_store import ResourceStore


@dataclass(frozen=True)
class StoredBackups:
    """The newest backup of each volume that the catalogue knows, by NAMESPACE/NAME."""

    newest: dict[str, CatalogueBackup]
    not_read_yet: tuple[str, ...]
    """Targets that may hold more: they are within reach, but have not been read."""
    read: Mapping[str, datetime]
    """When the last look at the whole of each of the others began."""


async def stored_backups(store: ResourceStore, catalogue: Catalogue | None, volumes: Iterable[Volume]) -> StoredBackups:
    """Look for all of these volumes at once. A target that does not answer counts with what was read of it before."""
    names = {store_volume_name(volume.namespace, volume.name): full_name(volume) for volume in volumes}
    if catalogue is None or not names:
        return StoredBackups({}, (), {})
    targets = [target for target in await all_of(store, BackupTarget) if not target.deleting]
    # Before the look: a sync that ends in between makes it newer, not older.
    syncs = await catalogue.full_syncs()
    read = read_targets(targets, syncs)
    found = await catalogue.newest_backups(read, names)
    within_reach = [target for target in targets if target.status.available is not False]
    newest = {names[name]: one for name, one in found.items()}
    return StoredBackups(newest, not_read_yet(within_reach, syncs), {name: syncs[name].began_at for name in read})

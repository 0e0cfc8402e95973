"""What is to be said of a target's part of the catalogue: how old it is, and what waits for somebody."""

from tidegate.model.catalogue import CatalogueCounts
from tidegate.model.catalogue_status import TargetCatalogue
from tidegate.model.target import BackupTarget, SyncStatus

AVAILABLE = "Available"
VANISHED = "VolumesVanished"


def target_catalogue(target: BackupTarget, counts: CatalogueCounts, sync: SyncStatus) -> TargetCatalogue:
    """From what its status says; `sync` is that of this moment."""
    status = target.status
    looked, held = status.condition(AVAILABLE), status.condition(VANISHED)
    return TargetCatalogue(
        name=target.name,
        available=status.available,
        since=looked.last_transition_time if looked else None,
        message=status.message,
        last_synced_at=status.last_synced_at,
        sync=sync,
        held_back=held.message if held and status.sync.vanished else "",
        volumes=counts.volumes,
        backups=counts.backups,
    )

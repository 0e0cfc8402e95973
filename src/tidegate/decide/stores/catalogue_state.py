"""What is to be said of a target's part of the catalogue: how old it is, and what waits for somebody."""

from collections.abc import Iterable, Mapping

from tidegate.model.stores.catalogue import CatalogueCounts, FullSync
from tidegate.model.stores.catalogue_status import CatalogueDamage, TargetCatalogue
from tidegate.model.stores.target import BackupTarget, SyncStatus

AVAILABLE = "Available"
VANISHED = "VolumesVanished"


def read_targets(targets: Iterable[BackupTarget], syncs: Mapping[str, FullSync]) -> tuple[str, ...]:
    """Return the names of those that the catalogue has read as a whole, at the place that they name now."""
    return tuple(one.name for one in targets if one.name in syncs and syncs[one.name].url == one.spec.url)


def not_read_yet(targets: Iterable[BackupTarget], syncs: Mapping[str, FullSync]) -> tuple[str, ...]:
    """Return the names of the others. What is absent from the catalogue may be there."""
    known = list(targets)
    read = set(read_targets(known, syncs))
    return tuple(one.name for one in known if one.name not in read)


def target_catalogue(
    target: BackupTarget, counts: CatalogueCounts, sync: SyncStatus, damage: CatalogueDamage, *, last: FullSync | None
) -> TargetCatalogue:
    """From what its status says; `sync` is that of this moment, and `last` what the catalogue says of itself."""
    status = target.status
    looked, held = status.condition(AVAILABLE), status.condition(VANISHED)
    return TargetCatalogue(
        name=target.name,
        available=status.available,
        since=looked.last_transition_time if looked else None,
        message=status.message,
        last_synced_at=last.began_at if last is not None and last.url == target.spec.url else None,
        sync=sync,
        held_back=held.message if held and status.sync.vanished else "",
        volumes=counts.volumes,
        backups=counts.backups,
        damage=damage,
    )

"""Two targets with volumes in a real catalogue, deletes that no controller carries out, and syncs that never begin."""

from datetime import UTC, datetime, timedelta

from tidegate.catalogue.changes import FoundVolume, VolumeChange, found_in_cfg
from tidegate.controllers.stores.deletion_desk import DeletionDesk
from tidegate.model.stores.catalogue import BackupState, FullSync, StoredBackupRecord, StoredVolumeRecord
from tidegate.testing.doubles.syncs import NotedSyncs
from tidegate.testing.resources.builders import a_target

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
KUBERNETES = '{"namespace":"shop","pvcName":"db","workloadsStatus":[{"podName":"web-0","workloadName":"web"}]}'


async def fill(catalogue, target, volume, *backups, labels=None, state=BackupState.COMPLETED, messages=None):
    """These backups, an hour apart, the last one at noon."""
    found = [
        found_in_cfg(
            StoredBackupRecord(
                name=name,
                state=state,
                snapshot_name=f"snap-{name}",
                created_at=NOON - timedelta(hours=len(backups) - 1 - number),
                size=4 << 20,
                labels=labels or {},
                parameters={"backup-block-size": "2097152", "backup-mode": "incremental"},
                compression="lz4",
                messages=messages or {},
            ),
            number + 1,
            NOON,
        )
        for number, name in enumerate(backups)
    ]
    record = StoredVolumeRecord(size=8 << 20, created_at=NOON, last_backup_name=backups[-1] if backups else "")
    whole = FoundVolume(listing_mark=1, settled=True, synced_at=NOON, record=record, cfg_mark=1, messages={})
    await catalogue.apply(VolumeChange(target=target, volume=volume, backups=found, found=whole))


async def furnish(services, catalogue):
    """`db` in both targets, `web` in one; syncs and deletes that a test can look at."""
    services.catalogue = catalogue
    services.deletions = DeletionDesk(services.store, catalogue)
    services.syncs = NotedSyncs()
    for name in ("near", "far"):
        await services.store.create(a_target(name, url=f"file:///{name}"))
        await catalogue.note_full_sync(name, FullSync(f"file:///{name}", NOON))
    await fill(catalogue, "near", "db", "b-1", "b-2", "b-3", labels={"KubernetesStatus": KUBERNETES})
    await fill(catalogue, "far", "db", "b-9")
    await fill(catalogue, "far", "web", "w-1", "w-2", labels={"RecurringJob": "nightly"})

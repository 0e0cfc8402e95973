"""What others still say about volume backups that are deleted: their uploads and Backups are told, before it happens.

A Backup keeps its phase, for it did complete; but it must not look as if all of it could be restored.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from tidegate.controllers.reconcile.observation import all_of, all_transfers
from tidegate.errors import NotFound
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.resource import Condition
from tidegate.model.stores.deletion import STORE_VOLUME_LABEL, Deletion
from tidegate.model.transfers.transfer import (
    ALL_REMOVED,
    BACKUP_LABEL,
    DATA_REMOVED,
    SOME_REMOVED,
    UPLOADS,
    Transfer,
    TransferPhase,
)
from tidegate.ports.resource_store import ResourceStore


async def mark_removed(store: ResourceStore, batch: Sequence[Deletion], *, now: datetime) -> None:
    """Note it on every upload that wrote something of this batch, and on its Backup. Repeating it changes nothing."""
    backups: dict[str, str] = {}
    mark = batch[0].metadata.labels[STORE_VOLUME_LABEL]
    for upload in await all_transfers(store, Selector.matching({STORE_VOLUME_LABEL: mark})):
        deletion = next((one for one in batch if _concerns(one, upload)), None)
        if deletion is None or upload.deleting:
            continue
        if not upload.data_removed:
            message = f"its volume backup was deleted from the store by {deletion.name}"
            condition = _condition(ALL_REMOVED, message, now)
            await store.update_status(upload.replace(status=upload.status.with_condition(condition)))
        backups |= {owner.name: owner.uid for owner in upload.metadata.owner_references if owner.kind == "Backup"}
    for name, uid in backups.items():
        await _mark_backup(store, name, uid, now=now)


async def _mark_backup(store: ResourceStore, name: str, uid: str, *, now: datetime) -> None:
    try:
        backup = await store.get(Backup, name)
    except NotFound:
        return
    if backup.metadata.uid != uid or backup.deleting:
        return
    selector = Selector.matching({BACKUP_LABEL: uid})
    uploads = [upload for kind in UPLOADS for upload in await all_of(store, kind, selector)]
    written = [upload for upload in uploads if upload.status.phase is TransferPhase.COMPLETED]
    reason = ALL_REMOVED if all(upload.data_removed for upload in written) else SOME_REMOVED
    condition = _condition(reason, _sentence(written), now)
    await store.update_status(backup.replace(status=backup.status.with_condition(condition)))


def _sentence(uploads: Iterable[Transfer]) -> str:
    """Which volumes cannot be restored from the Backup any more."""
    every = list(uploads)
    gone = sorted(f"{one.spec.volume_namespace}/{one.spec.volume_name}" for one in every if one.data_removed)
    shown = ", ".join(gone[:5]) + (" and more" if len(gone) > 5 else "")  # noqa: PLR2004
    return f"{len(gone)} of its {len(every)} volume backups were deleted from the store since: {shown}"


def _concerns(deletion: Deletion, upload: Transfer) -> bool:
    named = deletion.whole_volume or upload.spec.store_backup in deletion.spec.backups
    return upload.direction == "upload" and named and upload.status.phase is TransferPhase.COMPLETED


def _condition(reason: str, message: str, now: datetime) -> Condition:
    return Condition(type=DATA_REMOVED, status="True", reason=reason, message=message, last_transition_time=now)

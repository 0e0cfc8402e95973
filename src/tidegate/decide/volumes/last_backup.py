"""The newest backup of a volume: made by this server, or known from what a store holds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from tidegate.decide.jobs.rollup import left_out
from tidegate.model.stores.catalogue import CatalogueBackup
from tidegate.model.system.system import StoredVolumeBackup
from tidegate.model.transfers.transfer import Transfer, TransferPhase
from tidegate.model.volumes.volume import Volume


@dataclass(frozen=True)
class LastBackup:
    """Where it is."""

    stored: StoredVolumeBackup
    began_at: datetime | None
    """What changed since then is not in it. None if no record tells."""
    backup: str | None = None
    """Name of the Backup that holds it. None if this server has no record of it, as after a system restore."""


def full_name(volume: Volume) -> str:
    """NAMESPACE/NAME."""
    return f"{volume.namespace}/{volume.name}"


def newest_uploads(uploads: Iterable[Transfer]) -> dict[str, Transfer]:
    """Return for each volume, by NAMESPACE/NAME, the newest finished upload whose data is still there."""
    newest: dict[str, Transfer] = {}
    for upload in uploads:
        finished = upload.status.phase is TransferPhase.COMPLETED and upload.direction == "upload"
        if not finished or upload.deleting or upload.data_removed:
            continue
        name = f"{upload.spec.volume_namespace}/{upload.spec.volume_name}"
        if name not in newest or _began(newest[name]) < _began(upload):
            newest[name] = upload
    return newest


def made_here(uploads: Iterable[Transfer]) -> dict[str, LastBackup]:
    """Return the last backup of each volume that this server backed up, by NAMESPACE/NAME."""
    return {name: _of_upload(upload) for name, upload in newest_uploads(uploads).items()}


def is_lost(upload: Transfer, newest: CatalogueBackup | None, read: Mapping[str, datetime]) -> bool:
    """Whether its store was read as a whole since it ended, and no longer holds it as a complete backup.

    `newest` is the newest complete backup of the volume that the catalogue knows, `read` when each store was last
    read. A newer backup, of another server for example, says nothing about this one.
    """
    began, ended = upload.status.start_timestamp, upload.status.completion_timestamp
    seen = read.get(upload.spec.target)
    if seen is None or ended is None or seen <= ended:
        return False
    if newest is None:
        return True
    if (newest.target, newest.record.name) == (upload.spec.target, upload.spec.store_backup):
        return False
    made = newest.record.created_at
    return made is None or began is None or made < began


def found_in_store(found: CatalogueBackup) -> LastBackup:
    """Return what the catalogue knows of a volume's newest backup."""
    stored = StoredVolumeBackup(target=found.target, store_volume=found.volume, store_backup=found.record.name)
    return LastBackup(stored, found.record.snapshot_created_at or found.record.created_at)


def stored_by(upload: Transfer) -> StoredVolumeBackup:
    """Return the volume backup that an upload wrote."""
    spec = upload.spec
    return StoredVolumeBackup(target=spec.target, store_volume=spec.store_volume, store_backup=spec.store_backup)


@dataclass(frozen=True)
class LastFailure:
    """The newest upload of a volume that failed, or left something out, with nothing better after it."""

    at: datetime
    why: str
    backup: str | None = None
    """Name of the Backup that it was part of."""


def failure_since(good_at: datetime | None, uploads: Iterable[Transfer]) -> LastFailure | None:
    """Return what went wrong with a volume since its last good backup ended, if anything did."""
    bad = [
        LastFailure(at, why, backup_of(upload))
        for upload in uploads
        if (at := upload.status.completion_timestamp) is not None and not upload.deleting and (why := _failure(upload))
    ]
    newest = max(bad, key=lambda failure: failure.at, default=None)
    return None if newest is None or (good_at is not None and newest.at < good_at) else newest


def _failure(upload: Transfer) -> str:
    if upload.status.phase is TransferPhase.FAILED:
        return upload.status.message or "it does not say why"
    return left_out(upload) if upload.status.phase is TransferPhase.COMPLETED else ""


def backup_of(upload: Transfer) -> str | None:
    """Return the name of the Backup that an upload is part of."""
    return next((owner.name for owner in upload.metadata.owner_references), None)


def _of_upload(upload: Transfer) -> LastBackup:
    return LastBackup(stored_by(upload), upload.status.start_timestamp, backup_of(upload))


def _began(upload: Transfer) -> tuple[bool, datetime | None]:
    return upload.status.start_timestamp is not None, upload.status.start_timestamp

"""What clients made for Longhorn are shown: its field names and forms. Values in, plain JSON values out."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from tidegate.format.cfgs.backup_url import BackupUrl
from tidegate.format.cfgs.times import format_time
from tidegate.model.resource import Resource
from tidegate.model.stores.catalogue import BackupState, CatalogueBackup, CatalogueVolume
from tidegate.model.stores.catalogue_listing import volume_id
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup, SystemBackupPhase
from tidegate.model.system.system_restore import SystemRestore

Wire = dict[str, object]

VOLUME_ACTIONS = ("backupList", "backupListByVolume", "backupGet", "backupDelete", "backupVolumeSync")
TARGET_ACTIONS = ("backupTargetSync", "backupTargetUpdate", "backupTargetAdopt")


def volume_shape(volume: CatalogueVolume, *, base: str) -> Wire:
    """One backup volume."""
    record = volume.record
    identity = volume_id(volume.name, volume.target)
    return {
        "id": identity,
        "type": "backupVolume",
        "name": volume.name,
        "volumeName": volume.name,
        "backupTargetName": volume.target,
        "size": str(record.size),
        "dataSize": _data_size(volume.data_size, record.size),
        "labels": record.labels,
        "created": _time(record.created_at),
        "lastBackupName": record.last_backup_name,
        "lastBackupAt": _time(record.last_backup_at),
        "dataStored": str(record.data_stored),
        "messages": volume.messages,
        "backingImageName": record.backing_image_name,
        "backingImageChecksum": record.backing_image_checksum,
        "storageClassName": record.storage_class_name,
        "dataEngine": record.data_engine,
        "backupCount": volume.backups,
        "lastSyncedAt": _time(volume.last_synced_at),
        "lastSyncedTime": _time(volume.last_synced_at),
        **_ways(f"{base}/v1/backupvolumes/{quote(identity, safe='@')}", VOLUME_ACTIONS),
    }


def backup_shape(backup: CatalogueBackup, *, urls: Mapping[str, str]) -> Wire:
    """One volume backup; `urls` are those of the targets by name."""
    record, subject = backup.record, backup.subject
    url = urls.get(backup.target)
    return {
        "id": record.name,
        "type": "backup",
        "name": record.name,
        "state": str(record.state),
        "progress": 100 if record.state is BackupState.COMPLETED else 0,
        "error": record.messages.get("error", ""),
        "url": BackupUrl(url, backup.volume, record.name).encode() if url else "",
        "snapshotName": record.snapshot_name,
        "snapshotCreated": _time(record.snapshot_created_at),
        "created": _time(record.created_at),
        "size": str(record.size),
        "labels": record.labels,
        "backupMode": record.parameters.get("backup-mode", ""),
        "isIncremental": record.is_incremental,
        "messages": record.messages,
        "volumeName": backup.volume,
        "volumeSize": str(backup.volume_size),
        "dataSize": _data_size(record.data_size, 0 if record.state is BackupState.ERROR else backup.volume_size),
        "volumeCreated": _time(backup.volume_created_at),
        "volumeBackingImageName": "",
        "compressionMethod": record.compression,
        "newlyUploadDataSize": str(record.newly_uploaded_size),
        "reUploadedDataSize": str(record.re_uploaded_size),
        "backupTargetName": backup.target,
        "blockSize": record.parameters.get("backup-block-size", ""),
        "namespace": subject.namespace,
        "claim": subject.claim,
        "workload": subject.workload,
        "pod": subject.pod,
        "links": {},
        "actions": {},
    }


def _data_size(known: int | None, of_volume: int) -> str:
    """As people count it; of a backup that Longhorn wrote, the size of its volume. Empty where nothing is known."""
    return str(of_volume or "") if known is None else str(known)


def target_shape(target: BackupTarget, *, base: str, poll_interval: timedelta) -> Wire:
    """The flat fields of a backup target, to stand beside its own; `poll_interval` is the one that holds."""
    return {
        "id": target.name,
        "type": "backupTarget",
        "name": target.name,
        "backupTargetURL": target.spec.url,
        "credentialSecret": target.spec.credential_secret or "",
        "pollInterval": go_duration(poll_interval),
        "available": target.status.available is True,
        "message": target.status.message,
        **_ways(f"{base}/v1/backuptargets/{target.name}", TARGET_ACTIONS),
    }


# No field of ours has such a name, so a client of either kind can read one answer, and send it back.
FLAT_TARGET_FIELDS = frozenset(
    {
        "id",
        "type",
        "name",
        "backupTargetURL",
        "credentialSecret",
        "pollInterval",
        "available",
        "message",
        "links",
        "actions",
        "syncForecast",
    }
)


def system_shape(system: Resource, *, base: str) -> Wire:
    """The flat fields of a system backup or a system restore, to stand beside its own."""
    if isinstance(system, SystemBackup):
        status, made_at = system.status, system.status.created_at or system.metadata.creation_timestamp
        kind, own = (
            "systemBackup",
            {
                "volumeBackupPolicy": str(system.spec.volume_backup_policy),
                "version": status.version,
                "managerImage": "",
            },
        )
    else:
        assert isinstance(system, SystemRestore)  # noqa: S101  # there are these two
        kind, own = "systemRestore", {"systemBackup": system.spec.system_backup}
        made_at = system.metadata.creation_timestamp
    phase = str(system.status.phase)
    failed = phase == SystemBackupPhase.ERROR
    return {
        "id": system.name,
        "type": kind,
        "name": system.name,
        **own,
        "state": "" if phase == SystemBackupPhase.NEW else phase,
        "createdAt": _go_time(made_at),
        "error": (system.status.failure_reason or "") if failed else "",
        "links": {"self": f"{base}/v1/{system.plural}/{system.name}"},
        "actions": {},
    }


FLAT_SYSTEM_FIELDS = frozenset(
    {
        "id",
        "type",
        "name",
        "volumeBackupPolicy",
        "version",
        "managerImage",
        "systemBackup",
        "state",
        "createdAt",
        "error",
        "links",
        "actions",
    }
)


def _go_time(moment: datetime | None) -> str:
    """`2026-01-31 12:00:00 +0000 UTC`, as Go prints a time; the zero time where there is none."""
    if moment is None:
        return "0001-01-01 00:00:00 +0000 UTC"
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S +0000 UTC")


def go_duration(length: timedelta) -> str:
    """`5m0s`, `1h0m0s`, `45s`, `0s`: every unit below the largest."""
    minutes, seconds = divmod(int(length.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds}s"
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"


def _ways(here: str, actions: tuple[str, ...]) -> Wire:
    return {"links": {"self": here}, "actions": {name: f"{here}?action={name}" for name in actions}}


def _time(moment: datetime | None) -> str:
    return "" if moment is None else format_time(moment)

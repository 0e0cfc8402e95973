"""Rows of the catalogue as values, and back."""

import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime

from tidegate.model.catalogue import (
    BackupState,
    CatalogueBackup,
    CatalogueVolume,
    StoredBackupRecord,
    StoredVolumeRecord,
    Subject,
)

STATES = (BackupState.COMPLETED, BackupState.IN_PROGRESS, BackupState.ERROR)
INCREMENTAL = 1
CREATED_UNKNOWN = 2
_TIMES = ("created_at", "last_backup_at")
_OLDEST, _NEWEST = 0, 253_402_300_799

VOLUME_COLUMNS = (
    "v.id, t.name, v.name, v.record, v.messages, v.synced_at, "
    "(SELECT coalesce(sum(g.backups), 0) FROM groups g WHERE g.volume_id = v.id)"
)
BACKUP_COLUMNS = """
    b.id, b.created, t.name, v.name, b.name, b.state, b.flags, b.snapshot_name, b.snapshot_created, b.size,
    (SELECT text FROM texts WHERE id = b.parameters_id), (SELECT text FROM texts WHERE id = b.compression_id),
    b.new_bytes, b.repeated_bytes, b.messages, g.namespace, g.claim, g.workload, g.pod, b.volume_size, v.record,
    (SELECT json_group_object(l.key, l.value) FROM labels l JOIN json_each('[' || s.members || ']') m ON l.id = m.value)
"""
BACKUP_TABLES = """
    backups b JOIN volumes v ON v.id = b.volume_id JOIN targets t ON t.id = v.target_id
    JOIN groups g ON g.id = b.group_id JOIN label_sets s ON s.id = b.label_set_id
"""


def to_seconds(moment: datetime | None) -> int | None:
    """Whole seconds, held within what a calendar can show."""
    return None if moment is None else max(_OLDEST, min(_NEWEST, int(moment.timestamp())))


def from_seconds(seconds: int | None) -> datetime | None:
    """The time again."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def to_text(entries: Mapping[str, str]) -> str:
    """Compact, and the same for the same entries."""
    return json.dumps(dict(entries), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def volume_text(record: StoredVolumeRecord) -> str:
    """The stored form: only what says something."""
    fields = {name: getattr(record, name) for name in StoredVolumeRecord.__slots__}
    fields["labels"] = dict(record.labels)
    fields.update((name, to_seconds(fields[name])) for name in _TIMES)
    return json.dumps({name: value for name, value in fields.items() if value}, ensure_ascii=False)


def volume_record(text: str) -> StoredVolumeRecord:
    """What was stored."""
    fields = json.loads(text)
    return StoredVolumeRecord(**{**fields, **{name: from_seconds(fields.get(name)) for name in _TIMES}})


def volume_of(row: sqlite3.Row | tuple[object, ...]) -> CatalogueVolume:
    """From VOLUME_COLUMNS."""
    _id, target, name, record, messages, synced_at, backups = row
    return CatalogueVolume(
        target=str(target),
        name=str(name),
        record=volume_record(str(record)),
        backups=int(str(backups)),
        messages=json.loads(str(messages)) if messages else {},
        last_synced_at=from_seconds(synced_at),  # type: ignore[arg-type]  # SQLite's integers
    )


def backup_of(row: tuple[object, ...]) -> CatalogueBackup:
    """From BACKUP_COLUMNS."""
    columns: tuple[str | int | None, ...] = row[:15]  # type: ignore[assignment]  # SQLite's own types
    (_id, created, target, volume, name, state, flags, snapshot, snapshot_at, size, parameters, compression) = columns[
        :12
    ]
    new_bytes, repeated_bytes, messages = columns[12:]
    namespace, claim, workload, pod, volume_size, volume_text_, labels = row[15:]
    of_volume = volume_record(str(volume_text_))
    record = StoredBackupRecord(
        name=str(name),
        state=STATES[int(state or 0)],
        snapshot_name=str(snapshot),
        snapshot_created_at=from_seconds(snapshot_at),  # type: ignore[arg-type]
        created_at=None if int(flags or 0) & CREATED_UNKNOWN else from_seconds(int(created or 0)),
        size=int(size or 0),
        labels=json.loads(str(labels)),
        parameters=json.loads(str(parameters)),
        is_incremental=bool(int(flags or 0) & INCREMENTAL),
        compression=str(compression),
        newly_uploaded_size=int(new_bytes or 0),
        re_uploaded_size=int(repeated_bytes or 0),
        messages=json.loads(str(messages)) if messages else {},
    )
    return CatalogueBackup(
        target=str(target),
        volume=str(volume),
        record=record,
        subject=Subject(str(namespace), str(claim), str(workload), str(pod)),
        volume_size=int(str(volume_size)) or of_volume.size,
        volume_created_at=of_volume.created_at,
    )

"""Rows of the catalogue as values, and back."""

import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime

from tidegate.format.cfgs.times import to_seconds
from tidegate.model.stores.catalogue import (
    BackupState,
    CatalogueVolume,
    StoredVolumeRecord,
)

STATES = (BackupState.COMPLETED, BackupState.IN_PROGRESS, BackupState.ERROR)
INCREMENTAL = 1
CREATED_UNKNOWN = 2
_TIMES = ("created_at", "last_backup_at")

_NEWEST = "json_extract(v.record, '$.last_backup_name')"
VOLUME_COLUMNS = (
    "v.id, t.name, v.name, v.record, v.messages, v.synced_at, "
    "(SELECT coalesce(sum(g.backups), 0) FROM groups g WHERE g.volume_id = v.id), "
    f"(SELECT b.data_size FROM backups b WHERE b.volume_id = v.id AND b.name = {_NEWEST})"
)


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
    _id, target, name, record, messages, synced_at, backups, data_size = row
    return CatalogueVolume(
        target=str(target),
        name=str(name),
        record=volume_record(str(record)),
        data_size=None if data_size is None else int(str(data_size)),
        backups=int(str(backups)),
        messages=json.loads(str(messages)) if messages else {},
        last_synced_at=from_seconds(synced_at),  # type: ignore[arg-type]  # SQLite's integers
    )

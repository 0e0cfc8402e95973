"""Backups as values, out of their rows and of what many of them share: volumes, subjects, texts and labels."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from tidegate.catalogue.rows import CREATED_UNKNOWN, INCREMENTAL, STATES, from_seconds
from tidegate.model.stores.catalogue import CatalogueBackup, StoredBackupRecord, Subject


class BackupRow(NamedTuple):
    """From BACKUP_COLUMNS, in this order."""

    id: int
    created: int
    name: str
    state: int
    flags: int
    snapshot_name: str
    snapshot_created: int | None
    size: int
    new_bytes: int
    repeated_bytes: int
    messages: str | None
    volume_size: int
    data_size: int | None
    volume_id: int
    group_id: int
    parameters_id: int
    compression_id: int
    label_set_id: int


BACKUP_COLUMNS = ", ".join(f"b.{name}" for name in BackupRow._fields)


def backups_of(connection: sqlite3.Connection, found: Iterable[tuple[Any, ...]]) -> list[tuple[int, CatalogueBackup]]:
    """Each with its number, in the same order. What rows share is read and understood once for all of them."""
    rows = [BackupRow(*row) for row in found]
    shared = _Shared(connection, rows)
    return [(row.id, _backup(row, shared)) for row in rows]


class _Volume(NamedTuple):
    """What a list of backups tells of a volume; the rest of its record is not even read."""

    target: str
    name: str
    size: int
    created_at: datetime | None


class _Shared:
    """All that these rows point to."""

    def __init__(self, connection: sqlite3.Connection, rows: Sequence[BackupRow]) -> None:
        self._connection = connection
        self.volumes = self._by_number(
            "SELECT v.id, t.name, v.name, json_extract(v.record, '$.size'), json_extract(v.record, '$.created_at') "
            "FROM volumes v JOIN targets t ON t.id = v.target_id WHERE v.id",
            {row.volume_id for row in rows},
            lambda target, name, size, created: _Volume(target, name, size or 0, from_seconds(created)),
        )
        self.subjects = self._by_number(
            "SELECT id, namespace, claim, workload, pod FROM groups WHERE id", {row.group_id for row in rows}, Subject
        )
        numbers = {number for row in rows for number in (row.parameters_id, row.compression_id)}
        self.texts = self._by_number("SELECT id, text FROM texts WHERE id", numbers, str)
        self.parameters = {number: json.loads(self.texts[number]) for number in {row.parameters_id for row in rows}}
        self.labels = self._labels({row.label_set_id for row in rows})

    def _labels(self, sets: set[int]) -> dict[int, Mapping[str, str]]:
        members = self._by_number(
            "SELECT id, members FROM label_sets WHERE id",
            sets,
            lambda text: [int(member) for member in text.split(",") if member],
        )
        every = {member for one in members.values() for member in one}
        known = self._by_number("SELECT id, key, value FROM labels WHERE id", every, lambda *label: label)
        return {number: dict(known[member] for member in one) for number, one in members.items()}

    def _by_number(self, select: str, numbers: Iterable[int], make: Callable[..., Any]) -> dict[int, Any]:
        marks = ",".join(map(str, numbers))
        return {number: make(*rest) for number, *rest in self._connection.execute(f"{select} IN ({marks})")}


def _backup(row: BackupRow, shared: _Shared) -> CatalogueBackup:
    volume = shared.volumes[row.volume_id]
    return CatalogueBackup(
        target=volume.target,
        volume=volume.name,
        record=StoredBackupRecord(
            name=row.name,
            state=STATES[row.state],
            snapshot_name=row.snapshot_name,
            snapshot_created_at=from_seconds(row.snapshot_created),
            created_at=None if row.flags & CREATED_UNKNOWN else from_seconds(row.created),
            size=row.size,
            data_size=row.data_size,
            labels=shared.labels[row.label_set_id],
            parameters=shared.parameters[row.parameters_id],
            is_incremental=bool(row.flags & INCREMENTAL),
            compression=shared.texts[row.compression_id],
            newly_uploaded_size=row.new_bytes,
            re_uploaded_size=row.repeated_bytes,
            messages=json.loads(row.messages) if row.messages else {},
        ),
        subject=shared.subjects[row.group_id],
        volume_size=row.volume_size or volume.size,
        volume_created_at=volume.created_at,
    )

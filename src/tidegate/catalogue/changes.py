"""What a sync found out and wants written down: values between the sync and the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tidegate.format.cfgs.times import to_seconds
from tidegate.format.cfgs.volume_index import IndexEntry
from tidegate.model.stores.catalogue import BackupState, StoredBackupRecord, StoredVolumeRecord


class FoundBackup(NamedTuple):
    """One backup as the store holds it now, in the numbers of the database: a first sync finds a million.

    `mark` is a digest of what the listing showed of its cfg.
    """

    name: str
    state: BackupState
    mark: int
    created: int
    """The time of the cfg itself where it tells none."""
    created_known: bool
    snapshot_created: int | None
    snapshot_name: str
    size: int
    volume_size: int
    data_size: int | None
    newly_uploaded_size: int
    re_uploaded_size: int
    is_incremental: bool
    compression: str
    parameters: Mapping[str, str]
    labels: Mapping[str, str]
    messages: Mapping[str, str]


def found_in_cfg(record: StoredBackupRecord, mark: int, modified_at: datetime, *, volume_size: int = 0) -> FoundBackup:
    """What a cfg said that was read."""
    created = to_seconds(record.created_at)
    return FoundBackup(
        record.name,
        record.state,
        mark,
        to_seconds(modified_at) if created is None else created,
        created is not None,
        to_seconds(record.snapshot_created_at),
        record.snapshot_name,
        record.size,
        volume_size,
        record.data_size,
        record.newly_uploaded_size,
        record.re_uploaded_size,
        record.is_incremental,
        record.compression,
        record.parameters,
        record.labels,
        record.messages,
    )


def found_in_index(entry: IndexEntry, modified_at: datetime) -> FoundBackup:
    """What the index says of a cfg that is still the same."""
    return FoundBackup(
        entry.name,
        BackupState.COMPLETED,
        entry.mark,
        to_seconds(modified_at) if entry.created is None else entry.created,
        entry.created is not None,
        entry.snapshot_created,
        entry.snapshot_name,
        entry.size,
        entry.volume_size,
        entry.data_size,
        entry.newly_uploaded_size,
        entry.re_uploaded_size,
        entry.is_incremental,
        entry.compression,
        entry.parameters,
        entry.labels,
        entry.messages,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundVolume:
    """What is known of a volume once all of its backups are written. None for what was not looked at this time."""

    listing_mark: int | None
    """None: not all could be read, so the next sync looks again."""
    settled: bool
    synced_at: datetime
    record: StoredVolumeRecord | None = None
    cfg_mark: int | None = None
    messages: dict[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeChange:
    """A batch: one short transaction. `found` comes with the last batch of a volume."""

    target: str
    volume: str
    backups: Sequence[FoundBackup] = ()
    vanished: Sequence[str] = ()
    found: FoundVolume | None = None


@dataclass(frozen=True, slots=True)
class VolumeMark:
    """What the catalogue remembers of a volume, enough to tell whether it must be read again."""

    cfg_mark: int | None
    listing_mark: int | None
    settled: bool
    faulty: bool
    """Whether its messages tell of something that may have been mended."""

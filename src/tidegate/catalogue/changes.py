"""What a sync found out and wants written down: values between the sync and the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tidegate.model.catalogue import StoredBackupRecord, StoredVolumeRecord


@dataclass(frozen=True, slots=True)
class FoundBackup:
    """One backup as the store holds it now. `mark` is a digest of what the listing showed of its cfg."""

    record: StoredBackupRecord
    mark: int
    modified_at: datetime
    volume_size: int = 0


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

"""What the catalogue knows of the stores: rows that were read out of it, and what may be asked of it.

Frozen and small: a page of them is made for every look. Times are those that the store's files tell, None where they
tell none that can be understood.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class BackupState(StrEnum):
    """How a volume backup stands in its store."""

    COMPLETED = "Completed"
    IN_PROGRESS = "InProgress"
    """Somebody still writes it, or died doing so."""
    ERROR = "Error"
    """Its record is there but cannot be understood; `messages` says why."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose data it is, as far as the labels tell; empty where they do not. Several pods are separated by blanks."""

    namespace: str = ""
    claim: str = ""
    """The PVC, or the volume's own name where there are no claims."""
    workload: str = ""
    pod: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVolumeRecord:
    """What `volume.cfg` says."""

    size: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    created_at: datetime | None = None
    last_backup_name: str = ""
    last_backup_at: datetime | None = None
    data_stored: int = 0
    backing_image_name: str = ""
    backing_image_checksum: str = ""
    storage_class_name: str = ""
    data_engine: str = ""
    compression: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBackupRecord:
    """What the cfg of one volume backup says, without its blocks."""

    name: str
    state: BackupState = BackupState.COMPLETED
    snapshot_name: str = ""
    snapshot_created_at: datetime | None = None
    created_at: datetime | None = None
    size: int = 0
    """Of its blocks: what the store must hold for it."""
    data_size: int | None = None
    """Bytes of the volume as people count them: of the files of a tree, all of an image. None: not told."""
    labels: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    is_incremental: bool = False
    compression: str = ""
    newly_uploaded_size: int = 0
    re_uploaded_size: int = 0
    messages: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueVolume:
    """One volume of one target."""

    target: str
    name: str
    record: StoredVolumeRecord
    data_size: int | None
    """Of its newest backup; None where that does not tell it."""
    backups: int
    messages: Mapping[str, str]
    last_synced_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueBackup:
    """One backup of one volume of one target."""

    target: str
    volume: str
    record: StoredBackupRecord
    subject: Subject
    volume_size: int
    volume_created_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueFilter:
    """What to look for; what is empty does not matter. Texts with a `*` match as globs, others exactly.

    `search` is a part of a volume's name, a namespace, a claim, a workload or a pod, in any case.
    """

    target: str = ""
    volume: str = ""
    namespace: str = ""
    claim: str = ""
    workload: str = ""
    pod: str = ""
    search: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    """All of them; an empty value stands for any value."""
    state: BackupState | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class CataloguePage(Generic[T]):
    """A part of a list. `marker` leads to the next part; empty at the end."""

    items: tuple[T, ...]
    marker: str = ""


@dataclass(frozen=True, slots=True)
class FullSync:
    """The last sync that saw the whole store of a target."""

    url: str
    """The place that it read."""
    began_at: datetime


@dataclass(frozen=True, slots=True)
class CatalogueCounts:
    """How much there is. What is asked of each backup is counted to a limit only."""

    volumes: int
    backups: int
    more: bool = False
    """Whether there are more than these."""

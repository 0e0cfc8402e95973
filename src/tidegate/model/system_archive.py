"""What the archive of a system backup holds: the definitions that the system needs to come back, and which backups.

No secrets, no work in progress, nothing that belongs to one server only.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tidegate.model.frozen import Model
from tidegate.model.resource import Resource
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.setting import Setting
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import StoredVolumeBackup, VolumeBackupPolicy
from tidegate.model.volumes.volume import Namespace, Volume

# Each kind behind those that it refers to: the order in which they come back.
DEFINITIONS: tuple[type[Resource], ...] = (Setting, BackupTarget, Namespace, Volume, Schedule)
ARCHIVE_FORMAT = 1
_KEPT: dict[str, Any] = {
    "api_version": True,
    "kind": True,
    "metadata": {"name", "namespace", "labels", "annotations"},
    "spec": True,
}


class ArchiveMetadata(Model):
    """Who made the archive, when and how."""

    format: int = ARCHIVE_FORMAT
    version: str
    created_at: datetime
    system_backup_uid: str
    """By this a system backup knows its own archive again after a crash."""
    volume_backup_policy: VolumeBackupPolicy


class ArchivedVolumeBackup(Model):
    """Which volume backup belongs to a volume."""

    volume: str
    """NAMESPACE/NAME."""
    target_url: str
    stored: StoredVolumeBackup


@dataclass(frozen=True)
class SystemArchive:
    """One archive."""

    name: str
    metadata: ArchiveMetadata
    definitions: tuple[Resource, ...]
    volume_backups: tuple[ArchivedVolumeBackup, ...]


def definition_of(resource: Resource) -> dict[str, Any]:
    """A resource without what belongs to one server only: no status, no uid, no owners."""
    return resource.model_dump(mode="json", include=_KEPT, exclude_none=True)

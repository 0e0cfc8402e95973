"""BackupVolumes: what a store holds of one volume."""

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.resource import Resource, Spec, Status


class BackupVolumeSpec(Spec):
    """Which volume of which store."""

    target: str
    volume: str
    sync_requested_at: datetime | None = None


class BackupVolumeStatus(Status):
    """The volume's metadata as the store last told it."""

    size: int | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    created_at: datetime | None = None
    last_backup_name: str = ""
    last_backup_at: datetime | None = None
    data_stored: int | None = None
    backing_image_name: str = ""
    backing_image_checksum: str = ""
    storage_class_name: str = ""
    data_engine: str = ""
    messages: dict[str, str] = Field(default_factory=dict)
    last_synced_at: datetime | None = None


class BackupVolume(Resource):
    """What a store holds of one volume."""

    plural: ClassVar[str] = "backupvolumes"

    kind: Literal["BackupVolume"] = "BackupVolume"
    spec: BackupVolumeSpec
    status: BackupVolumeStatus = Field(default_factory=BackupVolumeStatus)

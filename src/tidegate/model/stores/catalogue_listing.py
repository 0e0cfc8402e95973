"""Volumes and volume backups as lists show them: Longhorn's field names and forms, and a few of our own beside them.

Sizes are decimal text and times RFC 3339 text there, empty where nothing is known. So they are here too: what a client
sees is what was sent.
"""

from pydantic import Field

from tidegate.model.frozen import Model

_TARGET_SEPARATOR = "@"  # in no name of a volume in a store, and in no name of a target


def volume_id(volume: str, target: str) -> str:
    """What a volume of a target is called. Never changes, whatever else other targets hold."""
    return f"{volume}{_TARGET_SEPARATOR}{target}"


def split_volume_id(identity: str) -> tuple[str, str]:
    """(volume, target); the target is empty if only a volume is named."""
    volume, _, target = identity.partition(_TARGET_SEPARATOR)
    return volume, target


class ListedVolume(Model):
    """One volume of one target."""

    id: str
    type: str = "backupVolume"
    name: str
    volume_name: str
    backup_target_name: str
    size: str = ""
    """As Longhorn counts it, in whole blocks."""
    data_size: str = ""
    """Of its newest backup: the bytes of the files of a tree, all bytes of an image."""
    labels: dict[str, str] = Field(default_factory=dict)
    created: str = ""
    """Empty: its volume.cfg could not be read, `messages` says why."""
    last_backup_name: str = ""
    last_backup_at: str = ""
    data_stored: str = ""
    messages: dict[str, str] = Field(default_factory=dict)
    backing_image_name: str = ""
    backing_image_checksum: str = ""
    storage_class_name: str = ""
    data_engine: str = ""
    backup_count: int = 0
    last_synced_at: str = ""
    last_synced_time: str = ""
    """The same, by the name that the design gives it."""
    links: dict[str, str] = Field(default_factory=dict)
    actions: dict[str, str] = Field(default_factory=dict)


class ListedBackup(Model):
    """One backup of one volume of one target."""

    id: str
    type: str = "backup"
    name: str
    state: str = ""
    progress: int = 0
    error: str = ""
    url: str = ""
    snapshot_name: str = ""
    snapshot_created: str = ""
    created: str = ""
    size: str = ""
    """Of its blocks, as Longhorn counts them."""
    data_size: str = ""
    """The bytes of the files of a tree, all bytes of an image."""
    labels: dict[str, str] = Field(default_factory=dict)
    backup_mode: str = ""
    is_incremental: bool = False
    messages: dict[str, str] = Field(default_factory=dict)
    volume_name: str
    volume_size: str = ""
    volume_created: str = ""
    volume_backing_image_name: str = ""
    compression_method: str = ""
    newly_upload_data_size: str = ""
    re_uploaded_data_size: str = ""
    backup_target_name: str
    block_size: str = ""
    namespace: str = ""
    claim: str = ""
    workload: str = ""
    pod: str = ""
    links: dict[str, str] = Field(default_factory=dict)
    actions: dict[str, str] = Field(default_factory=dict)

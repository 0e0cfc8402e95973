"""Where system backups are in a store, and the cfg beside each archive.

    backupstore/system-backups/<version>/<name>/system-backup.zip    first
                                               /system-backup.cfg    second: the commit point

The name alone is the identity, as for Longhorn: one name under two versions would be one system backup twice.
"""

from dataclasses import dataclass
from datetime import datetime

from tidegate.errors import DamagedMetadata, InvalidInput
from tidegate.format.cfgs.go_json import decode_json, encode_json
from tidegate.format.cfgs.paths import ROOT
from tidegate.format.cfgs.times import format_time, parse_time
from tidegate.model.names import check_name

SYSTEM_BACKUPS = f"{ROOT}/system-backups"
LARGEST_SYSTEM_CFG = 64 * 1024
# So that the names of its Backups, which begin with it, are names too.
LONGEST_SYSTEM_BACKUP_NAME = 200
_CFG = "system-backup.cfg"
_ZIP = "system-backup.zip"
_PARTS = 5


@dataclass(frozen=True, order=True)
class ArchivePlace:
    """One system backup in one store. Both parts are checked, so neither can lead out of its directory."""

    name: str
    version: str

    def __post_init__(self) -> None:
        if not is_system_backup_name(self.name) or not _is_version(self.version):
            raise InvalidInput(f"{self.version!r}/{self.name!r} cannot be the place of a system backup")

    @property
    def directory(self) -> str:
        """The key above both objects."""
        return f"{SYSTEM_BACKUPS}/{self.version}/{self.name}"

    @property
    def cfg_key(self) -> str:
        """Of the cfg."""
        return f"{self.directory}/{_CFG}"

    @property
    def zip_key(self) -> str:
        """Of the archive."""
        return f"{self.directory}/{_ZIP}"

    def url(self, target: str) -> str:
        """The URL that Longhorn gives it too; the target's options stand behind it."""
        base, mark, query = target.partition("?")
        return f"{base.rstrip('/')}/{self.directory}{mark}{query}"


def is_system_backup_name(name: str) -> bool:
    """Whether a system backup can be called so."""
    try:
        check_name(name)
    except ValueError:
        return False
    return len(name) <= LONGEST_SYSTEM_BACKUP_NAME


def _is_version(version: str) -> bool:
    plain = version.replace(".", "").replace("-", "").replace("_", "").replace("+", "")
    return plain.isascii() and plain.isalnum() and version[0] not in ".-" and len(version) <= LONGEST_SYSTEM_BACKUP_NAME


def place_of_cfg(key: str) -> ArchivePlace | None:
    """The system backup that a listed key is the cfg of; None for anything else that lies there."""
    parts = key.split("/")
    if len(parts) != _PARTS or parts[-1] != _CFG or "/".join(parts[:2]) != SYSTEM_BACKUPS:
        return None
    try:
        return ArchivePlace(parts[3], parts[2])
    except InvalidInput:
        return None


def split_archive_url(url: str) -> tuple[str, ArchivePlace] | None:
    """The target's URL and the place; None for a text that is no URL of a system backup."""
    base, mark, query = url.strip().partition("?")
    target, found, rest = base.rstrip("/").rpartition(f"/{SYSTEM_BACKUPS}/")
    version, _, name = rest.partition("/")
    if not found or "://" not in target:
        return None
    try:
        return f"{target}{mark}{query}", ArchivePlace(name, version)
    except InvalidInput:
        return None


@dataclass(frozen=True, kw_only=True)
class SystemBackupCfg:
    """The eight fields that Longhorn has. Its words for versions are kept; the values are ours.

    A ninth one, which Longhorn passes over, is only there if the archive is sealed.
    """

    name: str
    version: str
    target_url: str
    checksum: str
    """SHA-256 of the archive as it is stored, in hex."""
    created_at: datetime | None
    encryption: str = ""
    """Scheme and key, if it is sealed."""

    def encode(self) -> bytes:
        """The bytes of the file."""
        return encode_json(
            {
                "Name": self.name,
                "LonghornVersion": self.version,
                "LonghornGitCommit": "",
                "BackupTargetURL": self.target_url,
                "ManagerImage": "",
                "EngineImage": "",
                "CreatedAt": format_time(self.created_at) if self.created_at else "",
                "Checksum": self.checksum,
                **({"Encryption": self.encryption} if self.encryption else {}),
            }
        )

    @classmethod
    def decode(cls, body: bytes, place: ArchivePlace) -> "SystemBackupCfg":
        """What the bytes say; raises DamagedMetadata, also if they speak of another system backup."""
        fields = decode_json(body, what=place.cfg_key)
        name = fields.text("Name")
        if name != place.name:
            raise DamagedMetadata(f"{place.cfg_key} speaks of system backup {name[:80]!r}")
        return cls(
            name=name,
            version=place.version,
            target_url=fields.text("BackupTargetURL"),
            checksum=fields.text("Checksum"),
            created_at=parse_time(fields.text("CreatedAt")),
            encryption=fields.text("Encryption"),
        )

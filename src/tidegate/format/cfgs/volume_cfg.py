"""`volume.cfg`: what a store says about one volume. Rewritten in full by every backup and every deletion."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidegate.errors import DamagedMetadata
from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.go_json import decode_json, double_encoded, encode_json, sorted_map
from tidegate.format.cfgs.paths import is_name

LARGEST_VOLUME_CFG = 4 * 1024 * 1024
DEFAULT_DATA_ENGINE = "v1"


@dataclass(frozen=True, kw_only=True)
class VolumeCfg:
    """All twelve fields. Times stay text, so that rewriting changes only what is meant to change."""

    name: str
    size: int
    labels: Mapping[str, str] = field(default_factory=dict)
    created_time: str = ""
    last_backup_name: str = ""
    last_backup_at: str = ""
    block_count: int = 0
    backing_image_name: str = ""
    backing_image_checksum: str = ""
    compression: Compression
    storage_class_name: str = ""
    data_engine: str = DEFAULT_DATA_ENGINE

    def encode(self) -> bytes:
        """The bytes of the file. Five fields are doubly encoded; Longhorn cannot load the volume otherwise."""
        return encode_json(
            {
                "Name": self.name,
                "Size": str(self.size),
                "Labels": sorted_map(self.labels),
                "CreatedTime": self.created_time,
                "LastBackupName": self.last_backup_name,
                "LastBackupAt": self.last_backup_at,
                "BlockCount": str(self.block_count),
                "BackingImageName": double_encoded(self.backing_image_name),
                "BackingImageChecksum": double_encoded(self.backing_image_checksum),
                "CompressionMethod": double_encoded(self.compression),
                "StorageClassName": double_encoded(self.storage_class_name),
                "DataEngine": double_encoded(self.data_engine),
            }
        )

    @classmethod
    def decode(cls, body: bytes, *, what: str = "volume.cfg") -> "VolumeCfg":
        """What the bytes say; raises DamagedMetadata. Fields that old versions did not write get their meaning."""
        fields = decode_json(body, what=what)
        last = fields.text("LastBackupName")
        if last and not is_name(last):
            raise DamagedMetadata(f"{what}: {last[:80]!r} cannot be the name of the last backup")
        return cls(
            name=fields.text("Name"),
            size=fields.decimal("Size"),
            labels=fields.text_map("Labels"),
            created_time=fields.text("CreatedTime"),
            last_backup_name=last,
            last_backup_at=fields.text("LastBackupAt"),
            block_count=fields.decimal("BlockCount"),
            backing_image_name=fields.double_text("BackingImageName"),
            backing_image_checksum=fields.double_text("BackingImageChecksum"),
            compression=compression_named(fields.double_text("CompressionMethod"), what=what),
            storage_class_name=fields.double_text("StorageClassName"),
            data_engine=fields.double_text("DataEngine") or DEFAULT_DATA_ENGINE,
        )


def compression_named(text: str, *, what: str) -> Compression:
    """The method that a cfg names. None named means gzip: what was written before there was a choice."""
    try:
        return Compression(text or Compression.GZIP)
    except ValueError as error:
        raise DamagedMetadata(f"{what}: nobody knows the compression method {text!r}") from error

"""`backup_<name>.cfg`: one point in time of one volume. Its final form is written last: it is the commit point."""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tidegate.errors import DamagedMetadata
from tidegate.format.blocks.block_map import BlockMap, BlockRef
from tidegate.format.blocks.checksum import is_checksum
from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.blocks_json import PLACEHOLDER, cut_blocks, paste_blocks
from tidegate.format.cfgs.go_json import Fields, decode_json, encode_json, sorted_map
from tidegate.format.cfgs.volume_cfg import compression_named

MIB = 1024 * 1024
# Enough for the map of 5 TiB in blocks of 2 MiB.
LARGEST_BACKUP_CFG = 256 * MIB
DEFAULT_BLOCK_SIZE = 2 * MIB
_LARGEST_BLOCK_SIZE = 64 * MIB
_BLOCK_SIZE = "backup-block-size"
_MODE = "backup-mode"
_TRUE_SIZE = "tidegate.dev/size"
_WRITER = "tidegate.dev/writer"
# In a backup that is in progress: whoever began it stops by itself once it has lost its lock. Longhorn does not.
OUR_MARK = {_WRITER: "tidegate"}
_SIZE = re.compile(r"[0-9]{1,18}")
_QUANTITY = re.compile(r"([0-9]{1,18})(Ki|Mi|k|M)?")
_UNITS = {"": 1, "Ki": 1024, "Mi": MIB, "k": 1000, "M": 1000_000}


__all__ = ["BackupCfg", "BlockRef", "block_parameters"]


@dataclass(frozen=True, kw_only=True)
class BackupCfg:
    """What the file holds. Offsets that `blocks` does not name are holes."""

    name: str
    volume_name: str
    compression: Compression
    snapshot_name: str = ""
    snapshot_created_at: str = ""
    created_time: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    is_incremental: bool = False
    newly_uploaded_size: int = 0
    re_uploaded_size: int = 0
    blocks: Sequence[BlockRef] = ()
    single_file: str = ""

    @property
    def in_progress(self) -> bool:
        """Whether somebody still writes it, or died doing so."""
        return not self.created_time

    @property
    def begun_by_us(self) -> bool:
        """Whether it is in progress, and its writer one that makes no backup without its lock."""
        return self.in_progress and self.parameters.get(_WRITER) == OUR_MARK[_WRITER]

    @property
    def block_size(self) -> int:
        """Bytes per block."""
        return _parse_block_size(self.parameters.get(_BLOCK_SIZE, ""), what=self.name)

    @property
    def true_size(self) -> int | None:
        """Bytes of the volume as it was then; None for backups of Longhorn, which does not write it down."""
        text = self.parameters.get(_TRUE_SIZE, "")
        return int(text) if _SIZE.fullmatch(text) else None

    def encode(self) -> bytes:
        """The bytes of the file. Labels are never null: Longhorn's manager would call the backup unrestorable."""
        document = encode_json(
            {
                "Name": self.name,
                "VolumeName": self.volume_name,
                "SnapshotName": self.snapshot_name,
                "SnapshotCreatedAt": self.snapshot_created_at,
                "CreatedTime": self.created_time,
                "Size": str(len(self.blocks) * self.block_size),
                "Labels": sorted_map(self.labels),
                "Parameters": sorted_map(self.parameters),
                "IsIncremental": self.is_incremental,
                "CompressionMethod": self.compression,
                "NewlyUploadedDataSize": str(self.newly_uploaded_size),
                "ReUploadedDataSize": str(self.re_uploaded_size),
                # Means nothing; Longhorn writes an object for full maps and null for the rest.
                "ProcessingBlocks": None if self.is_incremental or self.in_progress else {},
                **({"Blocks": PLACEHOLDER} if self.blocks else {}),
                "SingleFile": {"FilePath": self.single_file},
            }
        )
        if not self.blocks:
            return document
        file = io.BytesIO()
        file.writelines(paste_blocks(document, _ascending(self.blocks)))
        return file.getvalue()

    @classmethod
    def decode(cls, body: bytes, *, what: str = "backup cfg") -> "BackupCfg":
        """What the bytes say, blocks sorted; raises DamagedMetadata."""
        cut = cut_blocks(body)
        fields = decode_json(cut[0] if cut else body, what=what)
        if cut and not fields.says("Blocks", PLACEHOLDER):  # those were other blocks, deeper inside or written twice
            cut, fields = None, decode_json(body, what=what)
        parameters = fields.text_map("Parameters")
        # Not kept, since it follows from the blocks; but Longhorn would not load a file in which it is wrong.
        fields.decimal("Size")
        block_size = _parse_block_size(parameters.get(_BLOCK_SIZE, ""), what=what)
        return cls(
            name=fields.text("Name"),
            volume_name=fields.text("VolumeName"),
            compression=compression_named(fields.text("CompressionMethod"), what=what),
            snapshot_name=fields.text("SnapshotName"),
            snapshot_created_at=fields.text("SnapshotCreatedAt"),
            created_time=fields.text("CreatedTime"),
            labels=fields.text_map("Labels"),
            parameters=parameters,
            is_incremental=fields.flag("IsIncremental"),
            newly_uploaded_size=fields.decimal("NewlyUploadedDataSize"),
            re_uploaded_size=fields.decimal("ReUploadedDataSize"),
            blocks=_checked_offsets(
                cut[1] if cut else _decode_blocks(fields.nested_list("Blocks"), what=what), block_size, what=what
            ),
            single_file=fields.nested("SingleFile").text("FilePath"),
        )


def block_parameters(*, block_size: int, true_size: int, mode: str = "incremental") -> dict[str, str]:
    """What every backup of ours says. "incremental" tells Longhorn that blocks were reused where they existed."""
    return {_BLOCK_SIZE: str(block_size), _MODE: str(mode), _TRUE_SIZE: str(true_size)}


def _ascending(blocks: Sequence[BlockRef]) -> Iterable[BlockRef]:
    if isinstance(blocks, BlockMap) and blocks.is_ascending:
        return blocks  # to sort it would make all references at once
    return sorted(blocks)


def _decode_blocks(entries: list[Fields], *, what: str) -> BlockMap:
    blocks = sorted(BlockRef(entry.number("Offset"), entry.text("BlockChecksum")) for entry in entries)
    for block in blocks:
        if not is_checksum(block.checksum):
            raise DamagedMetadata(f"{what}: the block at {block.offset} has no valid checksum")
    return BlockMap.of(blocks)


def _checked_offsets(blocks: BlockMap, block_size: int, *, what: str) -> BlockMap:
    last = -1
    for offset in blocks.offsets:
        if offset % block_size or offset == last:
            raise DamagedMetadata(f"{what}: a block may not begin at {offset}")
        last = offset
    return blocks


def _parse_block_size(text: str, *, what: str) -> int:
    """Bytes, also when written as a Kubernetes quantity; nothing or zero means 2 MiB."""
    found = _QUANTITY.fullmatch(text or "0")
    size = int(found[1]) * _UNITS[found[2] or ""] if found else -1
    if size == 0:
        return DEFAULT_BLOCK_SIZE
    if not 0 < size <= _LARGEST_BLOCK_SIZE:
        raise DamagedMetadata(f"{what}: {text[:40]!r} is no block size")
    return size

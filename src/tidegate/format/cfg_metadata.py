"""What a backup cfg says besides its blocks, read from its first bytes: the block map may be tens of megabytes.

Longhorn and we write everything that matters before `Blocks`. Where somebody wrote it in another order, the last bytes
are needed too. Both ends together are never more than a megabyte, whatever the size of the file.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tidegate.errors import DamagedMetadata
from tidegate.format.backup_cfg import BackupCfg
from tidegate.format.go_json import Fields, Pairs, decode_json
from tidegate.format.paths import LONGEST_NAME
from tidegate.format.times import parse_time
from tidegate.format.volume_cfg import VolumeCfg, compression_named
from tidegate.model.catalogue import BackupState, StoredBackupRecord, StoredVolumeRecord

HEAD = 32 * 1024
LONG_HEAD = 1024 * 1024
TAIL = 32 * 1024
# Those that change with every backup, or are of use to a restore only, are left in the store.
_KEPT_PARAMETERS = ("backup-mode", "backup-block-size", "tidegate.dev/content", "tidegate.dev/encryption")
_NEEDED = frozenset({"name", "createdtime", "size", "labels"})
_MOST_LABELS_BYTES = 64 * 1024
_SPACE = re.compile(r"[ \t\r\n]*")
_END_OF_BLOCKS = re.compile(r"\}[ \t\r\n]*\][ \t\r\n]*,")
_BLOCK_BYTES = 2 * 1024 * 1024
_DECODER = json.JSONDecoder(object_pairs_hook=Pairs)


@dataclass(frozen=True)
class CfgHead:
    """The fields that were found, and whether all that matter are among them."""

    fields: Fields
    enough: bool
    met_blocks: bool


def read_head(head: bytes, *, what: str) -> CfgHead:
    """The fields before `Blocks`, as far as these bytes go; raises DamagedMetadata if they begin no JSON object."""
    # A character that was cut in the middle becomes a sign of doubt in a string that is cut too.
    text = head.decode("utf-8", "replace")
    pairs, position = Pairs(), _past_space(text, 0)
    if text[position : position + 1] != "{":
        raise DamagedMetadata(f"{what} does not hold a JSON object")
    met_blocks = False
    position = _past_space(text, position + 1)
    while text[position : position + 1] == '"' and not met_blocks:
        try:
            name, position = _DECODER.raw_decode(text, position)
            position = _past_space(text, position)
            if text[position : position + 1] != ":":
                break
            position = _past_space(text, position + 1)
            met_blocks = name.casefold() == "blocks"
            if met_blocks:
                break
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        pairs.append((name, value))
        position = _past_space(text, position)
        position = _past_space(text, position + 1) if text[position : position + 1] == "," else len(text)
    return _head(pairs, what=what, met_blocks=met_blocks)


def with_tail(head: CfgHead, tail: bytes, *, what: str) -> CfgHead:
    """The same with the fields behind the blocks, where these last bytes of the file show them."""
    text = tail.decode("utf-8", "replace")
    for found in list(_END_OF_BLOCKS.finditer(text))[-4:][::-1]:
        try:
            value = _DECODER.decode("{" + text[found.end() :])
        except (ValueError, RecursionError):
            continue
        if isinstance(value, Pairs):
            return _head(Pairs([*head.fields.pairs, *value]), what=what, met_blocks=True)
    return head


def _head(pairs: Pairs, *, what: str, met_blocks: bool) -> CfgHead:
    names = {name.casefold() for name, _ in pairs}
    return CfgHead(Fields(pairs, what=what), enough=names >= _NEEDED, met_blocks=met_blocks)


def _past_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


@dataclass(frozen=True)
class BackupMetadata:
    """What the catalogue keeps of one backup; `volume_size` is 0 where the cfg does not tell it."""

    record: StoredBackupRecord
    volume_size: int


def whole_metadata(body: bytes, *, name: str, now: datetime) -> BackupMetadata:
    """From a cfg that is here as a whole, which is then checked as a whole. Raises DamagedMetadata."""
    what = f"cfg of backup {name}"
    cfg = BackupCfg.decode(body, what=what)
    fields = decode_json(body, what=what)
    return metadata_of(fields, name=name, now=now, sizes=(len(cfg.blocks) * cfg.block_size,))


def cfg_metadata(cfg: BackupCfg, *, now: datetime) -> BackupMetadata:
    """From a cfg that was just written, without its blocks being written out once more."""
    size = len(cfg.blocks) * cfg.block_size
    fields = decode_json(replace(cfg, blocks=()).encode(), what=f"cfg of backup {cfg.name}")
    return metadata_of(fields, name=cfg.name, now=now, sizes=(size,))


def metadata_of(fields: Fields, *, name: str, now: datetime, sizes: Sequence[int] = ()) -> BackupMetadata:
    """The fields as a record. Raises DamagedMetadata for a field that cannot be understood."""
    created_text = fields.text("CreatedTime")
    labels, parameters = fields.text_map("Labels"), fields.text_map("Parameters")
    if sum(len(key) + len(value) for key, value in labels.items()) > _MOST_LABELS_BYTES:
        raise DamagedMetadata(f"cfg of backup {name} has more than {_MOST_LABELS_BYTES} bytes of labels")
    created = parse_time(created_text)
    true_size = parameters.get("tidegate.dev/size", "")
    record = StoredBackupRecord(
        name=name,
        state=BackupState.COMPLETED if created_text else BackupState.IN_PROGRESS,
        snapshot_name=fields.text("SnapshotName")[:LONGEST_NAME],
        snapshot_created_at=parse_time(fields.text("SnapshotCreatedAt")),
        created_at=created,
        size=fields.decimal("Size") or max(sizes, default=0),
        labels=labels,
        parameters={key: parameters[key][:LONGEST_NAME] for key in _KEPT_PARAMETERS if parameters.get(key)},
        is_incremental=fields.flag("IsIncremental"),
        compression=str(compression_named(fields.text("CompressionMethod"), what=f"cfg of backup {name}")),
        newly_uploaded_size=fields.decimal("NewlyUploadedDataSize"),
        re_uploaded_size=fields.decimal("ReUploadedDataSize"),
        messages=_doubts(fields.text("Name"), name, created_text, created, now),
    )
    return BackupMetadata(record, int(true_size) if re.fullmatch(r"[0-9]{1,18}", true_size) else 0)


def _doubts(said: str, name: str, created_text: str, created: datetime | None, now: datetime) -> dict[str, str]:
    if said and said != name:
        return {"warning": f"its cfg calls itself {said[:80]!r}"}
    if created_text and created is None:
        return {"warning": f"its cfg tells no time of creation that can be understood: {created_text[:40]!r}"}
    if created is not None and created.year > now.year + 1:
        return {"warning": f"its cfg says that it was created in the future ({created_text[:40]})"}
    return {}


def volume_metadata(cfg: VolumeCfg) -> StoredVolumeRecord:
    """What `volume.cfg` says, as a record."""
    return StoredVolumeRecord(
        size=cfg.size,
        labels=cfg.labels,
        created_at=parse_time(cfg.created_time),
        last_backup_name=cfg.last_backup_name,
        last_backup_at=parse_time(cfg.last_backup_at),
        # Always by 2 MiB, also for volumes with larger blocks: that is what Longhorn tells.
        data_stored=cfg.block_count * _BLOCK_BYTES,
        backing_image_name=cfg.backing_image_name,
        backing_image_checksum=cfg.backing_image_checksum,
        storage_class_name=cfg.storage_class_name,
        data_engine=cfg.data_engine,
        compression=str(cfg.compression),
    )

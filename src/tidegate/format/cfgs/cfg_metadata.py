"""What a backup cfg says besides its blocks, read from its first bytes: the block map may be tens of megabytes.

Longhorn and we write everything that matters before `Blocks`. Where somebody wrote it in another order, the last bytes
are needed too. Both ends together are never more than a megabyte, whatever the size of the file.
"""

import json
import re
from dataclasses import dataclass
from datetime import datetime

from tidegate.errors import DamagedMetadata
from tidegate.format.cfgs.backup_cfg import BackupCfg
from tidegate.format.cfgs.go_json import Fields, Pairs, encode_json
from tidegate.format.cfgs.paths import LONGEST_NAME
from tidegate.format.cfgs.times import parse_time
from tidegate.format.cfgs.volume_cfg import VolumeCfg
from tidegate.format.trees.packed_tree import shown_size
from tidegate.model.stores.catalogue import BackupState, StoredBackupRecord, StoredVolumeRecord

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
    return cfg_metadata(BackupCfg.decode(body, what=f"cfg of backup {name}"), name=name, now=now)


def head_metadata(head: CfgHead, *, name: str, now: datetime) -> BackupMetadata:
    """From the fields of a cfg whose blocks were not read. Raises DamagedMetadata for what cannot be understood."""
    known = encode_json({key: _plain(value) for key, value in head.fields.pairs if key.casefold() != "blocks"})
    cfg = BackupCfg.decode(known, what=f"cfg of backup {name}")
    return cfg_metadata(cfg, name=name, now=now, size=head.fields.decimal("Size"))


def _plain(value: object) -> object:
    """The value with at most one level below it; what goes deeper is none that a cfg may have."""
    if isinstance(value, Pairs):
        return {key: entry if isinstance(entry, str | None) else 0 for key, entry in value}
    return value if isinstance(value, str | bool | int | None) else 0


def cfg_metadata(cfg: BackupCfg, *, name: str, now: datetime, size: int | None = None) -> BackupMetadata:
    """What matters of a cfg under this name; `size` where its blocks are not at hand."""
    if sum(len(key) + len(value) for key, value in cfg.labels.items()) > _MOST_LABELS_BYTES:
        raise DamagedMetadata(f"cfg of backup {name} has more than {_MOST_LABELS_BYTES} bytes of labels")
    created = parse_time(cfg.created_time)
    record = StoredBackupRecord(
        name=name,
        state=BackupState.IN_PROGRESS if cfg.in_progress else BackupState.COMPLETED,
        snapshot_name=cfg.snapshot_name[:LONGEST_NAME],
        snapshot_created_at=parse_time(cfg.snapshot_created_at),
        created_at=created,
        size=len(cfg.blocks) * cfg.block_size if size is None else size,
        data_size=None if cfg.true_size is None else shown_size(cfg.parameters, image_size=cfg.true_size),
        labels=cfg.labels,
        parameters={key: cfg.parameters[key][:LONGEST_NAME] for key in _KEPT_PARAMETERS if cfg.parameters.get(key)},
        is_incremental=cfg.is_incremental,
        compression=str(cfg.compression),
        newly_uploaded_size=cfg.newly_uploaded_size,
        re_uploaded_size=cfg.re_uploaded_size,
        messages=_doubts(cfg.name, name, cfg.created_time, created, now),
    )
    return BackupMetadata(record, cfg.true_size or 0)


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

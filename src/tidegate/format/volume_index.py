"""`backups/tidegate-index.json.gz`: what all cfgs of a volume say, in one object, so that a sync need not read them.

Longhorn looks only at `backup_<name>.cfg` in that directory, passes over this file, and removes it together with the
volume. It proves nothing by itself: an entry counts only while the listing shows its cfg with the mark that the entry
was made for. So an index that is old, half, foreign or invented can hide nothing and hold up nothing; at worst it is
of no use.
"""

import json
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from tidegate.errors import DamagedMetadata
from tidegate.format.cfg_metadata import BackupMetadata
from tidegate.format.paths import backups_dir, is_name
from tidegate.model.catalogue import BackupState, StoredBackupRecord

INDEX_NAME = "tidegate-index.json.gz"
# One more object, and one more request, for so many cfgs that need not be read.
INDEX_WORTH = 3
LARGEST_INDEX = 64 * 1024 * 1024
# As JSON; what is written is compressed, about ten to one.
_LARGEST_TEXT = 256 * 1024 * 1024
# We write characters as they are; the escape of half a one, which no database takes, is somebody else's.
_HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
_VERSION = 1
# So that zcat shows it.
_GZIP = 31
_TEXT_MAPS = ("labels", "parameters", "messages")


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What the cfg with this mark says."""

    mark: int
    metadata: BackupMetadata


def index_key(volume: str) -> str:
    """Where the index of a volume is."""
    return f"{backups_dir(volume)}/{INDEX_NAME}"


def encode_index(volume: str, entries: Mapping[str, IndexEntry]) -> bytes:
    """Only finished backups are worth an entry: others will change."""
    document = {
        "version": _VERSION,
        "volume": volume,
        "backups": [_encode(entry) for _, entry in sorted(entries.items()) if _worthy(entry)],
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    return packer.compress(text) + packer.flush()


def decode_index(body: bytes, *, volume: str) -> dict[str, IndexEntry]:
    """Entries by name; raises DamagedMetadata for anything that is not an index of this volume."""
    what = f"index of volume {volume}"
    try:
        unpacker = zlib.decompressobj(_GZIP)
        text = unpacker.decompress(body, _LARGEST_TEXT)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise DamagedMetadata(f"{what} is cut or larger than {_LARGEST_TEXT} bytes")
        if _HALF_CHARACTER.search(text):
            raise DamagedMetadata(f"{what} has what is half a character")
        document = json.loads(text)
        if document["version"] != _VERSION or document["volume"] != volume:
            raise DamagedMetadata(f"{what} is of another volume or version")
        entries = [_decode(entry) for entry in document["backups"]]
    except (zlib.error, ValueError, RecursionError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise DamagedMetadata(f"{what} cannot be understood: {type(error).__name__}") from error
    return {entry.metadata.record.name: entry for entry in entries}


def proven(entries: Mapping[str, IndexEntry], listed: Mapping[str, int]) -> dict[str, IndexEntry]:
    """The entries that the listing bears out."""
    return {name: entry for name, entry in entries.items() if listed.get(name) == entry.mark}


def _worthy(entry: IndexEntry) -> bool:
    return entry.metadata.record.state is BackupState.COMPLETED


def _encode(entry: IndexEntry) -> dict[str, object]:
    record = entry.metadata.record
    return {
        "mark": str(entry.mark),
        "volumeSize": entry.metadata.volume_size,
        "name": record.name,
        "snapshot": record.snapshot_name,
        "snapshotCreated": _seconds(record.snapshot_created_at),
        "created": _seconds(record.created_at),
        "size": record.size,
        "new": record.newly_uploaded_size,
        "repeated": record.re_uploaded_size,
        "incremental": record.is_incremental,
        "compression": record.compression,
        **{name: dict(getattr(record, name)) for name in _TEXT_MAPS if getattr(record, name)},
    }


def _decode(entry: Mapping[str, object]) -> IndexEntry:
    numbers = [entry["size"], entry["new"], entry["repeated"], entry["volumeSize"]]
    texts = [entry["name"], entry["snapshot"], entry["compression"], entry["mark"]]
    if not _all(numbers, int) or not _all(texts, str) or not is_name(str(entry["name"])):
        raise TypeError
    if any(isinstance(number, int) and not 0 <= number < 1 << 63 for number in numbers):
        raise ValueError
    maps = {name: _text_map(entry.get(name, {})) for name in _TEXT_MAPS}
    record = StoredBackupRecord(
        name=str(texts[0]),
        snapshot_name=str(texts[1]),
        snapshot_created_at=_moment(entry["snapshotCreated"]),
        created_at=_moment(entry["created"]),
        size=int(str(numbers[0])),
        newly_uploaded_size=int(str(numbers[1])),
        re_uploaded_size=int(str(numbers[2])),
        is_incremental=entry["incremental"] is True,
        compression=str(texts[2])[:20],
        labels=maps["labels"],
        parameters=maps["parameters"],
        messages=maps["messages"],
    )
    return IndexEntry(int(str(texts[3])), BackupMetadata(record, int(str(numbers[3]))))


def _all(values: Iterable[object], kind: type) -> bool:
    return all(type(value) is kind for value in values)


def _text_map(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not _all(value.values(), str):
        raise TypeError
    return value


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def _moment(value: object) -> datetime | None:
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < 253_402_300_800:  # noqa: PLR2004  # the year 9999
        raise TypeError
    return datetime.fromtimestamp(value, UTC)

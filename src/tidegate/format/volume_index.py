"""`backups/tidegate-index.json.gz`: what all cfgs of a volume say, in one object, so that a sync need not read them.

Longhorn looks only at `backup_<name>.cfg` in that directory, passes over this file, and removes it together with the
volume. It proves nothing by itself: an entry counts only while the listing shows its cfg with the mark that the entry
was made for. So an index that is old, half, foreign or invented can hide nothing and hold up nothing; at worst it is
of no use.
"""

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

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
_VERSION = 2
# So that zcat shows it.
_GZIP = 31
_LARGEST_NUMBER = (1 << 63) - 1
_TEXTS = ("name", "snapshot", "compression")
_SIZES = ("size", "new", "repeated", "volumeSize")
_MAPS = ("labels", "parameters", "messages")
_COLUMNS = (*_TEXTS, *_SIZES, "created", "snapshotCreated", *_MAPS, "mark", "incremental")


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
    worthy = [entry for _, entry in sorted(entries.items()) if _worthy(entry)]
    maps = _SharedMaps()
    rows = [_encode(entry, maps) for entry in worthy]
    document = {
        "version": _VERSION,
        "volume": volume,
        "maps": maps.all,
        **{column: [row[number] for row in rows] for number, column in enumerate(_COLUMNS)},
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    return packer.compress(text) + packer.flush()


def decode_index(body: bytes, *, volume: str) -> dict[str, IndexEntry]:
    """Entries by name; raises DamagedMetadata for anything that is not an index of this volume.

    Backups with equal labels get the very same mapping, so that whoever stores them need look at it only once.
    """
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
        entries = list(_decode(document))
    except (zlib.error, ValueError, RecursionError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise DamagedMetadata(f"{what} cannot be understood: {type(error).__name__}") from error
    return {entry.metadata.record.name: entry for entry in entries}


def proven(entries: Mapping[str, IndexEntry], listed: Mapping[str, int]) -> dict[str, IndexEntry]:
    """The entries that the listing bears out."""
    return {name: entry for name, entry in entries.items() if listed.get(name) == entry.mark}


def _worthy(entry: IndexEntry) -> bool:
    return entry.metadata.record.state is BackupState.COMPLETED


class _SharedMaps:
    """Labels and parameters, which most backups of a volume have in common: each is written once."""

    def __init__(self) -> None:
        self.all: list[dict[str, str]] = []
        self._numbers: dict[frozenset[tuple[str, str]], int] = {}

    def number(self, entries: Mapping[str, str]) -> int:
        known = frozenset(entries.items())
        if known not in self._numbers:
            self._numbers[known] = len(self.all)
            self.all.append(dict(entries))
        return self._numbers[known]


def _encode(entry: IndexEntry, maps: _SharedMaps) -> tuple[object, ...]:
    """In the order of _COLUMNS."""
    record = entry.metadata.record
    return (
        record.name,
        record.snapshot_name,
        record.compression,
        record.size,
        record.newly_uploaded_size,
        record.re_uploaded_size,
        entry.metadata.volume_size,
        _seconds(record.created_at),
        _seconds(record.snapshot_created_at),
        maps.number(record.labels),
        maps.number(record.parameters),
        maps.number(record.messages),
        entry.mark,
        record.is_incremental,
    )


def _decode(document: Mapping[str, list[Any]]) -> Iterator[IndexEntry]:
    """Whole columns are looked at at once: a store has a million of these, and each look costs."""
    maps = document["maps"]
    for shared in maps:
        _check(shared.values(), str)
    _check((name for shared in maps for name in shared), str)
    for column in _TEXTS:
        _check(document[column], str)
    for column in _SIZES:
        _check(document[column], int, least=0, most=_LARGEST_NUMBER)
    for column in _MAPS:
        _check(document[column], int, least=0, most=len(maps) - 1)
    _check(document["mark"], int, least=-_LARGEST_NUMBER - 1, most=_LARGEST_NUMBER)
    _check(document["incremental"], bool)
    if not all(map(is_name, document["name"])):
        raise ValueError
    for row in zip(*(document[column] for column in _COLUMNS), strict=True):
        name, snapshot, compression, size, new, repeated, volume_size, created, taken, *rest = row
        labels, parameters, messages, mark, incremental = rest
        record = StoredBackupRecord(
            name=name,
            snapshot_name=snapshot,
            snapshot_created_at=_moment(taken),
            created_at=_moment(created),
            size=size,
            newly_uploaded_size=new,
            re_uploaded_size=repeated,
            is_incremental=incremental,
            compression=compression[:20],
            labels=maps[labels],
            parameters=maps[parameters],
            messages=maps[messages],
        )
        yield IndexEntry(mark, BackupMetadata(record, volume_size))


def _check(values: Iterable[Any], kind: type, *, least: int = 0, most: int = 0) -> None:
    """All of this very kind (True is no number), and numbers within their bounds."""
    known = list(values)
    if not known:
        return
    if set(map(type, known)) != {kind}:
        raise TypeError
    if kind is int and not least <= min(known) <= max(known) <= most:
        raise ValueError


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def _moment(value: object) -> datetime | None:
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < 253_402_300_800:  # noqa: PLR2004  # the year 9999
        raise TypeError
    return datetime.fromtimestamp(value, UTC)

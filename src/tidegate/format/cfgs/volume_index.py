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
from typing import Any, NamedTuple

from tidegate.errors import DamagedMetadata
from tidegate.format.cfgs.cfg_metadata import BackupMetadata
from tidegate.format.cfgs.paths import backups_dir, is_name
from tidegate.format.cfgs.times import LATEST_SECONDS, to_seconds
from tidegate.model.stores.catalogue import BackupState

INDEX_NAME = "tidegate-index.json.gz"
# One more object, and one more request, for so many cfgs that need not be read.
INDEX_WORTH = 3
LARGEST_INDEX = 64 * 1024 * 1024
# As JSON; what is written is compressed, about ten to one.
_LARGEST_TEXT = 256 * 1024 * 1024
# We write characters as they are; the escape of half a one, which no database takes, is somebody else's.
_HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
_VERSION = 3
# So that zcat shows it.
_GZIP = 31
_LARGEST_NUMBER = (1 << 63) - 1
_LONGEST_COMPRESSION = 20
_TEXTS = ("name", "snapshot", "compression")
_SIZES = ("size", "new", "repeated", "volumeSize")
_MAPS = ("labels", "parameters", "messages")
_DATA_SIZE = "dataSize"
_TIMES = ("created", "snapshotCreated")
_COLUMNS = (*_TEXTS, *_SIZES, _DATA_SIZE, *_TIMES, *_MAPS, "mark", "incremental")


class IndexEntry(NamedTuple):
    """What the cfg with this mark says, in the order of the columns and in their numbers: times are seconds.

    A tuple, because a first sync meets a million of them, and each field that is made by hand costs it a second.
    """

    name: str
    snapshot_name: str
    compression: str
    size: int
    newly_uploaded_size: int
    re_uploaded_size: int
    volume_size: int
    data_size: int | None
    created: int | None
    snapshot_created: int | None
    labels: Mapping[str, str]
    parameters: Mapping[str, str]
    messages: Mapping[str, str]
    mark: int
    is_incremental: bool


def index_entry(metadata: BackupMetadata, mark: int) -> IndexEntry | None:
    """None for what is not finished: it will change."""
    record = metadata.record
    if record.state is not BackupState.COMPLETED:
        return None
    return IndexEntry(
        record.name,
        record.snapshot_name,
        record.compression,
        record.size,
        record.newly_uploaded_size,
        record.re_uploaded_size,
        metadata.volume_size,
        record.data_size,
        to_seconds(record.created_at),
        to_seconds(record.snapshot_created_at),
        record.labels,
        record.parameters,
        record.messages,
        mark,
        record.is_incremental,
    )


def index_key(volume: str) -> str:
    """Where the index of a volume is."""
    return f"{backups_dir(volume)}/{INDEX_NAME}"


def encode_index(volume: str, entries: Mapping[str, IndexEntry]) -> bytes:
    """The object's bytes; the same entries give the same bytes."""
    rows, maps = [entry for _, entry in sorted(entries.items())], _SharedMaps()
    columns: dict[str, list[Any]] = {name: [row[place] for row in rows] for place, name in enumerate(_COLUMNS)}
    for column in _MAPS:
        columns[column] = [maps.number(shared) for shared in columns[column]]
    document = {"version": _VERSION, "volume": volume, "maps": maps.all, **columns}
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
        # Decoded here: given bytes, `json` lets halves of characters through.
        document = json.loads(str(text, "utf-8"))
        if document["version"] != _VERSION or document["volume"] != volume:
            raise DamagedMetadata(f"{what} is of another volume or version")
        entries = list(_decode(document))
    except (zlib.error, ValueError, RecursionError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise DamagedMetadata(f"{what} cannot be understood: {type(error).__name__}") from error
    return {entry.name: entry for entry in entries}


def proven(entries: Mapping[str, IndexEntry], listed: Mapping[str, int]) -> dict[str, IndexEntry]:
    """The entries that the listing bears out."""
    return {name: entry for name, entry in entries.items() if listed.get(name) == entry.mark}


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
    _check((size for size in document[_DATA_SIZE] if size is not None), int, least=0, most=_LARGEST_NUMBER)
    for column in _MAPS:
        _check(document[column], int, least=0, most=len(maps) - 1)
    _check(document["mark"], int, least=-_LARGEST_NUMBER - 1, most=_LARGEST_NUMBER)
    _check(document["incremental"], bool)
    if not all(map(is_name, document["name"])):
        raise ValueError
    for column in _TIMES:
        _check((moment for moment in document[column] if moment is not None), int, least=0, most=LATEST_SECONDS)
    columns = {column: document[column] for column in _COLUMNS}
    columns["compression"] = [text[:_LONGEST_COMPRESSION] for text in columns["compression"]]
    for column in _MAPS:
        columns[column] = [maps[number] for number in columns[column]]
    return map(IndexEntry._make, zip(*columns.values(), strict=True))


def _check(values: Iterable[Any], kind: type, *, least: int = 0, most: int = 0) -> None:
    """All of this very kind (True is no number), and numbers within their bounds."""
    known = list(values)
    if not known:
        return
    if set(map(type, known)) != {kind}:
        raise TypeError
    if kind is int and not least <= min(known) <= max(known) <= most:
        raise ValueError

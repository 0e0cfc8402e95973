"""The archive of a system backup: definitions as text in a zip, in Longhorn's shape.

    <name>/metadata.yaml
    <name>/yamls/tidegate/<kinds>.yaml           one file for each kind
    <name>/yamls/tidegate/volumebackups.yaml     which volume backup belongs to which volume

The texts are JSON, which is YAML too and has no aliases that could grow without end. Equal contents give equal bytes:
order, times and rights in the zip are fixed and nothing is compressed, since compressors differ. What comes back from
a store is hostile: sizes are bounded before anything is unpacked, and only the kinds that belong here are read.
"""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import ValidationError

from tidegate.errors import DamagedMetadata
from tidegate.model.frozen import Model
from tidegate.model.names import check_namespace
from tidegate.model.resource import Resource
from tidegate.model.system_archive import (
    ARCHIVE_FORMAT,
    DEFINITIONS,
    ArchivedVolumeBackup,
    ArchiveMetadata,
    SystemArchive,
    definition_of,
)

LARGEST_ARCHIVE = 64 * 1024 * 1024
_METADATA = "metadata.yaml"
_VOLUME_BACKUPS = "volumebackups"
_ALWAYS_THE_SAME_TIME = (1980, 1, 1, 0, 0, 0)
_READABLE_BY_OWNER = 0o100600 << 16

M = TypeVar("M", bound=Model)


def encode_archive(archive: SystemArchive) -> bytes:
    """The bytes of the zip."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_STORED) as packed:
        for path, text in sorted(_texts(archive).items()):
            entry = zipfile.ZipInfo(f"{archive.name}/{path}", _ALWAYS_THE_SAME_TIME)
            entry.external_attr = _READABLE_BY_OWNER
            entry.create_system = 3  # Unix, wherever it is made
            packed.writestr(entry, text)
    return body.getvalue()


def _texts(archive: SystemArchive) -> dict[str, str]:
    texts = {_METADATA: _text(archive.metadata.to_wire())}
    for kind in DEFINITIONS:
        of_kind = [one for one in archive.definitions if isinstance(one, kind)]
        ordered = sorted(of_kind, key=lambda one: (one.namespace, one.name))
        texts[_path(kind.plural)] = _text([definition_of(one) for one in ordered])
    rows = sorted(archive.volume_backups, key=lambda row: row.volume)
    texts[_path(_VOLUME_BACKUPS)] = _text([row.to_wire() for row in rows])
    return texts


def decode_archive(body: bytes, name: str) -> SystemArchive:
    """What the bytes hold; raises DamagedMetadata with a sentence that names the part."""
    texts = _unpacked(body, name)
    metadata = _read(ArchiveMetadata, _json(texts, _METADATA), _METADATA)
    if metadata.format > ARCHIVE_FORMAT:
        raise DamagedMetadata(
            f"system backup {name} was written by version {metadata.version}, whose archives this one cannot read",
            hint="restore it with that version or a newer one",
        )
    definitions = tuple(_definition(kind, wire) for kind in DEFINITIONS for wire in _list(texts, _path(kind.plural)))
    rows = _list(texts, _path(_VOLUME_BACKUPS))
    found = tuple(_read(ArchivedVolumeBackup, row, _VOLUME_BACKUPS) for row in rows)
    return SystemArchive(name, metadata, definitions, found)


def maker_of(body: bytes, name: str) -> str | None:
    """The uid of the system backup that wrote these bytes; None if they do not say."""
    try:
        metadata = _read(ArchiveMetadata, _json(_unpacked(body, name), _METADATA), _METADATA)
    except DamagedMetadata:
        return None
    return metadata.system_backup_uid


def _path(plural: str) -> str:
    return f"yamls/tidegate/{plural}.yaml"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def _unpacked(body: bytes, name: str) -> Mapping[str, bytes]:
    """The texts by their paths. Sizes are bounded as declared, and no more than declared is ever unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.startswith(f"{name}/")]
            if sum(entry.file_size for entry in entries) > LARGEST_ARCHIVE:
                raise DamagedMetadata(f"the archive of system backup {name} is too large")
            return {entry.filename.removeprefix(f"{name}/"): archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError, EOFError) as error:
        raise DamagedMetadata(f"the archive of system backup {name} cannot be unpacked: {error}") from error


def _json(texts: Mapping[str, bytes], path: str) -> object:
    if path not in texts:
        raise DamagedMetadata(
            f"the archive has no {path}", hint="was it written by Longhorn? Only Longhorn restores it"
        )
    try:
        return json.loads(str(texts[path], "utf-8"))
    except (ValueError, RecursionError) as error:
        raise DamagedMetadata(f"{path} in the archive cannot be understood: {error}") from error


def _list(texts: Mapping[str, bytes], path: str) -> Sequence[object]:
    found = _json(texts, path)
    if not isinstance(found, list):
        raise DamagedMetadata(f"{path} in the archive does not hold a list")
    return found


def _definition(kind: type[Resource], wire: object) -> Resource:
    resource = _read(kind, wire, kind.plural)
    if kind.namespaced:
        try:
            check_namespace(resource.namespace)
        except ValueError as error:
            raise DamagedMetadata(f"{kind.plural} in the archive: {error}") from error
    # A status of its own, finalizers or owners would be somebody else's word about this server.
    return kind.model_validate(definition_of(resource))


def _read(model: type[M], wire: object, what: str) -> M:
    try:
        return model.model_validate(wire)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DamagedMetadata(f"{what} in the archive cannot be understood: {place}: {first['msg']}") from error

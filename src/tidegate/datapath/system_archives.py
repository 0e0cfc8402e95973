"""System backups in a store: finding, writing, reading and removing their archives."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from tidegate.datapath.leftovers import clear_old_halves
from tidegate.errors import AlreadyExists, DamagedMetadata, NotFound, TidegateError
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.blocks.encryption_mark import check_mark, mark_of
from tidegate.format.cfgs.sealed_archive import LARGEST_STORED_ARCHIVE, is_sealed, open_archive, seal_archive
from tidegate.format.cfgs.system_archive import decode_archive, maker_of
from tidegate.format.cfgs.system_backup_cfg import (
    LARGEST_SYSTEM_CFG,
    SYSTEM_BACKUPS,
    ArchivePlace,
    SystemBackupCfg,
    place_of_cfg,
)
from tidegate.model.stores.store_url import as_longhorn_writes_it
from tidegate.model.system_archive import SystemArchive
from tidegate.ports.object_store import ObjectStore
from tidegate.ports.system_archives import StoredArchive


def list_system_backups(objects: ObjectStore) -> list[ArchivePlace]:
    """Every finished system backup, by name, from one listing; what is not named as it should be is passed over.

    Of a name under several versions only the newest version is told: the name is the identity.
    """
    places = sorted(place for info in objects.list_all(SYSTEM_BACKUPS) if (place := place_of_cfg(info.key)))
    return list({place.name: place for place in places}.values())


def read_stored(objects: ObjectStore, place: ArchivePlace) -> StoredArchive:
    """What the cfg says. Raises NotFound only if the store says so, DamagedMetadata if it cannot be understood."""
    cfg = _read_cfg(objects, place)
    size = objects.head(place.zip_key).size
    return StoredArchive(place, cfg.checksum, size, cfg.created_at, cfg.target_url, cfg.encryption)


def write_archive(
    objects: ObjectStore, place: ArchivePlace, archive: "Written", *, key: EncryptionKey | None = None
) -> StoredArchive:
    """Archive first, cfg second; nothing that exists is ever replaced, so doing it again after a crash is harmless.

    An archive of the same maker that is there already counts, whatever has changed since: what is in the store is what
    the cfg must speak of. Raises AlreadyExists if the name is somebody else's. With a key it is sealed. What writers
    that died left half written is cleared away.
    """
    for other in list_system_backups(objects):
        if other.name == place.name and other != place:
            raise _taken(other)
    body = archive.body if key is None else seal_archive(archive.body, place, key)
    if not objects.put_if_absent(place.zip_key, body):
        body = objects.get(place.zip_key, at_most=LARGEST_STORED_ARCHIVE)
        if _maker(body, place, key) != archive.maker:
            raise _taken(place)
    cfg = SystemBackupCfg(
        name=place.name,
        version=place.version,
        target_url=as_longhorn_writes_it(archive.target_url),
        checksum=sha256(body).hexdigest(),
        created_at=archive.created_at,
        encryption=mark_of(key) if key is not None and is_sealed(body) else "",
    )
    if not objects.put_if_absent(place.cfg_key, cfg.encode()) and _read_cfg(objects, place).checksum != cfg.checksum:
        raise _taken(place)
    with suppress(TidegateError):  # the next one will do it; this one is written
        clear_old_halves(objects, SYSTEM_BACKUPS, now=objects.head(place.cfg_key).modified_at)
    return StoredArchive(place, cfg.checksum, len(body), cfg.created_at, cfg.target_url, cfg.encryption)


@dataclass(frozen=True)
class Written:
    """An archive to be written, and whose it is."""

    body: bytes
    maker: str
    """The uid of its SystemBackup."""
    target_url: str
    created_at: datetime


def read_archive(objects: ObjectStore, place: ArchivePlace, *, key: EncryptionKey | None = None) -> SystemArchive:
    """The archive, compared with its checksum. Raises as `read_stored`, and DamagedMetadata if it was changed.

    Raises WrongKey, before the archive is read, if it is sealed and this is not its key. One that was written without
    a key needs none.
    """
    cfg = _read_cfg(objects, place)
    if cfg.encryption:
        check_mark(cfg.encryption, key, what=f"system backup {place.name}")
    try:
        body = objects.get(place.zip_key, at_most=LARGEST_STORED_ARCHIVE)
    except NotFound as error:
        raise DamagedMetadata(f"the archive of system backup {place.name} is missing beside its cfg") from error
    if sha256(body).hexdigest() != cfg.checksum:
        raise DamagedMetadata(f"the archive of system backup {place.name} is not what its checksum says")
    if cfg.encryption and key is not None:
        body = open_archive(body, place, key)
    return decode_archive(body, place.name)


def remove_archive(
    objects: ObjectStore, place: ArchivePlace, *, only_of: str | None = None, key: EncryptionKey | None = None
) -> None:
    """The cfg first, so that nobody finds half a system backup. With `only_of`, nothing of another maker is touched.

    Only to learn who made a sealed one, a key is needed. Objects are named
    whole: one whose name only begins the same is never concerned.
    """
    if only_of is not None:
        try:
            body = objects.get(place.zip_key, at_most=LARGEST_STORED_ARCHIVE)
        except NotFound:
            return
        if _maker(body, place, key) != only_of:
            return
    objects.delete(place.cfg_key)
    objects.delete(place.zip_key)


def _maker(body: bytes, place: ArchivePlace, key: EncryptionKey | None) -> str | None:
    """The uid of whoever wrote these bytes; None if they do not say, or not to the holder of this key."""
    if is_sealed(body):
        if key is None:
            return None
        try:
            body = open_archive(body, place, key)
        except DamagedMetadata:
            return None
    return maker_of(body, place.name)


def _read_cfg(objects: ObjectStore, place: ArchivePlace) -> SystemBackupCfg:
    try:
        body = objects.get(place.cfg_key, at_most=LARGEST_SYSTEM_CFG)
    except NotFound as error:
        raise NotFound(f"there is no system backup {place.name} of version {place.version} in the store") from error
    return SystemBackupCfg.decode(body, place)


def _taken(place: ArchivePlace) -> AlreadyExists:
    return AlreadyExists(
        f"the store already has a system backup {place.name} (version {place.version})", hint="choose another name"
    )

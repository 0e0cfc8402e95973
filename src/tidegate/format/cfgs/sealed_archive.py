"""The archive of a system backup in an encrypted store: the whole zip, sealed (docs/decisions/0027).

TGE1 | nonce, 12 bytes | AES-256-GCM of the zip, bound to its place in the store | tag, 16 bytes
"""

from tidegate.errors import DamagedMetadata
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.blocks.sealed_blocks import MAGIC, OVERHEAD_BYTES, Sealer
from tidegate.format.cfgs.system_archive import LARGEST_ARCHIVE
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace

# Of the object in the store, sealed or not.
LARGEST_STORED_ARCHIVE = LARGEST_ARCHIVE + OVERHEAD_BYTES


def is_sealed(body: bytes) -> bool:
    """Whether these bytes are a sealed archive: no zip begins so."""
    return body.startswith(MAGIC)


def seal_archive(body: bytes, place: ArchivePlace, key: EncryptionKey) -> bytes:
    """The zip as it is stored: always the same for the same zip, so that writing it again is harmless."""
    return MAGIC + _sealer(place, key).seal(body, bound_to=place.directory.encode())


def open_archive(body: bytes, place: ArchivePlace, key: EncryptionKey) -> bytes:
    """The zip; raises DamagedMetadata unless it was sealed with this key, for this place, and not changed since."""
    try:
        return _sealer(place, key).open(body.removeprefix(MAGIC), bound_to=place.directory.encode())
    except ValueError as error:
        raise DamagedMetadata(f"the archive of system backup {place.name} cannot be opened: {error}") from error


def _sealer(place: ArchivePlace, key: EncryptionKey) -> Sealer:
    return Sealer(key, purpose="system-backup", volume=place.name)

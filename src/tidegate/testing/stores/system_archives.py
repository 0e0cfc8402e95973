"""System backups in a store of memory: the real data path, without threads, so that a manual clock rules."""

from dataclasses import dataclass

from tidegate.datapath.system_archives import (
    Written,
    list_system_backups,
    read_archive,
    read_stored,
    remove_archive,
    write_archive,
)
from tidegate.errors import StoreUnavailable
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.cfgs.system_archive import encode_archive
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace
from tidegate.model.system_archive import SystemArchive
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.ports.object_store import ObjectStore
from tidegate.ports.system_archives import StoredArchive


@dataclass
class MemoryArchives:
    """Keeps the promise of SystemArchives for one store, which a test can take away."""

    objects: ObjectStore
    away: bool = False
    trouble: StoreUnavailable | None = None
    """What whoever asks is answered, if anything."""
    key: EncryptionKey | None = None
    """Of the store."""
    listed: int = 0
    """How often the store was listed."""

    async def found(self, access: TargetAccess) -> list[ArchivePlace]:
        """See SystemArchives."""
        self.listed += 1
        return list_system_backups(self._reached(access))

    async def look(self, access: TargetAccess, place: ArchivePlace) -> StoredArchive:
        """See SystemArchives."""
        return read_stored(self._reached(access), place)

    async def write(self, access: TargetAccess, version: str, archive: SystemArchive) -> StoredArchive:
        """See SystemArchives."""
        metadata = archive.metadata
        written = Written(encode_archive(archive), metadata.system_backup_uid, access.url, metadata.created_at)
        return write_archive(self._reached(access), ArchivePlace(archive.name, version), written, key=self.key)

    async def read(self, access: TargetAccess, place: ArchivePlace) -> SystemArchive:
        """See SystemArchives."""
        return read_archive(self._reached(access), place, key=self.key)

    async def remove(self, access: TargetAccess, place: ArchivePlace, *, only_of: str | None = None) -> None:
        """See SystemArchives."""
        remove_archive(self._reached(access), place, only_of=only_of, key=self.key)

    def _reached(self, access: TargetAccess) -> ObjectStore:
        if self.trouble is not None:
            raise self.trouble
        if self.away:
            raise StoreUnavailable(f"{access.url} does not answer")
        return self.objects

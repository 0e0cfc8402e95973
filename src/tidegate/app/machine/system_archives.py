"""System backups in real stores: in threads, with a limit of time."""

from collections.abc import Callable
from typing import TypeVar

from tidegate.app.machine.encryption_key import key_for
from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.datapath.system_archives import (
    Written,
    list_system_backups,
    read_archive,
    read_stored,
    remove_archive,
    write_archive,
)
from tidegate.format.cfgs.system_archive import encode_archive
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace
from tidegate.model.system_archive import SystemArchive
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.backoff import HURRIED
from tidegate.objects.open import open_store
from tidegate.ports.object_store import ObjectStore
from tidegate.ports.system_archives import StoredArchive

T = TypeVar("T")


class StoreArchives:
    """Keeps the promise of SystemArchives. A store that hangs is looked at by one thread only, as for targets."""

    def __init__(self, store_probe: ThreadedStoreProbe) -> None:
        self._store_probe = store_probe

    async def found(self, access: TargetAccess) -> list[ArchivePlace]:
        """List them."""
        return await self._with_store(access, list_system_backups)

    async def look(self, access: TargetAccess, place: ArchivePlace) -> StoredArchive:
        """Read the cfg."""
        return await self._with_store(access, lambda objects: read_stored(objects, place))

    async def write(self, access: TargetAccess, version: str, archive: SystemArchive) -> StoredArchive:
        """Write both objects."""
        place = ArchivePlace(archive.name, version)
        metadata = archive.metadata
        written = Written(encode_archive(archive), metadata.system_backup_uid, access.url, metadata.created_at)
        return await self._with_store(
            access, lambda objects: write_archive(objects, place, written, key=key_for(access))
        )

    async def read(self, access: TargetAccess, place: ArchivePlace) -> SystemArchive:
        """Read both objects."""
        return await self._with_store(access, lambda objects: read_archive(objects, place, key=key_for(access)))

    async def remove(self, access: TargetAccess, place: ArchivePlace, *, only_of: str | None = None) -> None:
        """Remove both objects."""

        def work(objects: ObjectStore) -> None:
            key = key_for(access) if only_of is not None else None  # nobody is kept from removing by a key that is lost
            remove_archive(objects, place, only_of=only_of, key=key)

        await self._with_store(access, work)

    async def _with_store(self, access: TargetAccess, work: Callable[[ObjectStore], T]) -> T:
        return await self._store_probe.ask(access, lambda: work(open_store(access, patience=HURRIED)))

"""System backups in real stores, and looks at real volumes: in threads, with a limit of time."""

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from tidegate.app.machine.daemon_threads import in_daemon_thread
from tidegate.app.machine.encryption_key import key_for
from tidegate.app.machine.surroundings import LocalSurroundings
from tidegate.datapath.system_archives import (
    Written,
    list_system_backups,
    read_archive,
    read_stored,
    remove_archive,
    write_archive,
)
from tidegate.errors import StoreUnavailable
from tidegate.format.cfgs.system_archive import encode_archive
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace
from tidegate.model.system_archive import SystemArchive
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.model.volumes.volume import VolumeSpec
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.backoff import HURRIED
from tidegate.objects.open import open_store
from tidegate.ports.object_store import ObjectStore
from tidegate.ports.system_archives import StoredArchive

T = TypeVar("T")


class StoreArchives:
    """Keeps the promise of SystemArchives. A store that hangs is looked at by one thread only, as for targets."""

    def __init__(self, surroundings: LocalSurroundings) -> None:
        self._surroundings = surroundings

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

    async def changed_since(self, volume: VolumeSpec, moment: datetime) -> bool:
        """Look at times of change; a device has none."""
        if volume.source_kind is VolumeKind.DEVICE:
            return True
        try:
            look = in_daemon_thread(lambda: newest_change(volume.path) >= moment.timestamp(), name="look at a volume")
            return await self._surroundings.in_time(look, volume.path)
        except (OSError, StoreUnavailable):
            return True

    async def _with_store(self, access: TargetAccess, work: Callable[[ObjectStore], T]) -> T:
        await self._surroundings.check_target(access)
        archiving = in_daemon_thread(lambda: work(open_store(access, patience=HURRIED)), name="look at a store")
        return await self._surroundings.in_time(archiving, access.url)


def newest_change(path: str) -> float:
    """When anything at or below the path was last changed, in seconds; raises OSError if that cannot be told.

    By the time of change that a program cannot set back; of a file that was removed its directory tells.
    """
    newest = Path(path).stat().st_ctime
    if not Path(path).is_dir():
        return newest
    for directory, _, files in os.walk(path, onerror=_raise):
        place = Path(directory)
        newest = max(newest, place.lstat().st_ctime, *((place / name).lstat().st_ctime for name in files), 0.0)
    return newest


def _raise(error: OSError) -> None:
    raise error

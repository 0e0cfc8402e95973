"""Where system backups are kept."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tidegate.errors import StoreUnavailable
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace
from tidegate.model.system_archive import SystemArchive
from tidegate.model.transfers.mover_job import TargetAccess


@dataclass(frozen=True)
class StoredArchive:
    """A finished system backup in a store."""

    place: ArchivePlace
    checksum: str
    size: int
    created_at: datetime | None
    target_url: str
    """The URL that its store had for whoever wrote it."""
    encryption: str = ""
    """Scheme and key, if it is sealed."""


class SystemArchives(Protocol):
    """System backups in stores.

    Every method raises StoreUnavailable when the store did not answer in time or its answer proves nothing, and
    Unauthenticated when it refuses the credentials. Absence is told only when the store says so.
    """

    async def found(self, access: TargetAccess) -> list[ArchivePlace]:
        """Every finished one of the store, by name."""
        ...

    async def look(self, access: TargetAccess, place: ArchivePlace) -> StoredArchive:
        """What is known of one without reading it; raises NotFound or DamagedMetadata."""
        ...

    async def write(self, access: TargetAccess, version: str, archive: SystemArchive) -> StoredArchive:
        """Write it whole; it is there once this returns. Repeating it is harmless, also after a crash in between.

        Raises AlreadyExists if the name is that of another one, which is left alone. With an encryption key among the
        credentials it is sealed.
        """
        ...

    async def read(self, access: TargetAccess, place: ArchivePlace) -> SystemArchive:
        """All of it, checked; raises NotFound or DamagedMetadata, and WrongKey if another key is needed."""
        ...

    async def remove(self, access: TargetAccess, place: ArchivePlace, *, only_of: str | None = None) -> None:
        """Remove it; no error if it is not there. With `only_of`, only what this SystemBackup (its uid) has written."""
        ...


class NoArchives:
    """Holds none and takes none: for whoever has no system backups."""

    async def found(self, access: TargetAccess) -> list[ArchivePlace]:  # noqa: ARG002  # a promise
        """See SystemArchives."""
        return []

    async def look(self, access: TargetAccess, place: ArchivePlace) -> StoredArchive:  # noqa: ARG002  # a promise
        """See SystemArchives."""
        raise _out_of_reach(access)

    async def write(self, access: TargetAccess, version: str, archive: SystemArchive) -> StoredArchive:  # noqa: ARG002  # a promise
        """See SystemArchives."""
        raise _out_of_reach(access)

    async def read(self, access: TargetAccess, place: ArchivePlace) -> SystemArchive:  # noqa: ARG002  # a promise
        """See SystemArchives."""
        raise _out_of_reach(access)

    async def remove(self, access: TargetAccess, place: ArchivePlace, *, only_of: str | None = None) -> None:  # noqa: ARG002  # a promise
        """See SystemArchives."""
        raise _out_of_reach(access)


def _out_of_reach(access: TargetAccess) -> StoreUnavailable:
    return StoreUnavailable(f"{access.url} is out of reach here")

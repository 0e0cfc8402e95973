"""What the catalogue's file is asked and told. Keeps the promise of ports.catalogue."""

import sqlite3
from collections.abc import Collection, Iterable
from datetime import datetime
from pathlib import Path
from typing import Self

from tidegate.catalogue.backup_rows import BACKUP_COLUMNS, backups_of
from tidegate.catalogue.changes import VolumeChange, VolumeMark
from tidegate.catalogue.damage import find_damage
from tidegate.catalogue.facets import find_facets
from tidegate.catalogue.file import CatalogueFile
from tidegate.catalogue.rows import VOLUME_COLUMNS, volume_of
from tidegate.catalogue.schema import OPTIONS, open_catalogue
from tidegate.catalogue.search import count, find_backups, find_newest, find_volumes
from tidegate.catalogue.writer import LONGEST_LOG
from tidegate.disk.sqlite.connection import connect
from tidegate.errors import InvalidInput, NotFound
from tidegate.model.stores.catalogue import (
    CatalogueBackup,
    CatalogueCounts,
    CatalogueFilter,
    CataloguePage,
    CatalogueVolume,
    FullSync,
)
from tidegate.model.stores.catalogue_facets import CatalogueFacets
from tidegate.model.stores.catalogue_status import CatalogueDamage
from tidegate.ports.catalogue import LARGEST_PAGE, MOST_COUNTED, MOST_DAMAGE_NAMED, PAGE


class SqliteCatalogue:
    """All methods may be called from any event loop: work is done in threads of its own."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, *, longest_log: int = LONGEST_LOG, owned: bool = True
    ) -> None:
        self._file = CatalogueFile(path, connection, longest_log=longest_log, owned=owned)

    @classmethod
    def open(cls, path: Path, *, longest_log: int = LONGEST_LOG) -> Self:
        """Made anew if the file is not there or cannot be used: everything in it can be read from the stores again."""
        return cls(path, open_catalogue(path), longest_log=longest_log)

    @classmethod
    def join(cls, path: Path) -> Self:
        """The file that another process has opened, and answers for. Damage raises CatalogueDamaged."""
        return cls(path, connect(path, OPTIONS), owned=False)

    @property
    def renewals(self) -> int:
        """How often the file was made anew because it was damaged or gone. Its content has to be read again."""
        return self._file.renewals

    def look_at_file(self) -> None:
        """Make the file anew if it is gone or another one."""
        self._file.look_at_file()

    def begin_anew(self, reason: str) -> None:
        """Make the file anew because another process met damage in it."""
        self._file.begin_anew(reason)

    def close(self) -> None:
        """Finish what was begun."""
        self._file.close()

    async def volumes(
        self, wanted: CatalogueFilter, *, limit: int = PAGE, marker: str = "", skip: int = 0
    ) -> CataloguePage[CatalogueVolume]:
        """See Catalogue."""
        size = _checked(limit)
        return await self._file.look(
            lambda connection: find_volumes(connection, wanted, limit=size, marker=marker, skip=skip)
        )

    async def volume(self, target: str, name: str) -> CatalogueVolume:
        """See Catalogue."""
        row = await self._file.look(
            lambda connection: connection.execute(
                f"SELECT {VOLUME_COLUMNS} FROM volumes v JOIN targets t ON t.id = v.target_id "
                "WHERE v.hidden = 0 AND t.name = ? AND v.name = ?",
                (target, name),
            ).fetchone()
        )
        if row is None:
            raise NotFound(f"target {target} has no volume {name[:80]!r}, as far as the last sync saw")
        return volume_of(row)

    async def backups(
        self, wanted: CatalogueFilter, *, limit: int = PAGE, marker: str = "", skip: int = 0
    ) -> CataloguePage[CatalogueBackup]:
        """See Catalogue."""
        size = _checked(limit)
        return await self._file.look(
            lambda connection: find_backups(connection, wanted, limit=size, marker=marker, skip=skip)
        )

    async def backup(self, target: str, volume: str, name: str) -> CatalogueBackup:
        """See Catalogue."""
        found = await self._file.look(
            lambda connection: backups_of(
                connection,
                connection.execute(
                    f"SELECT {BACKUP_COLUMNS} FROM backups b JOIN volumes v ON v.id = b.volume_id "
                    "JOIN targets t ON t.id = v.target_id "
                    "WHERE b.hidden = 0 AND t.name = ? AND v.name = ? AND b.name = ?",
                    (target, volume, name),
                ),
            )
        )
        if not found:
            raise NotFound(
                f"volume {volume[:80]!r} of target {target} has no backup {name[:80]!r}, as the last sync saw"
            )
        return found[0][1]

    async def counts(self, wanted: CatalogueFilter, *, most: int = MOST_COUNTED) -> CatalogueCounts:
        """See Catalogue."""
        return await self._file.look(lambda connection: count(connection, wanted, most=most))

    async def damage(self, target: str, *, most: int = MOST_DAMAGE_NAMED) -> CatalogueDamage:
        """See Catalogue."""
        return await self._file.look(lambda connection: find_damage(connection, target, most=most))

    async def facets(self, wanted: CatalogueFilter) -> CatalogueFacets:
        """See Catalogue."""
        return await self._file.look(lambda connection: find_facets(connection, wanted))

    async def newest_backups(self, targets: Collection[str], volumes: Collection[str]) -> dict[str, CatalogueBackup]:
        """See Catalogue."""
        return await self._file.look(lambda connection: find_newest(connection, targets, volumes))

    async def full_syncs(self) -> dict[str, FullSync]:
        """See Catalogue."""
        rows = await self._file.look(
            lambda connection: connection.execute("SELECT target, url, began_at FROM full_syncs").fetchall()
        )
        return {target: FullSync(url, datetime.fromisoformat(began_at)) for target, url, began_at in rows}

    async def note_full_sync(self, target: str, sync: FullSync) -> None:
        """See Catalogue."""
        await self._file.write(lambda writing: writing.note_full_sync(target, sync), durably=True)

    async def forget_full_syncs(self) -> None:
        """No store counts as read any more."""
        await self._file.write(lambda writing: writing.forget_full_syncs(), durably=True)

    async def hide(self, target: str, volume: str, *backups: str) -> None:
        """See Catalogue."""
        await self._file.write(lambda writing: writing.hide(target, volume, backups, hidden=True), durably=True)

    async def unhide(self, target: str, volume: str, *backups: str) -> None:
        """See Catalogue."""
        await self._file.write(lambda writing: writing.hide(target, volume, backups, hidden=False), durably=True)

    async def hidden(self, target: str) -> list[tuple[str, str]]:
        """See Catalogue."""
        return await self._file.look(
            lambda connection: connection.execute(
                "SELECT volume, backup FROM tombstones WHERE target = ?", (target,)
            ).fetchall()
        )

    async def volume_marks(self, target: str, volume: str = "") -> dict[str, VolumeMark]:
        """What is known of each volume, or of this one; hidden ones included."""
        rows = await self._file.look(
            lambda connection: connection.execute(
                "SELECT v.name, v.cfg_mark, v.listing_mark, v.settled, v.messages FROM volumes v "
                f"JOIN targets t ON t.id = v.target_id WHERE t.name = ? {'AND v.name = ?' if volume else ''}",
                (target, volume) if volume else (target,),
            ).fetchall()
        )
        return {
            name: VolumeMark(cfg_mark, listing_mark, bool(settled), messages is not None)
            for name, cfg_mark, listing_mark, settled, messages in rows
        }

    async def backup_marks(self, target: str, volume: str) -> dict[str, int]:
        """The mark of each backup of a volume, hidden ones included."""
        rows = await self._file.look(
            lambda connection: connection.execute(
                "SELECT b.name, b.mark FROM backups b JOIN volumes v ON v.id = b.volume_id "
                "JOIN targets t ON t.id = v.target_id WHERE t.name = ? AND v.name = ?",
                (target, volume),
            ).fetchall()
        )
        return dict(rows)

    async def apply(self, change: VolumeChange) -> None:
        """One batch, whole or not at all."""
        await self._file.write(lambda writing: writing.apply(change))

    async def touch(self, target: str, volumes: Iterable[str], synced_at: datetime) -> None:
        """These were looked at, and nothing about them has changed."""
        await self._file.write(lambda writing: writing.touch(target, volumes, synced_at))

    async def blame(self, target: str, volume: str, messages: dict[str, str]) -> None:
        """It is there, but could not be looked at: it is listed with what is known of it, and with this."""
        await self._file.write(lambda writing: writing.blame(target, volume, messages))

    async def drop_volume(self, target: str, volume: str) -> None:
        """Forget what the store no longer has. The store itself is not touched: nothing here could."""
        await self._file.write(lambda writing: writing.drop_volume(target, volume))

    async def forget_target(self, target: str) -> None:
        """See Catalogue. Volume by volume, so that nobody waits long for the writer."""
        await self._file.write(lambda writing: writing.forget_full_sync(target))
        for volume in await self.volume_marks(target):
            await self.drop_volume(target, volume)


def _checked(limit: int) -> int:
    if not 0 < limit <= LARGEST_PAGE:
        raise InvalidInput(f"a page has 1 to {LARGEST_PAGE} entries, not {limit}", field="limit")
    return limit

"""The catalogue's file: one thread that writes, a few that read beside it. Keeps the promise of ports.catalogue."""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Self, TypeVar

from tidegate.catalogue.backup_rows import BACKUP_COLUMNS, backups_of
from tidegate.catalogue.changes import VolumeChange, VolumeMark
from tidegate.catalogue.facets import find_facets
from tidegate.catalogue.rows import VOLUME_COLUMNS, volume_of
from tidegate.catalogue.schema import BUSY_TIMEOUT_MS, connect, open_catalogue
from tidegate.catalogue.search import count, find_backups, find_volumes
from tidegate.catalogue.writing import CatalogueWriting
from tidegate.errors import DamageError, InvalidInput, NoSpace, NotFound
from tidegate.model.catalogue import (
    CatalogueBackup,
    CatalogueCounts,
    CatalogueFilter,
    CataloguePage,
    CatalogueVolume,
)
from tidegate.model.catalogue_facets import CatalogueFacets
from tidegate.ports.catalogue import LARGEST_PAGE, MOST_COUNTED, PAGE

T = TypeVar("T")
LONGEST_LOG = 64 * 1024 * 1024
_WAIT_FOR_READERS_MS = 200
_READERS = 2


class SqliteCatalogue:
    """All methods may be called from any event loop: work is done in threads of its own."""

    def __init__(self, path: Path, connection: sqlite3.Connection, *, longest_log: int = LONGEST_LOG) -> None:
        self._path = path
        self._longest_log = longest_log
        self._log_path = path.with_name(f"{path.name}-wal")
        self._connection = connection
        self._writing = CatalogueWriting(connection)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="catalogue-writer")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="catalogue-reader")
        self._own = threading.local()
        self._opened: list[sqlite3.Connection] = []

    @classmethod
    def open(cls, path: Path, *, longest_log: int = LONGEST_LOG) -> Self:
        """Made anew if the file is not there or cannot be used: everything in it can be read from the stores again."""
        return cls(path, open_catalogue(path), longest_log=longest_log)

    def close(self) -> None:
        """Finish what was begun."""
        self._writer.shutdown()
        self._readers.shutdown()
        for connection in (*self._opened, self._connection):
            connection.close()

    async def volumes(
        self, wanted: CatalogueFilter, *, limit: int = PAGE, marker: str = "", skip: int = 0
    ) -> CataloguePage[CatalogueVolume]:
        """See Catalogue."""
        size = _checked(limit)
        return await self._look(
            lambda connection: find_volumes(connection, wanted, limit=size, marker=marker, skip=skip)
        )

    async def volume(self, target: str, name: str) -> CatalogueVolume:
        """See Catalogue."""
        row = await self._look(
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
        return await self._look(
            lambda connection: find_backups(connection, wanted, limit=size, marker=marker, skip=skip)
        )

    async def backup(self, target: str, volume: str, name: str) -> CatalogueBackup:
        """See Catalogue."""
        found = await self._look(
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
        return await self._look(lambda connection: count(connection, wanted, most=most))

    async def facets(self, wanted: CatalogueFilter) -> CatalogueFacets:
        """See Catalogue."""
        return await self._look(lambda connection: find_facets(connection, wanted))

    async def hide(self, target: str, volume: str, *backups: str) -> None:
        """See Catalogue."""
        await self._write(lambda: self._writing.hide(target, volume, backups, hidden=True), durably=True)

    async def unhide(self, target: str, volume: str, *backups: str) -> None:
        """See Catalogue."""
        await self._write(lambda: self._writing.hide(target, volume, backups, hidden=False), durably=True)

    async def hidden(self, target: str) -> list[tuple[str, str]]:
        """See Catalogue."""
        return await self._look(
            lambda connection: connection.execute(
                "SELECT volume, backup FROM tombstones WHERE target = ?", (target,)
            ).fetchall()
        )

    async def volume_marks(self, target: str, volume: str = "") -> dict[str, VolumeMark]:
        """What is known of each volume, or of this one; hidden ones included."""
        rows = await self._look(
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
        rows = await self._look(
            lambda connection: connection.execute(
                "SELECT b.name, b.mark FROM backups b JOIN volumes v ON v.id = b.volume_id "
                "JOIN targets t ON t.id = v.target_id WHERE t.name = ? AND v.name = ?",
                (target, volume),
            ).fetchall()
        )
        return dict(rows)

    async def apply(self, change: VolumeChange) -> None:
        """One batch, whole or not at all."""
        await self._write(lambda: self._writing.apply(change))

    async def touch(self, target: str, volumes: Iterable[str], synced_at: datetime) -> None:
        """These were looked at, and nothing about them has changed."""
        await self._write(lambda: self._writing.touch(target, volumes, synced_at))

    async def drop_volume(self, target: str, volume: str) -> None:
        """Forget what the store no longer has. The store itself is not touched: nothing here could."""
        await self._write(lambda: self._writing.drop_volume(target, volume))

    async def forget_target(self, target: str) -> None:
        """See Catalogue. Volume by volume, so that nobody waits long for the writer."""
        for volume in await self.volume_marks(target):
            await self.drop_volume(target, volume)

    async def _look(self, at: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, at)

    def _read(self, at: Callable[[sqlite3.Connection], T]) -> T:
        if not hasattr(self._own, "connection"):
            self._own.connection = connect(self._path)
            self._opened.append(self._own.connection)
        connection: sqlite3.Connection = self._own.connection
        try:
            connection.execute("BEGIN")
            try:
                return at(connection)
            finally:
                connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise self._in_our_words(error) from error

    async def _write(self, work: Callable[[], None], *, durably: bool = False) -> None:
        await asyncio.get_running_loop().run_in_executor(self._writer, self._commit, work, durably)

    def _commit(self, work: Callable[[], None], durably: bool) -> None:  # noqa: FBT001  # an executor takes no names
        connection = self._connection
        try:
            if durably:
                connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                work()
            except BaseException:
                self._writing.interning.forget()
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            self._keep_log_short()
        except sqlite3.DatabaseError as error:
            raise self._in_our_words(error) from error
        finally:
            if durably:
                connection.execute("PRAGMA synchronous = NORMAL")

    def _keep_log_short(self) -> None:
        """SQLite begins its log anew only in a moment without readers, which may never come while a page is looked at.

        A log of gigabytes makes every look slow. So beyond a size that moment is waited for: new readers no longer
        need the log once all of it is in the database, and those that still do are done soon.
        """
        with contextlib.suppress(FileNotFoundError):
            if self._log_path.stat().st_size <= self._longest_log:
                return
        # Not for long: somebody with a tool of their own may read for hours. The next commit tries it again.
        self._connection.execute(f"PRAGMA busy_timeout = {_WAIT_FOR_READERS_MS}")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")

    def _in_our_words(self, error: sqlite3.DatabaseError) -> Exception:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return NoSpace(f"the disk of {self._path} is full; nothing was changed", hint="Make room, then try again.")
        if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR}:
            return DamageError(
                f"{self._path} is damaged: {error}",
                hint="Stop the server, delete the file and start again: it is made anew from the stores.",
            )
        return error


def _checked(limit: int) -> int:
    if not 0 < limit <= LARGEST_PAGE:
        raise InvalidInput(f"a page has 1 to {LARGEST_PAGE} entries, not {limit}", field="limit")
    return limit

"""The catalogue's open file: a thread that writes, a few that read. Whoever owns it makes a damaged one anew."""

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from tidegate.catalogue.schema import OPTIONS, begin_anew, errors_of
from tidegate.catalogue.writer import CatalogueWriter
from tidegate.catalogue.writing import CatalogueWriting
from tidegate.disk.sqlite.readers import Readers
from tidegate.errors import CatalogueDamaged

T = TypeVar("T")


class CatalogueFile:
    """Looks and writes. One that meets damage is done once more in a new file, empty until stores are read again."""

    def __init__(self, path: Path, connection: sqlite3.Connection, *, longest_log: int, owned: bool) -> None:
        self.renewals = 0
        """How often the file was made anew."""
        self._path = path
        self._longest_log = longest_log
        self._owned = owned
        self._renewing = threading.Lock()
        self._opened = _Opened(path, connection, longest_log)

    async def look(self, at: Callable[[sqlite3.Connection], T]) -> T:
        """The answer of `at`, all of whose queries see the same state."""
        return await self._healed(lambda opened: opened.look(at))

    async def write(self, work: Callable[[CatalogueWriting], None], *, durably: bool = False) -> None:
        """See CatalogueWriter."""
        await self._healed(lambda opened: opened.writer.write(work, durably=durably))

    def look_at_file(self) -> None:
        """Make the file anew if it is gone or another one."""
        opened = self._opened
        if _identity(self._path) != opened.identity:
            self._renew(opened, f"{self._path} was deleted or replaced")

    def begin_anew(self, reason: str) -> None:
        """Make the file anew because another process met damage in it."""
        self._renew(self._opened, reason)

    def close(self) -> None:
        """Finish what was begun."""
        self._opened.close()

    async def _healed(self, work: "Callable[[_Opened], Awaitable[T]]") -> T:
        opened = self._opened
        try:
            return await work(opened)
        except CatalogueDamaged as damage:
            if not self._owned:
                raise
            await asyncio.to_thread(self._renew, opened, damage.message)
        return await work(self._opened)

    def _renew(self, damaged: "_Opened", reason: str) -> None:
        """Several may have met the same damage; the first makes the file anew."""
        with self._renewing:
            if self._opened is not damaged:
                return
            # Closed first: the last connection to the old file deletes a log by its name, which is that of the new one.
            damaged.close()
            try:
                self._opened = _Opened(self._path, begin_anew(self._path, reason), self._longest_log)
            except OSError as error:
                raise CatalogueDamaged(f"{self._path} cannot be made anew: {error.strerror or error}") from error
            self.renewals += 1


class _Opened:
    """One file for as long as it is used."""

    def __init__(self, path: Path, connection: sqlite3.Connection, longest_log: int) -> None:
        self.identity = _identity(path)
        self.writer = CatalogueWriter(path, connection, longest_log=longest_log)
        self._path = path
        self._connection = connection
        self._readers = Readers(errors_of(path), name="catalogue-reader", options=OPTIONS)

    async def look(self, at: Callable[[sqlite3.Connection], T]) -> T:
        try:
            looking = self._readers.look(at)
        except RuntimeError as error:  # closed, because another look met damage
            raise CatalogueDamaged(f"{self._path} is being made anew") from error
        return await looking

    def close(self) -> None:
        self.writer.close()
        self._readers.close()
        self._connection.close()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino

"""The ResourceStore over one SQLite file."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Self, TypeVar, cast

from tidegate.disk.sqlite.readers import Readers
from tidegate.disk.sqlite.wal import LONGEST_LOG
from tidegate.errors import DatabaseDamaged
from tidegate.model.kinds import kind_name
from tidegate.model.labels import EVERYTHING, Selector
from tidegate.model.resource import Ref, Resource
from tidegate.ports.clock import Clock
from tidegate.ports.identity import NewId
from tidegate.ports.resource_store import Event, Page
from tidegate.resources.event_log import KEPT_EVENTS, EventLog, check_given_out
from tidegate.resources.sqlite.database import Database
from tidegate.resources.sqlite.guard import DatabaseGuard
from tidegate.resources.sqlite.list_query import ListQuery
from tidegate.resources.sqlite.rows import SqliteRows
from tidegate.resources.sqlite.schema import errors_of
from tidegate.resources.sqlite.writer import Writer
from tidegate.resources.versions import DECIMAL
from tidegate.resources.writes import Cancel, Create, Delete, Update, UpdateStatus, Write, checked, no_such
from tidegate.state.paging import check_limit, place_of

R = TypeVar("R", bound=Resource)
T = TypeVar("T")


class SqliteStore:
    """Made by `open`, given back by `close`; belongs to the event loop that it was opened on."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        new_id: NewId,
        kept_events: int = KEPT_EVENTS,
        longest_log: int = LONGEST_LOG,
    ) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._log = EventLog(last_version=database.last_version, kept_events=kept_events)
        self._readers = Readers(errors_of(database.path), name="resource-reader")
        self._writer = Writer(database, publish=self._log.publish, longest_log=longest_log)
        self._closed = False

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        clock: Clock,
        new_id: NewId,
        kept_events: int = KEPT_EVENTS,
        longest_log: int = LONGEST_LOG,
    ) -> Self:
        """Open or make the database at `path`; its directory must exist.

        Raises AlreadyRunning if another process owns it, DatabaseDamaged if it is no database, UserError if it is not
        ours, was written by a newer version or may not be written, NoSpace if there is no room to bring it up to date.
        """
        database = await asyncio.to_thread(Database.open, path)
        return cls(database, clock=clock, new_id=new_id, kept_events=kept_events, longest_log=longest_log)

    @property
    def guard(self) -> DatabaseGuard:
        """What is known of damage to the file."""
        return self._database.guard

    async def close(self) -> None:
        """Finish the writes that were asked for, end all watchers, let go of the file. Closing twice is harmless."""
        if self._closed:
            return
        self._closed = True
        await self._writer.close()
        self._log.close()
        await asyncio.to_thread(self._readers.close)
        await asyncio.to_thread(self._database.close)

    async def create(self, resource: R) -> R:
        """See ResourceStore."""
        return cast("R", await self._write(Create(checked(resource), self._new_id())))

    async def get(self, kind: type[R], name: str, namespace: str = "") -> R:
        """See ResourceStore."""
        ref = Ref(kind_name(kind), name, namespace)
        found = await self._look(lambda connection: SqliteRows(connection).find(ref))
        if found is None:
            raise no_such(ref)
        return cast("R", found)

    async def list(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        selector: Selector = EVERYTHING,
        limit: int | None = None,
        marker: str | None = None,
    ) -> Page[R]:
        """See ResourceStore."""
        check_limit(limit)
        query = ListQuery(kind_name(kind), namespace, selector, place_of(marker), limit)
        return cast("Page[R]", await self._look(query.page))

    async def watch(self, kind: type[R], *, since: str) -> AsyncIterator[Event]:
        """See ResourceStore."""
        check_given_out(DECIMAL.read(kind_name(kind), since), newest=self._writer.newest_version)
        async for event in self._log.watch(kind, since=since):
            yield event

    async def update(self, resource: R) -> R:
        """See ResourceStore."""
        return cast("R", await self._write(Update(checked(resource))))

    async def update_status(self, resource: R) -> R:
        """See ResourceStore."""
        return cast("R", await self._write(UpdateStatus(resource.replace(status=checked(resource.status)))))

    async def cancel(self, ref: Ref, *, uid: str | None = None) -> Resource:
        """See ResourceStore."""
        return cast("Resource", await self._write(Cancel(ref, uid)))

    async def delete(self, ref: Ref, *, uid: str | None = None) -> Resource | None:
        """See ResourceStore."""
        return await self._write(Delete(ref, uid))

    async def _look(self, at: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._readers.look(at)
        except DatabaseDamaged as error:
            self.guard.note(error)
            raise

    async def _write(self, write: Write) -> Resource | None:
        return await self._writer.carry_out(write, now=self._clock.now())

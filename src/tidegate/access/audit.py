"""The audit in SQLite: one thread that writes, a few that read beside it. Keeps the promise of ports.audit."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Self

from tidegate.access.schema import access_errors, open_access
from tidegate.disk.sqlite.connection import transaction
from tidegate.disk.sqlite.readers import Readers
from tidegate.errors import InvalidInput
from tidegate.model.access.audit import AuditEntry, AuditFilter, AuditPage
from tidegate.ports.audit import LARGEST_PAGE, PAGE

_Waiting = tuple[AuditEntry, "asyncio.Future[None]"]


class SqliteAudit:
    """All methods belong to one event loop."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._errors = access_errors(path)
        self._connection = connection
        self._readers = Readers(self._errors, name="audit-reader")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="audit-writer")
        self._gathered: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None

    @classmethod
    def open(cls, path: Path) -> Self:
        """Reads nothing yet, whatever the size of the file."""
        return cls(path, open_access(path))

    def close(self) -> None:
        """Finish what was begun."""
        self._writer.shutdown()
        self._readers.close()
        self._connection.close()

    async def append(self, entry: AuditEntry) -> None:
        """See AuditLog."""
        written = asyncio.get_running_loop().create_future()
        self._gathered.append((entry, written))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_gathered())
        await written

    async def entries(self, wanted: AuditFilter, *, limit: int = PAGE, marker: str = "") -> AuditPage:
        """See AuditLog."""
        if not 0 < limit <= LARGEST_PAGE:
            raise InvalidInput(f"a page has 1 to {LARGEST_PAGE} entries, not {limit}", field="limit")
        if marker and not (marker.isascii() and marker.isdecimal() and len(marker) < 19):  # noqa: PLR2004  # 64 bits
            raise InvalidInput("this marker was given out by nobody", field="marker")
        conditions, values = _conditions(wanted, marker)
        statement = f"SELECT seq, body FROM audit WHERE {conditions} ORDER BY seq DESC LIMIT ?"  # noqa: S608  # our words
        # One more than is shown tells whether there are more.
        rows = await self._readers.look(
            lambda connection: connection.execute(statement, (*values, limit + 1)).fetchall()
        )
        shown = rows[:limit]
        entries = tuple(AuditEntry.model_validate_json(body) for _, body in shown)
        return AuditPage(entries, str(shown[-1][0]) if len(rows) > limit else None)

    async def forget_before(self, moment: datetime) -> None:
        """See AuditLog."""
        await asyncio.get_running_loop().run_in_executor(self._writer, self._forget, moment.timestamp())

    async def _write_gathered(self) -> None:
        """What arrives while a commit is under way shares the next one."""
        while self._gathered:
            group, self._gathered = self._gathered, []
            failure: Exception | None = None
            try:
                entries = [entry for entry, _ in group]
                await asyncio.get_running_loop().run_in_executor(self._writer, self._commit, entries)
            except Exception as error:  # noqa: BLE001  # told to those who wait
                failure = error
            for _, written in group:
                with contextlib.suppress(asyncio.InvalidStateError):  # somebody gave up waiting
                    written.set_exception(failure) if failure else written.set_result(None)
        self._writing = None

    def _commit(self, entries: Sequence[AuditEntry]) -> None:
        rows = [(entry.at.timestamp(), entry.who, entry.what, entry.to_json()) for entry in entries]
        with self._errors.translated(), transaction(self._connection):
            self._connection.executemany("INSERT INTO audit (at, who, what, body) VALUES (?, ?, ?, ?)", rows)

    def _forget(self, before: float) -> None:
        with self._errors.translated():
            self._connection.execute("DELETE FROM audit WHERE at < ?", (before,))


def _conditions(wanted: AuditFilter, marker: str) -> tuple[str, list[object]]:
    parts: list[tuple[str, object]] = []
    if wanted.who:
        parts.append(("who = ?", wanted.who))
    if wanted.what:
        parts.append(("instr(what, ?) > 0", wanted.what))
    if wanted.since:
        parts.append(("at >= ?", wanted.since.timestamp()))
    if wanted.until:
        parts.append(("at < ?", wanted.until.timestamp()))
    if marker:
        parts.append(("seq < ?", int(marker)))
    return " AND ".join(condition for condition, _ in parts) or "1", [value for _, value in parts]

"""The one thread of a process that writes to the catalogue's file. What comes while it commits shares the next commit.

A first sync finds a million backups volume by volume, and one index lists them all by time: every volume touches pages
all over it. A commit for many volumes writes each of these pages once.
"""

import asyncio
import contextlib
import sqlite3
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tidegate.catalogue.schema import errors_of
from tidegate.catalogue.writing import CatalogueWriting
from tidegate.disk.sqlite.connection import transaction
from tidegate.disk.sqlite.wal import ShortLog
from tidegate.disk.sqlite.writer_lock import WriterLock
from tidegate.errors import CatalogueDamaged

LONGEST_LOG = 96 * 1024 * 1024
# So many batches of a sync take a fifth of a second; nobody who wants something gone waits for more.
_LARGEST_GROUP = 10


@dataclass(frozen=True)
class _Job:
    work: Callable[[CatalogueWriting], None]
    durably: bool
    done: "Future[None]" = field(default_factory=Future)


class CatalogueWriter:
    """Carries out work in the order in which it was asked for; what must be durable goes before what need not be.

    The server and the process that syncs have one each.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, *, longest_log: int = LONGEST_LOG) -> None:
        self._path = path
        self._log = ShortLog(path, connection, longest=longest_log)
        self._connection = connection
        self._writing = CatalogueWriting(connection)
        self._writer_lock = WriterLock(path.with_name(f"{path.name}-turn"))
        self._seen_version = -1
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="catalogue-writer")
        self._urgent: deque[_Job] = deque()
        self._waiting: deque[_Job] = deque()

    async def write(self, work: Callable[[CatalogueWriting], None], *, durably: bool = False) -> None:
        """All of the work or nothing; returns once it is committed. May be called from any event loop.

        Whoever cancels this gets on when the work is either not begun, and never will be, or over.
        """
        job = _Job(work, durably)
        (self._urgent if durably else self._waiting).append(job)
        try:
            self._thread.submit(self._carry_out_some)
        except RuntimeError as error:  # closed, because somebody else met damage
            raise CatalogueDamaged(f"{self._path} is being made anew") from error
        done = asyncio.wrap_future(job.done)
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError:
            if not job.done.cancel():
                await asyncio.gather(done, return_exceptions=True)
            raise

    def close(self) -> None:
        """Finish what was asked for, then end the thread. The connection is left to whoever opened it."""
        self._thread.shutdown()
        self._writer_lock.close()

    def _carry_out_some(self) -> None:
        """Called once for each job; finds nothing to do where an earlier call has taken several."""
        group = self._next_group()
        if group:
            self._settle(group)

    def _next_group(self) -> list[_Job]:
        row = self._urgent or self._waiting
        taken = [row.popleft() for _ in range(min(len(row), _LARGEST_GROUP))]
        return [job for job in taken if job.done.set_running_or_notify_cancel()]

    def _settle(self, group: list[_Job]) -> None:
        try:
            self._commit(group)
        except Exception as error:  # noqa: BLE001  # it belongs to whoever asked, not to this thread
            if len(group) == 1:
                group[0].done.set_exception(errors_of(self._path).in_our_words(error))
                return
            # One of them is to blame; alone, each gets its own answer.
            for job in group:
                self._settle([job])
        else:
            for job in group:
                job.done.set_result(None)

    def _commit(self, group: list[_Job]) -> None:
        connection, durably = self._connection, group[0].durably
        try:
            if durably:
                connection.execute("PRAGMA synchronous = FULL")
            with contextlib.ExitStack() as turn:
                turn.enter_context(self._writer_lock.held())
                with transaction(connection):
                    if not durably:
                        turn.close()
                    self._carry_out(group)
            self._log.keep()
        except BaseException:
            self._writing.interning.forget()
            raise
        finally:
            if durably:
                connection.execute("PRAGMA synchronous = NORMAL")

    def _carry_out(self, group: list[_Job]) -> None:
        self._notice_others()
        for job in group:
            job.work(self._writing)

    def _notice_others(self) -> None:
        """Numbers that are remembered may have been let go by another process."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        if version != self._seen_version:
            self._writing.interning.forget()
            self._seen_version = version

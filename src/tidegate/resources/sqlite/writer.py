"""The one thread that writes. What arrives while it commits shares the next commit."""

import asyncio
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from queue import Empty, SimpleQueue

from tidegate.disk.sqlite.connection import transaction
from tidegate.disk.sqlite.wal import LONGEST_LOG, ShortLog
from tidegate.errors import AlreadyRunning, DamageError, TidegateError
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Event
from tidegate.resources.sqlite.database import Database
from tidegate.resources.sqlite.recent import RecentRows
from tidegate.resources.sqlite.rows import SqliteRows
from tidegate.resources.sqlite.schema import errors_of, save_last_version
from tidegate.resources.versions import DECIMAL
from tidegate.resources.writes import Counted, Outcome, Write, plan_write

# A group of this size takes no more in, so that its first does not wait for ever later ones.
_LARGEST_GROUP = 512
# Trying each write alone would fail in the same way, and for a lock after the same long wait.
_NOBODYS_FAULT = (AlreadyRunning, DamageError)


@dataclass(frozen=True)
class _Job:
    write: Write
    now: datetime
    answer: asyncio.Future[Resource | None]


@dataclass(frozen=True)
class _Done:
    job: _Job
    result: Outcome | Exception


class Writer:
    """Carries out writes in the order in which they were asked for, in groups that share one commit."""

    def __init__(
        self, database: Database, *, publish: Callable[[Iterable[Event]], None], longest_log: int = LONGEST_LOG
    ) -> None:
        self.newest_version = database.last_version
        """No reader has seen a higher one; may be ahead of what is committed."""
        self._errors = errors_of(database.path)
        self._guard = database.guard
        self._connection = database.connection
        self._log = ShortLog(database.path, database.connection, longest=longest_log)
        self._rows = RecentRows(SqliteRows(database.connection))
        self._committed_version = database.last_version
        self._publish = publish
        self._loop = asyncio.get_running_loop()
        self._gathered: list[_Job] = []
        self._groups: SimpleQueue[list[_Job] | None] = SimpleQueue()
        self._closed = False
        # A daemon, because what it has not committed was promised to nobody.
        self._thread = threading.Thread(target=self._run, name="resource-writer", daemon=True)
        self._thread.start()

    async def carry_out(self, write: Write, *, now: datetime) -> Resource | None:
        """The answer, once it is durable and the event log knows of it. Cancelling does not take the write back."""
        if self._closed:
            raise RuntimeError("the resource store is closed")
        self._guard.check()
        if not self._gathered:
            # Handed over at the end of this turn of the loop, so that what its tasks ask for arrives together.
            self._loop.call_soon(self._hand_over)
        job = _Job(write, now, self._loop.create_future())
        self._gathered.append(job)
        return await job.answer

    async def close(self) -> None:
        """Finish what was asked for, then end the thread. The connection is left to whoever opened it."""
        self._closed = True
        self._hand_over()
        self._groups.put(None)
        await asyncio.to_thread(self._thread.join)

    def _hand_over(self) -> None:
        if self._gathered:
            self._groups.put(self._gathered)
            self._gathered = []

    def _settle(self, group: list[_Done]) -> None:
        """Back on the loop. The log first: who got an answer can find its event there."""
        outcomes = [done.result for done in group if isinstance(done.result, Outcome)]
        self._publish(effect.event for outcome in outcomes for effect in outcome.effects)
        for done in group:
            if done.job.answer.done():
                continue
            if isinstance(done.result, Outcome):
                done.job.answer.set_result(done.result.answer)
            else:
                done.job.answer.set_exception(done.result)

    def _run(self) -> None:
        while (group := self._next_group()) is not None:
            try:
                settled = self._commit(group)
            except Exception as error:  # noqa: BLE001  # nobody may wait for ever because the disk failed twice
                settled = [_Done(job, self._errors.in_our_words(error)) for job in group]
            try:
                self._loop.call_soon_threadsafe(self._settle, settled)
            except RuntimeError:
                return  # the loop is closed: nobody waits for an answer any more
            if self._log.keep():  # those who wait for an answer have it already
                self._guard.log_begun_anew()

    def _next_group(self) -> list[_Job] | None:
        group = self._groups.get()
        while group is not None and len(group) < _LARGEST_GROUP:
            try:
                more = self._groups.get_nowait()
            except Empty:
                break
            if more is None:
                self._groups.put(None)
                break
            group += more
        return group

    def _commit(self, group: list[_Job]) -> list[_Done]:
        try:
            return self._in_one_transaction(group)
        except Exception as error:  # noqa: BLE001  # whatever it is belongs to the caller, not to this thread
            self._rows.forget()
            ours = self._errors.in_our_words(error)
            self._guard.note(ours)
            if len(group) == 1 or isinstance(ours, _NOBODYS_FAULT):
                return [_Done(job, ours) for job in group]
            # One of them is to blame; alone, each gets its own answer.
            return [done for job in group for done in self._commit([job])]

    def _in_one_transaction(self, group: list[_Job]) -> list[_Done]:
        self._refuse_if_damaged()
        version = self._committed_version
        settled = []
        with transaction(self._connection):
            for job in group:
                try:
                    outcome = plan_write(job.write, self._rows, Counted(version, DECIMAL), now=job.now)
                except TidegateError as refused:
                    settled.append(_Done(job, refused))
                    continue
                for effect in outcome.effects:
                    self._rows.apply(effect)
                version += len(outcome.effects)
                settled.append(_Done(job, outcome))
            if version > self._committed_version:
                save_last_version(self._connection, version)
            self.newest_version = version
        # A commit into a file that was deleted succeeds and is lost.
        self._guard.look_at_files()
        self._guard.check()
        self._committed_version = self._guard.committed_version = version
        return settled

    def _refuse_if_damaged(self) -> None:
        """A commit behind the end of a log that was cut would hide that, and spread it."""
        self._guard.look_at_files()
        if self._guard.in_doubt:
            self._guard.look_at_content()
        self._guard.check()

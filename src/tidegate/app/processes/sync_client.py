"""The server's side of the process that syncs: hands it errands, hears how far they are, starts it anew if it died."""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from tidegate.app.processes.mover_process import Process
from tidegate.app.processes.sync_cores import SyncCores
from tidegate.app.processes.sync_messages import ORDERS, WORDS, Begin, Ended, EndSync, Order, Sync, Word
from tidegate.catalogue.target_sync import SyncOutcome
from tidegate.controllers.stores.catalogue_sync import SyncErrand
from tidegate.disk.messages import lines_of
from tidegate.errors import HelperLost

log = structlog.get_logger(__name__)

_PATIENCE_SECONDS = 10.0
# A server that is told to stop has little time; what its sync had not written is read again after the next start.
_STOP_SECONDS = 3.0


@dataclass
class _Talk:
    """With one process, for as long as it lives."""

    process: Process
    asked: dict[int, tuple[SyncErrand, "asyncio.Future[Ended]"]] = field(default_factory=dict)
    tasks: list["asyncio.Task[None]"] = field(default_factory=list)
    next_number: int = 0
    over: bool = False

    def say(self, order: Order) -> None:
        if not self.over and self.process.stdin is not None and not self.process.stdin.is_closing():
            self.process.stdin.write(ORDERS.encode(order))

    def hear(self, word: Word) -> None:
        errand, ended = self.asked.get(word.number, (None, None))
        if errand is None or ended is None:
            return
        errand.progress.catch_up_with(word.progress)
        if isinstance(word, Ended) and not ended.done():
            ended.set_result(word)

    def end(self) -> None:
        """Nobody who still waits will get an answer."""
        self.over = True
        for _, ended in self.asked.values():
            if not ended.done():
                ended.set_exception(
                    HelperLost("the process that reads stores was killed", hint="is there enough memory?")
                )


@dataclass
class SyncProcess:
    """One process for all syncs, started with the first one.

    Syncs that it took with it when it died are begun anew once: what they had written is in the catalogue, and the
    second one goes on from there.
    """

    catalogue: Path
    start: Callable[[], Awaitable[Process]]
    patience: float = _PATIENCE_SECONDS
    cores: SyncCores = field(init=False)
    _talk: _Talk | None = None
    _closing: bool = False
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.cores = SyncCores(lambda: self.pid)

    async def run(self, errand: SyncErrand) -> SyncOutcome:
        """The sync. Raises what it raises. Whoever cancels this gets on only when nothing of it runs any more."""
        try:
            return await self._run(errand)
        except HelperLost as lost:
            if self._closing:
                raise
            log.warning("sync is begun anew", target=errand.order.target, reason=lost.message)
            return await self._run(errand)

    @property
    def pid(self) -> int | None:
        """Of the process, if there is one."""
        return self._talk.process.pid if self._talk is not None and not self._talk.over else None

    async def restart(self) -> None:
        """Kill the process, so that the next sync starts another one. Syncs that it takes with it are begun anew."""
        if self._talk is not None:
            await _gone(self._talk.process, 0)

    async def close(self) -> None:
        """Without its server it has nothing to do, and ends. One that does not is killed."""
        self._closing = True
        if self._talk is None:
            return
        process, tasks = self._talk.process, self._talk.tasks
        if process.stdin is not None:
            process.stdin.close()
        await _gone(process, min(self.patience, _STOP_SECONDS))
        await asyncio.gather(*tasks)
        self._talk = None

    async def _run(self, errand: SyncErrand) -> SyncOutcome:
        async with self._starting:
            if self._talk is None or self._talk.over:
                self._talk = await self._begin()
                self.cores.settle()
        talk = self._talk
        talk.next_number += 1
        number, ended = talk.next_number, asyncio.get_running_loop().create_future()
        talk.asked[number] = (errand, ended)
        try:
            started_at, in_flight = errand.progress.started_at, errand.requests_in_flight
            talk.say(
                Sync(
                    number=number,
                    access=errand.access,
                    order=errand.order,
                    started_at=started_at,
                    requests_in_flight=in_flight,
                )
            )
            end = await self._end_of(talk, number, ended)
        finally:
            talk.asked.pop(number)
        if end.outcome is not None:
            return end.outcome
        raise end.error.as_error() if end.error else HelperLost("the sync was ended from outside")

    async def _end_of(self, talk: _Talk, number: int, ended: "asyncio.Future[Ended]") -> Ended:
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            talk.say(EndSync(number=number))
            try:
                async with asyncio.timeout(self.patience):
                    await ended
            except HelperLost:
                pass
            except TimeoutError:
                # It must not write any more what nobody wants. Its other syncs are begun anew.
                log.warning("the process that reads stores does not listen and is ended", pid=talk.process.pid)
                await _gone(talk.process, 0)
            raise

    async def _begin(self) -> _Talk:
        try:
            process = await self.start()
        except OSError as error:
            raise HelperLost(f"no process for syncs could be started: {error.strerror}") from error
        log.info("process for syncs started", pid=process.pid)
        talk = _Talk(process)
        talk.say(Begin(catalogue=str(self.catalogue)))
        talk.tasks = [
            asyncio.create_task(_listen(talk, self.patience)),
            asyncio.create_task(_log_what_it_prints(process)),
        ]
        return talk


async def _listen(talk: _Talk, patience: float) -> None:
    assert talk.process.stdout is not None  # noqa: S101  # asked for at the start
    try:
        async for line in lines_of(talk.process.stdout):
            talk.hear(WORDS.decode(line))
    except Exception:
        # Whatever it was, nobody may wait for ever for words that are no longer heard.
        log.exception("the process that reads stores is not understood and is ended", pid=talk.process.pid)
        patience = 0
    finally:
        talk.end()
    await _gone(talk.process, patience)


async def _log_what_it_prints(process: Process) -> None:
    assert process.stderr is not None  # noqa: S101  # asked for at the start
    async for line in process.stderr:
        log.warning("the process that reads stores said", line=line.decode(errors="replace").rstrip())


async def _gone(process: Process, patience: float) -> None:
    try:
        async with asyncio.timeout(patience):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        await process.wait()

"""The process `tidegate catalogue-sync`: reads what stores hold into the catalogue, as the server tells it.

A first sync of a million backups keeps an interpreter busy for minutes. In a process of its own it has one, and whoever
looks at lists meanwhile has the server's. Both write to the catalogue's file, each in short turns.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.collector import search_seldom
from tidegate.app.processes.catalogue_runner import CatalogueRunner
from tidegate.app.processes.sync_messages import ORDERS, WORDS, Begin, Ended, EndSync, HowFar, Order, Sync, Word
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.progress import SyncProgress
from tidegate.disk.messages import SentError, lines_of, write_all

if TYPE_CHECKING:
    from tidegate.catalogue.target_sync import SyncOutcome

_TELL_EVERY_SECONDS = 0.25
# Behind the server: where there are too few cores for both, whoever looks at a list goes first.
_NICENESS = 10


def run_sync_process() -> int:
    """Sync until the server is gone."""
    orders, words = os.fdopen(os.dup(0), "rb", 0), os.dup(1)
    os.dup2(2, 1)  # what a library prints is for the log, not for the server
    os.nice(_NICENESS)
    search_seldom()
    asyncio.new_event_loop().run_until_complete(_serve(orders, words))
    sys.stderr.flush()
    # Without waiting for threads: one may hang in a dead share, and nobody is left who wants its answer.
    os._exit(0)


async def _serve(orders: BinaryIO, words: int) -> None:
    loop = asyncio.get_running_loop()
    pipe = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(pipe), orders)
    given = (ORDERS.decode(line) async for line in lines_of(pipe))
    begin = await anext(given, None)
    if not isinstance(begin, Begin):
        return
    catalogue = SqliteCatalogue.join(Path(begin.catalogue))
    try:
        await _Syncs(CatalogueRunner(catalogue, SystemClock()), words).serve(given)
    finally:
        catalogue.close()


class _Syncs:
    """Those that run now."""

    def __init__(self, runner: CatalogueRunner, words: int) -> None:
        self._runner = runner
        self._words = words
        self._running: dict[int, tuple[asyncio.Task[SyncOutcome], SyncProgress]] = {}
        self._told: dict[int, bytes] = {}

    async def serve(self, orders: AsyncIterator[Order]) -> None:
        telling = asyncio.create_task(self._keep_telling())
        async for order in orders:
            self._obey(order)
        tasks: list[asyncio.Task[Any]] = [telling, *(task for task, _ in self._running.values())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _obey(self, order: Order) -> None:
        if isinstance(order, Sync):
            number, progress = order.number, SyncProgress(order.started_at)
            work = self._runner.run(order.access, order.order, progress, order.requests_in_flight)
            task = asyncio.create_task(work)
            self._running[number] = (task, progress)
            task.add_done_callback(lambda task: self._has_ended(number, progress, task))
        elif isinstance(order, EndSync) and order.number in self._running:
            self._running[order.number][0].cancel()

    def _has_ended(self, number: int, progress: SyncProgress, task: "asyncio.Task[SyncOutcome]") -> None:
        self._running.pop(number)
        self._told.pop(number, None)
        if task.cancelled():
            self._say(Ended(number=number, progress=progress))
        elif error := task.exception():
            self._say(Ended(number=number, progress=progress, error=SentError.of(error)))
        else:
            self._say(Ended(number=number, progress=progress, outcome=task.result()))

    async def _keep_telling(self) -> None:
        while True:
            await asyncio.sleep(_TELL_EVERY_SECONDS)
            for number, (_, progress) in self._running.items():
                self._say(HowFar(number=number, progress=progress), unless_told=number)

    def _say(self, word: Word, *, unless_told: int | None = None) -> None:
        """Waits where the server does not listen: it then has worse troubles than a sync."""
        message = WORDS.encode(word)
        if unless_told is not None:
            if self._told.get(unless_told) == message:
                return
            self._told[unless_told] = message
        try:
            write_all(self._words, message)
        except BrokenPipeError:
            os._exit(0)  # the server is gone

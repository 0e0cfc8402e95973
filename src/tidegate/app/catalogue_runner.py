"""Where syncs run: a thread with an event loop of its own, so that a million answers hold up no request of the API."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.target_sync import SyncOutcome, TargetSync
from tidegate.controllers.catalogue_sync import SyncErrand
from tidegate.objects.open_reader import open_reader
from tidegate.ports.clock import Clock
from tidegate.ports.store_reader import StoreReader

T = TypeVar("T")


class CatalogueRunner:
    """Runs syncs one beside the other. A reader is kept for as long as its target is reached in the same way.

    So what hangs in a dead share is remembered, and not asked once more by the next sync. What the URL leads to is
    opened for each sync anew: else a directory that was renamed would go on to be read as if it were still there.
    """

    def __init__(self, catalogue: SqliteCatalogue, clock: Clock) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._loop = asyncio.new_event_loop()
        self._readers: dict[str, tuple[object, StoreReader]] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, name="catalogue-sync", daemon=True)
        self._thread.start()

    async def run(self, errand: SyncErrand) -> SyncOutcome:
        """The sync; cancelling this cancels it. Raises what it raises."""
        return await self._there(self._sync(errand))

    def close(self) -> None:
        """End the thread; whoever began a sync has ended it before."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        if not self._thread.is_alive():
            self._loop.close()

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _sync(self, errand: SyncErrand) -> SyncOutcome:
        reader = await (await self._reader(errand)).anew()
        return await TargetSync(errand.order, reader, self._catalogue, self._clock, errand.progress).run()

    async def _reader(self, errand: SyncErrand) -> StoreReader:
        way = (errand.access.url, tuple(sorted(errand.access.credentials.items())), errand.requests_in_flight)
        known = self._readers.get(errand.order.target)
        if known is not None and known[0] == way:
            return known[1]
        reader = await asyncio.to_thread(
            open_reader, errand.access, in_flight=errand.requests_in_flight, pause=asyncio.sleep
        )
        self._readers[errand.order.target] = (way, reader)
        return reader

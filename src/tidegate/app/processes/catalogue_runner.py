"""How a sync is begun, and what is kept from one to the next."""

import asyncio

from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.progress import SyncProgress
from tidegate.catalogue.target_sync import SyncOrder, SyncOutcome, TargetSync
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.identity import check_reader
from tidegate.objects.open_reader import open_reader
from tidegate.ports.clock import Clock
from tidegate.ports.store_reader import StoreReader


class CatalogueRunner:
    """Runs syncs one beside the other. A reader is kept for as long as its target is reached in the same way.

    So what hangs in a dead share is remembered, and not asked once more by the next sync. What the URL leads to is
    opened for each sync anew: else a directory that was renamed would go on to be read as if it were still there.
    """

    def __init__(self, catalogue: SqliteCatalogue, clock: Clock) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._readers: dict[str, tuple[object, StoreReader]] = {}

    async def run(self, access: TargetAccess, order: SyncOrder, progress: SyncProgress, in_flight: int) -> SyncOutcome:
        """The sync; cancelling this cancels it. Raises what it raises."""
        reader = await (await self._reader(access, order.target, in_flight)).anew()
        await check_reader(reader, access.identity, url=access.url.partition("?")[0])
        return await TargetSync(order, reader, self._catalogue, self._clock, progress).run()

    async def _reader(self, access: TargetAccess, target: str, in_flight: int) -> StoreReader:
        way = (access.url, tuple(sorted(access.credentials.items())), in_flight)
        known = self._readers.get(target)
        if known is not None and known[0] == way:
            return known[1]
        reader = await asyncio.to_thread(open_reader, access, in_flight=in_flight, pause=asyncio.sleep)
        self._readers[target] = (way, reader)
        return reader

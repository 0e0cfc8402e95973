"""Fills a catalogue whose file was made anew under the running server."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.target_sync import SyncOutcome
from tidegate.controllers.stores.catalogue_sync import CatalogueSync, SyncErrand
from tidegate.controllers.stores.deletion_desk import DeletionDesk
from tidegate.errors import CatalogueDamaged
from tidegate.ports.clock import Clock

log = structlog.get_logger(__name__)

LOOK_EVERY = timedelta(seconds=2)


@dataclass
class CatalogueWatch:
    """Looks every two seconds whether the file is still the one that was opened, and what came of damage."""

    catalogue: SqliteCatalogue
    clock: Clock
    syncs: CatalogueSync
    desk: DeletionDesk
    restart: Callable[[], Awaitable[None]]
    """Ends the process that syncs: it has the old file open."""

    async def run(self) -> None:
        """Never returns."""
        seen = self.catalogue.renewals
        while True:
            await self.clock.sleep(LOOK_EVERY)
            try:
                await asyncio.to_thread(self.catalogue.look_at_file)
                if self.catalogue.renewals != seen:
                    renewals = self.catalogue.renewals
                    await self._fill()
                    seen = renewals
            except Exception:
                log.exception("the catalogue cannot be made anew; trying again")

    async def _fill(self) -> None:
        await self.syncs.close()
        await self.restart()
        # What a sync of the old file has noted meanwhile says nothing about this one.
        await self.catalogue.forget_full_syncs()
        await self.desk.hide_all()
        await self.syncs.look_again()


def noticing_damage(
    catalogue: SqliteCatalogue, run: Callable[[SyncErrand], Awaitable[SyncOutcome]]
) -> Callable[[SyncErrand], Awaitable[SyncOutcome]]:
    """Return `run` that makes the catalogue anew when the process that syncs meets damage in it."""

    async def noticing(errand: SyncErrand) -> SyncOutcome:
        try:
            return await run(errand)
        except CatalogueDamaged as damage:
            await asyncio.to_thread(catalogue.begin_anew, damage.message)
            raise

    return noticing

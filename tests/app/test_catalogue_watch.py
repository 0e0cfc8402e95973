"""A catalogue that is lost or damaged under a running server is filled again without a restart."""

import asyncio
from datetime import timedelta

import pytest

from controllers.stores.test_catalogue_sync import (  # type: ignore[import-not-found]  # pytest has tests/ on its path
    Server,
    begin,
    calm,
)
from tidegate.app.catalogue_watch import CatalogueWatch, noticing_damage
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.controllers.stores.deletion_desk import DeletionDesk
from tidegate.errors import CatalogueDamaged


@pytest.fixture
async def server(tmp_path):
    server = Server(SqliteCatalogue.open(tmp_path / "catalogue.sqlite"))
    server.restarts = 0

    async def restart():
        server.restarts += 1

    server.runtime.start()
    desk = DeletionDesk(server.store, server.catalogue)
    watch = CatalogueWatch(server.catalogue, server.clock, server.syncs, desk, restart)
    watching = asyncio.create_task(watch.run())
    yield server
    watching.cancel()
    await server.runtime.stop()
    await server.syncs.close()
    await server.supervisor.close()
    server.catalogue.close()


async def test_a_deleted_file_is_filled_within_seconds_although_there_is_no_timer(server, tmp_path):
    await begin(server, poll_interval=timedelta())
    await server.passes(seconds=30)
    assert (len(server.orders), server.restarts) == (1, 0)

    (tmp_path / "catalogue.sqlite").unlink()
    await server.passes(seconds=4)
    async with asyncio.timeout(60):
        while len(server.orders) < 2:  # the file is looked at, and made anew, in a thread that takes its time
            await calm(server)
    await calm(server)

    assert (len(server.orders), server.restarts) == (2, 1)
    assert (await server.catalogue.full_syncs())["far"].began_at == (await server.target()).status.last_synced_at


async def test_damage_that_only_the_process_of_the_syncs_meets_has_the_file_made_anew(server):
    async def run(_errand):
        raise CatalogueDamaged("the file is damaged")

    with pytest.raises(CatalogueDamaged):
        await noticing_damage(server.catalogue, run)(None)
    assert server.catalogue.renewals == 1

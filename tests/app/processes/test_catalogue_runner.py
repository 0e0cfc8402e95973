"""Syncs over directories as they come and go: what is away is unavailable, and never empty or as it was."""

import pytest

from tidegate.app.processes.catalogue_runner import CatalogueRunner
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.progress import SyncProgress
from tidegate.catalogue.target_sync import SyncOrder
from tidegate.errors import StoreIdentityChanged, StoreIdentityMissing, StoreUnavailable
from tidegate.model.stores.catalogue import CatalogueFilter
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.identity import give_identity
from tidegate.testing.clock import ManualClock
from tidegate.testing.stores.stored_samples import volume_name, write_volumes


class Place:
    """A store in a directory, and a server's way of syncing it."""

    def __init__(self, tmp_path):
        self.store = tmp_path / "store"
        self.elsewhere = tmp_path / "elsewhere"
        write_volumes(self.store, volumes=3, backups=2)
        self.clock = ManualClock()
        self.catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")
        self.runner = CatalogueRunner(self.catalogue, self.clock)

    async def sync(self, *, identity="", **order):
        access = TargetAccess(url=f"file://{self.store}", identity=identity)
        progress = SyncProgress(self.clock.now())
        return await self.runner.run(access, SyncOrder(target="near", **order), progress, in_flight=8)

    async def count(self):
        return (await self.catalogue.counts(CatalogueFilter())).backups


@pytest.fixture
def place(tmp_path):
    place = Place(tmp_path)
    yield place
    place.catalogue.close()


@pytest.mark.parametrize("order", [{}, {"volume": volume_name(1)}], ids=["target", "one volume"])
@pytest.mark.parametrize("left_behind", [False, True], ids=["renamed", "unmounted"])
async def test_a_store_that_vanished_is_unavailable_at_the_next_sync_and_its_catalogue_stays(place, order, left_behind):
    """L19: longhorn#9530 took what was left behind for an empty store."""
    await place.sync()
    place.store.rename(place.elsewhere)
    if left_behind:
        place.store.mkdir()

    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="is it mounted"):
            await place.sync(**order)
    assert await place.count() == 6

    if left_behind:
        place.store.rmdir()
    place.elsewhere.rename(place.store)
    assert (await place.sync()).errors == ()
    assert await place.count() == 6


async def test_another_store_in_the_same_place_is_seen_without_a_restart(place):
    await place.sync()
    place.store.rename(place.elsewhere)
    write_volumes(place.store, volumes=4, backups=1)

    await place.sync()

    assert await place.count() == 4


@pytest.mark.parametrize(("there", "error"), [("", StoreIdentityMissing), ("another", StoreIdentityChanged)])
@pytest.mark.parametrize("order", [{}, {"volume": volume_name(1)}], ids=["target", "one volume"])
async def test_another_store_is_not_read_into_the_catalogue_of_a_target(place, there, error, order):
    """Also one that holds volumes, as the disk below a share may, and by a server that has never seen the right one."""
    place.store.rename(place.elsewhere)
    write_volumes(place.store, volumes=1, backups=1)
    if there:
        give_identity(DirectoryObjects(str(place.store)), there)

    with pytest.raises(error):
        await place.sync(identity="the-right-one", **order)
    assert await place.count() == 0
    give_identity(DirectoryObjects(str(place.elsewhere)), "the-right-one")
    place.store.rename(place.store.with_name("gone"))
    place.elsewhere.rename(place.store)
    assert (await place.sync(identity="the-right-one")).errors == ()
    assert await place.count() == 6

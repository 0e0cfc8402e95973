"""Every implementation of Deletions keeps the same promise."""

from dataclasses import dataclass

import pytest

from tidegate.catalogue.database import SqliteCatalogue
from tidegate.controllers.stores.deletion_desk import DeletionDesk
from tidegate.errors import InvalidInput, NotFound, Refused
from tidegate.model.stores.deletion import STORE_VOLUME_LABEL, Deletion, DeletionPhase, store_volume_mark
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.ports.catalogue import Catalogue
from tidegate.ports.deletions import Deletions
from tidegate.ports.resource_store import ResourceStore
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_target, a_transfer
from tidegate.testing.resources.put import put

IMPLEMENTATIONS: dict[type[Deletions], object] = {DeletionDesk: DeletionDesk}


@dataclass
class World:
    """Deletions, and where they keep what they know."""

    store: ResourceStore
    catalogue: Catalogue
    deletions: Deletions

    async def becomes(self, deletion, phase):
        found = await self.store.get(Deletion, deletion.name)
        return await self.store.update_status(found.with_status(phase=phase))


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
async def world(request, tmp_path):
    store = MemoryStore(clock=ManualClock(), new_id=counting_ids())
    catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")
    for name in ("near", "far"):
        await store.create(a_target(name))
    yield World(store, catalogue, IMPLEMENTATIONS[request.param](store, catalogue))
    catalogue.close()


async def test_what_was_asked_for_is_hidden_and_listed_at_once(world):
    deletion = await world.deletions.ask("near", "vol", ["b-1", "b-2"])

    assert sorted(await world.catalogue.hidden("near")) == [("vol", "b-1"), ("vol", "b-2")]
    assert [one.name for one in await world.deletions.list()] == [deletion.name]


async def test_a_whole_volume_can_be_asked_for(world):
    await world.deletions.ask("near", "vol")

    assert await world.catalogue.hidden("near") == [("vol", "")]


async def test_asking_again_returns_the_deletion_under_way(world):
    first = await world.deletions.ask("near", "vol", ["b-1", "b-2"])

    assert (await world.deletions.ask("near", "vol", ["b-2", "b-1"])).name == first.name
    assert len(await world.deletions.list()) == 1


WRONG = [
    (("nowhere", "vol", ["b-1"]), NotFound),
    (("near", "vol", []), InvalidInput),
    (("near", "../vol", ["b-1"]), InvalidInput),
    (("near", "vol", ["b/../1"]), InvalidInput),
]


@pytest.mark.parametrize(("asked", "error"), WRONG)
async def test_what_cannot_be_deleted_changes_nothing(world, asked, error):
    with pytest.raises(error):
        await world.deletions.ask(*asked)

    assert (await world.deletions.list(), await world.catalogue.hidden("near")) == ([], [])


async def test_an_upload_that_still_writes_a_backup_keeps_it(world):
    upload = a_transfer("up", phase=TransferPhase.IN_PROGRESS)
    upload = upload.with_spec(target="near", store_volume="vol", store_backup="b-1")
    labels = {STORE_VOLUME_LABEL: store_volume_mark("near", "vol")}
    await put(world.store, upload.with_metadata(labels=labels, uid=""))

    with pytest.raises(Refused):
        await world.deletions.ask("near", "vol", ["b-1"])
    assert await world.catalogue.hidden("near") == []


async def test_a_cancelled_deletion_shows_again_what_no_other_hides(world):
    await world.deletions.ask("near", "vol", ["b-1"])
    both = await world.deletions.ask("near", "vol", ["b-1", "b-2"])

    await world.deletions.cancel(both.name)

    assert await world.catalogue.hidden("near") == [("vol", "b-1")]


@pytest.mark.parametrize("phase", [DeletionPhase.RUNNING, DeletionPhase.DONE])
async def test_a_deletion_that_has_begun_or_ended_cannot_be_cancelled(world, phase):
    deletion = await world.deletions.ask("near", "vol", ["b-1"])
    await world.becomes(deletion, phase)

    with pytest.raises(Refused):
        await world.deletions.cancel(deletion.name)
    assert await world.catalogue.hidden("near") == [("vol", "b-1")]


async def test_an_unknown_deletion_is_not_found(world):
    with pytest.raises(NotFound):
        await world.deletions.cancel("deletion-9")


async def test_the_list_is_of_one_target_or_volume_where_that_is_asked_for(world):
    for target, volume in (("near", "db"), ("near", "web"), ("far", "db")):
        await world.deletions.ask(target, volume, ["b-1"])

    async def found(**wanted):
        return {(one.spec.target, one.spec.volume) for one in await world.deletions.list(**wanted)}

    assert await found(target="near") == {("near", "db"), ("near", "web")}
    assert await found(volume="db") == {("near", "db"), ("far", "db")}
    assert await found(target="far", volume="db") == {("far", "db")}

"""Every implementation of CatalogueSyncs keeps the same promise."""

import pytest

from tidegate.catalogue.database import SqliteCatalogue
from tidegate.controllers.stores.catalogue_sync import CatalogueSync
from tidegate.ports.catalogue_syncs import CatalogueSyncs
from tidegate.ports.secrets import NoSecrets
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.doubles.syncs import NotedSyncs
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_target


@pytest.fixture
def catalogue(tmp_path):
    catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")
    yield catalogue
    catalogue.close()


def real(catalogue):
    async def run(_errand):
        raise AssertionError("nothing runs without a runtime")

    clock = ManualClock()
    return CatalogueSync(MemoryStore(clock=clock, new_id=counting_ids()), clock, NoSecrets(), catalogue, run)


IMPLEMENTATIONS: dict[type[CatalogueSyncs], object] = {CatalogueSync: real, NotedSyncs: lambda _catalogue: NotedSyncs()}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def syncs(request, catalogue):
    return IMPLEMENTATIONS[request.param](catalogue)


@pytest.mark.parametrize("forced", [False, True])
def test_a_volume_that_was_asked_for_is_pending_and_no_other(syncs, forced):
    assert not syncs.volume_sync("far", "vol").pending

    syncs.request("far", "vol", forced=forced)
    syncs.request("far", "vol", forced=forced)

    asked = syncs.volume_sync("far", "vol")
    assert (asked.target, asked.volume, asked.pending) == ("far", "vol", True)
    assert not syncs.volume_sync("near", "vol").pending


async def test_a_forecast_says_when_or_what_the_sync_waits_for(syncs):
    forecast = await syncs.forecast(a_target("far"))

    assert forecast.due_at or forecast.message


def test_while_nothing_runs_a_target_syncs_as_its_status_says(syncs):
    target = a_target("far")

    assert syncs.target_sync(target) == target.status.sync

"""Every implementation of Catalogue keeps the same promise. How it is filled is its own affair."""

from dataclasses import replace
from datetime import timedelta

import pytest

from api.catalogue_world import NOON, fill  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.errors import InvalidInput, NotFound
from tidegate.model.stores.catalogue import BackupState, CatalogueFilter, FullSync
from tidegate.ports.catalogue import LARGEST_PAGE, Catalogue

ALL = CatalogueFilter()


def on_disk(tmp_path):
    return SqliteCatalogue.open(tmp_path / "catalogue.sqlite")


IMPLEMENTATIONS: dict[type[Catalogue], object] = {SqliteCatalogue: on_disk}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
async def open_filled(request, tmp_path):
    """Open a catalogue of three volumes, and the same once more after it was closed."""
    opened = []

    async def open_it():
        for one in opened:
            one.close()
        opened[:] = [IMPLEMENTATIONS[request.param](tmp_path)]
        return opened[0]

    first = await open_it()
    await fill(first, "near", "db", "b-1", "b-2", "b-3", labels={"app": "shop"})
    await fill(first, "far", "db", "b-9")
    await fill(first, "far", "web", "w-1", "w-2")
    yield open_it
    for one in opened:
        one.close()


@pytest.fixture
async def catalogue(open_filled):
    return await open_filled()


async def backups(catalogue, **wanted):
    return {one.record.name for one in (await catalogue.backups(CatalogueFilter(**wanted), limit=1000)).items}


async def test_volumes_of_all_targets_come_by_name(catalogue):
    page = await catalogue.volumes(ALL)

    assert [one.name for one in page.items] == ["db", "db", "web"]
    assert {(one.name, one.target): one.backups for one in page.items} == {
        ("db", "near"): 3,
        ("db", "far"): 1,
        ("web", "far"): 2,
    }


async def test_backups_come_the_newest_first(catalogue):
    times = [one.record.created_at for one in (await catalogue.backups(ALL)).items]

    assert times == sorted(times, reverse=True)
    assert len(times) == 6


@pytest.mark.parametrize("look", ["volumes", "backups"])
async def test_pages_lead_through_everything_once_and_skip_begins_later(catalogue, look):
    ask = getattr(catalogue, look)
    whole = (await ask(ALL, limit=LARGEST_PAGE)).items

    seen, marker = [], None
    while marker != "":
        page = await ask(ALL, limit=2, marker=marker or "")
        seen += page.items
        marker = page.marker

    assert tuple(seen) == whole
    assert (await ask(ALL, skip=1)).items == whole[1:]


FILTERS = [
    ({"target": "near"}, {"b-1", "b-2", "b-3"}),
    ({"volume": "db", "target": "far"}, {"b-9"}),
    ({"labels": {"app": "shop"}}, {"b-1", "b-2", "b-3"}),
    ({"since": NOON}, {"b-3", "b-9", "w-2"}),
    ({"until": NOON - timedelta(hours=1)}, {"b-1"}),
    ({"state": BackupState.COMPLETED, "target": "far"}, {"b-9", "w-1", "w-2"}),
    ({"search": "WE"}, {"w-1", "w-2"}),
    ({"volume": "nothing"}, set()),
]


@pytest.mark.parametrize(("wanted", "found"), FILTERS)
async def test_lists_and_counts_agree_on_what_a_filter_finds(catalogue, wanted, found):
    assert await backups(catalogue, **wanted) == found
    assert (await catalogue.counts(CatalogueFilter(**wanted))).backups == len(found)


async def test_one_volume_or_backup_is_found_by_its_name(catalogue):
    assert (await catalogue.volume("far", "web")).backups == 2
    assert (await catalogue.backup("far", "web", "w-1")).record.name == "w-1"

    for asked in (catalogue.volume("near", "web"), catalogue.backup("near", "web", "w-1")):
        with pytest.raises(NotFound):
            await asked


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": LARGEST_PAGE + 1}, {"marker": "x"}])
async def test_a_page_that_cannot_be_is_refused(catalogue, asked):
    for look in (catalogue.volumes, catalogue.backups):
        with pytest.raises(InvalidInput):
            await look(ALL, **asked)


async def test_what_is_to_be_deleted_is_in_no_list_and_no_count_also_after_a_restart(open_filled):
    catalogue = await open_filled()
    await catalogue.hide("near", "db", "b-1")
    await catalogue.hide("near", "db", "b-1")
    await catalogue.hide("far", "web")

    for _ in range(2):
        assert await backups(catalogue) == {"b-2", "b-3", "b-9"}
        assert (await catalogue.counts(ALL)).backups == 3
        assert (await catalogue.hidden("near"), await catalogue.hidden("far")) == ([("db", "b-1")], [("web", "")])
        with pytest.raises(NotFound):
            await catalogue.volume("far", "web")
        with pytest.raises(NotFound):
            await catalogue.backup("near", "db", "b-1")
        catalogue = await open_filled()


async def test_what_is_found_later_under_a_hidden_name_is_hidden(catalogue):
    await catalogue.hide("near", "new", "n-1")

    await fill(catalogue, "near", "new", "n-1", "n-2")

    assert await backups(catalogue, volume="new") == {"n-2"}


async def test_what_is_no_longer_to_be_deleted_is_back(catalogue):
    await catalogue.hide("near", "db", "b-1", "b-2")
    await catalogue.hide("far", "web")

    await catalogue.unhide("near", "db", "b-1")
    await catalogue.unhide("far", "web")

    assert await backups(catalogue) == {"b-1", "b-3", "b-9", "w-1", "w-2"}


async def test_facets_count_what_would_be_left(catalogue):
    facets = await catalogue.facets(CatalogueFilter(volume="db"))

    assert facets.backups == 4
    assert [(one.value, one.backups) for one in facets.targets.values] == [("near", 3), ("far", 1)]


async def test_damage_is_counted_and_the_first_of_it_named(catalogue):
    messages = {"error": "cannot be read"}
    await fill(catalogue, "far", "torn", "t-1", "t-2", state=BackupState.ERROR, messages=messages)

    damage = await catalogue.damage("far", most=1)

    assert (damage.backups, len(damage.named)) == (2, 1)
    assert (await catalogue.damage("near")).backups == 0


async def test_the_newest_complete_backup_of_each_volume_is_found(catalogue):
    await fill(catalogue, "far", "torn", "t-1", state=BackupState.ERROR, messages={"error": "cannot be read"})

    found = await catalogue.newest_backups(["far"], ["db", "web", "torn", "nothing"])

    assert {volume: one.record.name for volume, one in found.items()} == {"db": "b-9", "web": "w-2"}


async def test_a_full_sync_is_known_after_a_restart_until_its_target_is_forgotten(open_filled):
    sync = FullSync("file:///near", NOON)
    await (await open_filled()).note_full_sync("near", sync)

    catalogue = await open_filled()
    assert await catalogue.full_syncs() == {"near": sync}
    later = replace(sync, began_at=NOON + timedelta(hours=1))
    await catalogue.note_full_sync("near", later)
    assert await catalogue.full_syncs() == {"near": later}
    await catalogue.forget_target("near")

    assert await catalogue.full_syncs() == {}
    assert await backups(catalogue) == {"b-9", "w-1", "w-2"}

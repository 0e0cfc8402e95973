"""Facets and skipped pages against a plain loop over the same rows."""

from collections import Counter
from contextlib import closing
from dataclasses import replace

import pytest

from catalogue.test_search import FILTERS, catalogue, everything, matches  # type: ignore[import-not-found]  # noqa: F401
from tidegate.catalogue.facets import FacetLimits, find_facets
from tidegate.catalogue.keys import MOST_SKIPPED
from tidegate.disk.sqlite.connection import connect
from tidegate.errors import InvalidInput
from tidegate.format.cfgs.label_subject import subject_of
from tidegate.model.stores.catalogue import BackupState, CatalogueFilter


def told(facet):
    return {one.value: one.backups for one in facet.values}


def plain(counter):
    return {value: count for value, count in counter.items() if value}


WAYS = {
    "the newest of few are sorted out": FacetLimits(values=1000),
    "groups are found out first": FacetLimits(values=1000, sorted=0),
    "groups are asked one by one": FacetLimits(values=1000, sorted=0, groups=0),
}


@pytest.mark.parametrize("limits", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("fields", FILTERS.values(), ids=FILTERS)
async def test_facets_count_what_a_plain_loop_counts(catalogue, everything, tmp_path, fields, limits):  # noqa: F811
    wanted = CatalogueFilter(**fields)
    rows = [] if "[" in wanted.volume else [row for row in everything if matches(wanted, *row)]

    with closing(connect(tmp_path / "catalogue.sqlite")) as connection:
        found = find_facets(connection, wanted, limits)

    assert found.backups == (await catalogue.facets(wanted)).backups
    assert (found.backups, found.more) == (len(rows), False)
    assert told(found.targets) == plain(Counter(target for target, _, _ in rows))
    assert told(found.namespaces) == plain(Counter(subject_of(record.labels).namespace for *_, record in rows))
    assert told(found.states) == plain(Counter(str(record.state) for *_, record in rows))
    assert told(found.labels) == Counter(
        f"{key}={value}" for *_, record in rows for key, value in record.labels.items() if key != "KubernetesStatus"
    )


@pytest.mark.parametrize("fields", FILTERS.values(), ids=FILTERS)
async def test_a_page_after_so_many_is_the_page_that_markers_lead_to(catalogue, fields):  # noqa: F811
    wanted = CatalogueFilter(**fields)
    whole = (await catalogue.backups(wanted, limit=1000)).items
    volumes = (await catalogue.volumes(wanted, limit=1000)).items

    for skip in (1, 5, max(1, len(whole) - 3), max(1, len(whole) - 5), len(whole), len(whole) + 3):
        page = await catalogue.backups(wanted, limit=4, skip=skip)
        assert page.items == whole[skip : skip + 4]
        assert bool(page.marker) == (len(whole) > skip + 4)
        assert (await catalogue.volumes(wanted, limit=4, skip=skip)).items == volumes[skip : skip + 4]


async def test_what_is_not_counted_to_the_end_says_so(catalogue, everything, tmp_path):  # noqa: F811
    few = FacetLimits(values=2, newest=10, unfinished=5, counted=20)
    with closing(connect(tmp_path / "catalogue.sqlite")) as connection:
        of_all = find_facets(connection, CatalogueFilter(), few)
        of_some = find_facets(connection, CatalogueFilter(state=BackupState.COMPLETED), few)
        by_way = find_facets(connection, CatalogueFilter(search="vol"), replace(few, sorted=1))

    assert (of_all.backups, of_all.more, of_all.targets.newest) == (len(everything), False, None)
    assert (of_all.states.newest, of_all.labels.newest, of_all.namespaces.more) == (10, 10, True)
    assert (of_some.backups, of_some.more, of_some.targets.newest) == (20, True, 10)
    assert sum(told(of_some.states).values()) == 10
    assert by_way == of_all


async def test_what_is_deleted_is_in_no_facet(catalogue):  # noqa: F811
    wanted = CatalogueFilter(target="near", volume="vol-6")
    before = (await catalogue.facets(wanted)).backups
    await catalogue.hide("near", "vol-6", "backup-6-0")
    without_one = await catalogue.facets(wanted)
    await catalogue.hide("near", "vol-6")

    assert without_one.backups == before - 1
    assert (await catalogue.facets(wanted)).targets.values == ()
    assert "near" not in told((await catalogue.facets(CatalogueFilter(volume="vol-6"))).targets)


async def test_too_long_a_way_is_refused_only_with_a_filter(catalogue):  # noqa: F811
    wanted = CatalogueFilter(target="near")

    assert (await catalogue.backups(CatalogueFilter(), skip=MOST_SKIPPED + 1)).items == ()
    for look in (catalogue.backups, catalogue.volumes):
        assert (await look(wanted, skip=MOST_SKIPPED)).items == ()
        with pytest.raises(InvalidInput, match="can be skipped"):
            await look(wanted, skip=MOST_SKIPPED + 1)
        with pytest.raises(InvalidInput, match="not both"):
            await look(wanted, skip=1, marker="1:1")

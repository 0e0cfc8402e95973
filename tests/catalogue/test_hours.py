"""What is kept by the hour is what a count of the rows would tell, whatever happened to them."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.catalogue.changes import VolumeChange, found_in_cfg
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.model.stores.catalogue import CatalogueFilter, StoredBackupRecord

THEN = datetime(2026, 1, 1, tzinfo=UTC)
VOLUMES = st.sampled_from(["vol-a", "vol-b"])
NAMES = st.sampled_from([f"backup-{number}" for number in range(6)])
STEPS = st.one_of(
    st.tuples(st.just("found"), VOLUMES, NAMES, st.integers(0, 300)),
    st.tuples(st.just("vanished"), VOLUMES, NAMES, st.just(0)),
    st.tuples(st.sampled_from(["hide", "unhide"]), VOLUMES, st.one_of(NAMES, st.just("")), st.just(0)),
    st.tuples(st.just("dropped"), VOLUMES, st.just(""), st.just(0)),
)


async def carry_out(catalogue, what, volume, name, minutes):
    match what:
        case "found":
            record = StoredBackupRecord(name=name, created_at=THEN + timedelta(minutes=minutes))
            found = [found_in_cfg(record, minutes, THEN)]
            await catalogue.apply(VolumeChange(target="far", volume=volume, backups=found))
        case "vanished":
            await catalogue.apply(VolumeChange(target="far", volume=volume, vanished=[name]))
        case "hide":
            await catalogue.hide("far", volume, *filter(None, [name]))
        case "unhide":
            await catalogue.unhide("far", volume, *filter(None, [name]))
        case "dropped":
            await catalogue.drop_volume("far", volume)


async def live(path, steps):
    """Hours as they are kept, as they would be counted, and whether pages after any number are where they should be."""
    catalogue = SqliteCatalogue.open(path)
    for step in steps:
        await carry_out(catalogue, *step)
    everything = (await catalogue.backups(CatalogueFilter(), limit=100)).items
    skipped = [
        (await catalogue.backups(CatalogueFilter(), limit=3, skip=skip)).items for skip in range(len(everything) + 2)
    ]
    catalogue.close()
    with closing(sqlite3.connect(path)) as connection:
        kept = connection.execute("SELECT hour, backups FROM hours WHERE backups <> 0 ORDER BY hour").fetchall()
        counted = connection.execute(
            "SELECT created / 3600, count(*) FROM backups WHERE hidden = 0 GROUP BY 1 ORDER BY 1"
        ).fetchall()
    return kept, counted, skipped == [everything[skip : skip + 3] for skip in range(len(everything) + 2)]


@settings(max_examples=40, deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_hours_are_counts_and_pages_begin_where_they_should(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("hours") / "catalogue.sqlite"

    kept, counted, pages_are_right = asyncio.run(live(path, steps))

    assert kept == counted
    assert pages_are_right

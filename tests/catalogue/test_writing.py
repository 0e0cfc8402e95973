"""Rows are written many at a time; how many there are, and whether some are there already, changes nothing else."""

from datetime import UTC, datetime

import pytest

from tidegate.catalogue.changes import VolumeChange, found_in_cfg
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.model.stores.catalogue import CatalogueFilter, StoredBackupRecord
from tidegate.testing.stores.many_backups import write_catalogue

THEN = datetime(2026, 1, 1, tzinfo=UTC)


def found(number, *, size):
    return found_in_cfg(StoredBackupRecord(name=f"backup-{number}", created_at=THEN, size=size), number, THEN)


@pytest.fixture
def catalogue(tmp_path):
    catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")
    yield catalogue
    catalogue.close()


async def sizes(catalogue):
    page = await catalogue.backups(CatalogueFilter(), limit=1000)
    return {one.record.name: one.record.size for one in page.items}


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 49, 61, 249, 250, 251, 561])
async def test_every_row_of_a_batch_is_written_once_whatever_their_number(catalogue, count):
    batch = [found(number, size=number) for number in range(count)]

    for _ in range(2):
        await catalogue.apply(VolumeChange(target="far", volume="vol-a", backups=batch))

    assert await sizes(catalogue) == {f"backup-{number}": number for number in range(count)}
    assert (await catalogue.counts(CatalogueFilter())).backups == count


async def test_rows_that_are_there_already_are_changed_among_new_ones_and_the_last_word_of_a_batch_counts(catalogue):
    await catalogue.apply(VolumeChange(target="far", volume="vol-a", backups=[found(n, size=1) for n in range(300)]))
    others = [found(n, size=2) for n in range(200, 400)]

    await catalogue.apply(VolumeChange(target="far", volume="vol-a", backups=[*others, found(399, size=3)]))

    assert await sizes(catalogue) == {
        **{f"backup-{n}": 1 for n in range(200)},
        **{f"backup-{n}": 2 for n in range(200, 399)},
        "backup-399": 3,
    }


async def test_a_catalogue_that_is_written_by_sql_alone_reads_as_one_that_a_sync_wrote(tmp_path):
    write_catalogue(tmp_path / "catalogue.sqlite", volumes=3, backups=40)
    catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")

    assert len(await sizes(catalogue)) == 120
    for wanted in (CatalogueFilter(), CatalogueFilter(target="far"), CatalogueFilter(namespace="team-000")):
        counts = await catalogue.counts(wanted)
        assert (counts.volumes, counts.backups) == (3, 120), wanted
    assert (await catalogue.counts(CatalogueFilter(volume="pvc-00000001"))).backups == 40
    catalogue.close()

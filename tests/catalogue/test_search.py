"""Pages, filters and counts against a plain loop over the same rows."""

import contextlib
import json
import sqlite3
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

import pytest

from tidegate.catalogue.changes import FoundVolume, VolumeChange, found_in_cfg
from tidegate.catalogue.conditions import row_condition
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.search import count, find_backups
from tidegate.errors import InvalidInput
from tidegate.format.cfgs.label_subject import subject_of
from tidegate.model.stores.catalogue import BackupState, CatalogueFilter, StoredBackupRecord, StoredVolumeRecord

THEN = datetime(2026, 1, 1, tzinfo=UTC)
STATES = (BackupState.COMPLETED, BackupState.COMPLETED, BackupState.IN_PROGRESS, BackupState.ERROR)


def rows():
    """60 volumes in two targets; many backups share a second."""
    for number in range(60):
        status = {"namespace": f"ns-{number % 5}", "pvcName": f"Claim{number}", "workloadsStatus": []}
        for workload in range(number % 3):
            status["workloadsStatus"].append({"podName": f"pod-{number}-{workload}", "workloadName": f"app{workload}"})
        labels = {"KubernetesStatus": json.dumps(status), "job": f"job-{number % 2}"}
        for backup in range(number % 7):
            own = {**labels, "each": f"{number}-{backup}"} if backup % 2 else labels
            moment = THEN + timedelta(minutes=(number * 13 + backup * 7) % 90)
            state = STATES[(number + backup) % 4]
            record = StoredBackupRecord(name=f"backup-{number}-{backup}", created_at=moment, labels=own, state=state)
            yield ("near", "far")[number % 2], f"vol-{number}", record


@pytest.fixture(scope="module")
def everything():
    return list(rows())


@pytest.fixture
async def catalogue(tmp_path, everything):
    catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")
    found = FoundVolume(
        listing_mark=1, settled=True, synced_at=THEN, record=StoredVolumeRecord(), cfg_mark=1, messages={}
    )
    for target, volume in dict.fromkeys((target, volume) for target, volume, _ in everything):
        mine = [found_in_cfg(record, 1, THEN) for one, name, record in everything if (one, name) == (target, volume)]
        await catalogue.apply(VolumeChange(target=target, volume=volume, backups=mine, found=found))
    yield catalogue
    catalogue.close()


def matches(wanted, target, volume, record):
    subject = subject_of(record.labels)
    pairs = [(wanted.target, target), (wanted.volume, volume), (wanted.namespace, subject.namespace)]
    several = [(wanted.workload, subject.workload), (wanted.pod, subject.pod)]
    texts = (volume, subject.namespace, subject.claim, subject.workload, subject.pod)
    return (
        all(not want or fnmatchcase(has, want) for want, has in [*pairs, (wanted.claim, subject.claim)])
        and all(not want or any(fnmatchcase(one, want) for one in has.split()) for want, has in several)
        and any(wanted.search.lower() in text.lower() for text in texts)
        and all(
            record.labels.get(key) == value or (not value and key in record.labels)
            for key, value in wanted.labels.items()
        )
        and wanted.state in {None, record.state}
        and (wanted.since is None or record.created_at >= wanted.since)
        and (wanted.until is None or record.created_at < wanted.until)
    )


FILTERS: dict[str, dict[str, Any]] = {
    "everything": {},
    "a target": {"target": "far"},
    "a volume": {"volume": "vol-13"},
    "volumes by glob": {"volume": "vol-1*"},
    "a namespace": {"namespace": "ns-2"},
    "a claim": {"claim": "Claim7"},
    "a workload": {"workload": "app1"},
    "a pod by glob": {"pod": "pod-5*"},
    "part of a name in any case": {"search": "cLAIM1"},
    "a sign that means something to SQL": {"search": "%"},
    "a sign that means something to globs": {"volume": "vol-[1]*"},
    "a label": {"labels": {"job": "job-1"}},
    "a label with any value": {"labels": {"each": ""}},
    "two labels with any value": {"labels": {"each": "", "job": ""}},
    "two labels, one with any value": {"labels": {"each": "", "job": "job-0"}},
    "two labels": {"labels": {"job": "job-0", "each": "12-1"}},
    "a label in a namespace": {"labels": {"job": "job-0"}, "namespace": "ns-4"},
    "a label that nobody has": {"labels": {"job": "job-9"}},
    "errors": {"state": BackupState.ERROR},
    "completed ones of a target": {"state": BackupState.COMPLETED, "target": "near"},
    "a time range": {"since": THEN + timedelta(minutes=10), "until": THEN + timedelta(minutes=50)},
    "completed ones of a time range": {"state": BackupState.COMPLETED, "until": THEN + timedelta(minutes=50)},
    "all at once": {"target": "near", "namespace": "ns-*", "search": "app", "labels": {"job": "job-0"}, "since": THEN},
}


@pytest.mark.parametrize("wanted", [CatalogueFilter(**fields) for fields in FILTERS.values()], ids=FILTERS)
async def test_pages_and_counts_are_those_of_a_plain_loop(catalogue, everything, wanted):
    expected = [row for row in everything if matches(wanted, *row)]
    if "[" in wanted.volume:  # fnmatch knows brackets; here they stand for themselves
        expected = []
    found, marker = [], ""
    while True:
        page = await catalogue.backups(wanted, limit=7, marker=marker)
        found.extend((one.target, one.volume, one.record.name) for one in page.items)
        marker = page.marker
        if not marker:
            break

    assert sorted(found) == sorted((target, volume, record.name) for target, volume, record in expected)
    times = {record.name: record.created_at for _, _, record in expected}
    assert [times[name] for *_, name in found] == sorted(times.values(), reverse=True)
    counts = await catalogue.counts(wanted)
    volumes = {(target, volume) for target, volume, _ in expected}
    of_volumes = [(one.target, one.name) for one in (await catalogue.volumes(wanted, limit=1000)).items]
    if wanted != CatalogueFilter(target=wanted.target):  # those show volumes without backups too
        assert (counts.volumes, counts.backups) == (len(volumes), len(expected))
        assert sorted(of_volumes) == sorted(volumes)


async def test_volumes_come_by_name_in_pages(catalogue):
    names, marker = [], ""
    while True:
        page = await catalogue.volumes(CatalogueFilter(), limit=9, marker=marker)
        names.extend(volume.name for volume in page.items)
        marker = page.marker
        if not marker:
            break

    assert names == sorted(names)
    assert len(set(names)) == len(names) == (await catalogue.counts(CatalogueFilter())).volumes


@pytest.mark.parametrize("marker", ["x", "1", ":", "a:b", "1:" + "9" * 400, "-1:5"])
async def test_a_marker_that_nobody_gave_out_is_refused(catalogue, marker):
    with pytest.raises(InvalidInput, match="not a marker"):
        await catalogue.backups(CatalogueFilter(), marker=marker)


@pytest.mark.parametrize("limit", [0, -1, 1001])
async def test_a_page_has_a_size_that_can_be_shown(catalogue, limit):
    with pytest.raises(InvalidInput, match="1 to 1000"):
        await catalogue.backups(CatalogueFilter(), limit=limit)


async def test_a_filter_cannot_be_a_program(catalogue):
    with pytest.raises(InvalidInput):
        await catalogue.backups(CatalogueFilter(search="x" * 2000))
    with pytest.raises(InvalidInput):
        await catalogue.backups(CatalogueFilter(volume="*a*b*c*d*e*"))


async def test_what_is_not_completed_is_found_by_its_own_index_and_not_by_looking_at_everything(far):
    asked = row_condition(CatalogueFilter(state=BackupState.ERROR))
    sql = f"SELECT b.id FROM backups b WHERE b.hidden = 0 AND {asked.sql} ORDER BY b.created DESC, b.id DESC"

    with contextlib.closing(sqlite3.connect(far.path)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()

    assert "by_state" in plan[0][3]


def steps_of(catalogue_path, wanted):
    """How many steps, in hundreds, SQLite takes for a page and a count."""
    steps = []
    with contextlib.closing(sqlite3.connect(catalogue_path)) as connection:
        connection.set_progress_handler(lambda: steps.append(1), 100)
        find_backups(connection, wanted, limit=10, marker="")
        count(connection, wanted, most=1000)
    return len(steps)


async def test_keys_whose_values_differ_from_volume_to_volume_cost_no_square(tmp_path):
    wanted, steps = CatalogueFilter(labels={"host": "", "zone": ""}), []
    for number in (200, 800):
        catalogue = SqliteCatalogue.open(tmp_path / f"{number}.sqlite")
        found = [
            found_in_cfg(
                StoredBackupRecord(name=f"b-{one}", created_at=THEN, labels={"host": f"h{one}", "zone": f"z{one}"}),
                1,
                THEN,
            )
            for one in range(number)
        ]
        await catalogue.apply(VolumeChange(target="near", volume="vol-1", backups=found))
        catalogue.close()
        steps.append(steps_of(tmp_path / f"{number}.sqlite", wanted))

    assert steps[1] <= 6 * steps[0]

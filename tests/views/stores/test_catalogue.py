"""What is said of syncs: as much as somebody needs, and nothing when nothing happens."""

from datetime import UTC, datetime, timedelta

import pytest

from tidegate.model.resource import Condition
from tidegate.model.stores.catalogue_status import CatalogueDamage, TargetCatalogue
from tidegate.model.stores.target import SyncStatus
from tidegate.testing.resources.builders import a_target
from tidegate.views.reader import Reader
from tidegate.views.stores.catalogue import SYNCED_TARGETS, problem_of, sync_line
from tidegate.views.stores.target import describe_target

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
BROKEN = CatalogueDamage(volumes=1, backups=2)
RUNNING = SyncStatus(stage="ReadingBackups", done=3, total=9, started_at=NOW)


@pytest.mark.parametrize(
    ("sync", "line"),
    [
        (SyncStatus(), ""),
        (RUNNING, "ReadingBackups 3 of 9"),
        (
            RUNNING.replace(backups=70, errors=2, expected_end=NOW + timedelta(minutes=2)),
            "ReadingBackups 3 of 9, 70 backups read, 2 errors, 2m left",
        ),
        (RUNNING.replace(stage="ListingVolumes", done=0, total=0), "ListingVolumes"),
        (RUNNING.replace(finished_at=NOW), ""),
        (RUNNING.replace(stage="Failed"), ""),
    ],
)
def test_a_sync_is_told_in_one_line_while_it_runs(sync, line):
    assert sync_line(sync, Reader(now=NOW)) == line


@pytest.mark.parametrize(
    ("one", "problem"),
    [
        (TargetCatalogue(name="a", available=True), ""),
        (TargetCatalogue(name="a", available=False, message="no route"), "no route"),
        (TargetCatalogue(name="a", available=True, held_back="9 of 10 gone"), "9 of 10 gone"),
        (TargetCatalogue(name="a", available=True, sync=SyncStatus(errors=1, messages=("torn",))), "torn"),
        (TargetCatalogue(name="a", available=True, sync=SyncStatus(messages=("2 names passed over",))), ""),
        (
            TargetCatalogue(name="a", damage=CatalogueDamage(volumes=1, backups=7)),
            "1 volume and 7 backups cannot be read",
        ),
    ],
)
def test_the_worst_problem_of_a_target_is_told_first(one, problem):
    assert problem_of(one) == problem


@pytest.mark.parametrize(
    ("available", "words"), [(None, "not checked"), (True, "yes"), (False, "no, for 3m")], ids=["unknown", "yes", "no"]
)
def test_a_target_that_does_not_answer_is_shown_with_how_long_it_has_not(available, words):
    one = TargetCatalogue(name="a", available=available, since=NOW - timedelta(minutes=3))
    column = next(column for column in SYNCED_TARGETS.columns if column.title == "AVAILABLE")

    assert column.cell(one, Reader(now=NOW)).text == words


def test_a_target_tells_since_when_it_does_not_answer_and_names_each_message():
    looked = Condition(type="Available", status="False", reason="NoAnswer", last_transition_time=NOW)
    sync = SyncStatus(failures=1, messages=("no route",))
    target = a_target("far").with_status(available=False, conditions=(looked,), sync=sync)

    lines = [line for part in describe_target(target, Reader(now=NOW)) for line in part.lines]
    assert ("Available", "no") in lines
    assert dict(lines)["Since"].startswith("2026-01-01")
    assert ("Message", "no route") in lines
    assert "" not in dict(lines)

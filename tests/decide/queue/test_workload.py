"""A workload as a document, tried with several limits."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from tidegate.decide.queue.forecast import workload_of
from tidegate.decide.queue.surroundings import Surroundings
from tidegate.decide.queue.workload import forecast, jobs_of, recorded_workload
from tidegate.errors import InvalidInput
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.queue.queue import Workload
from tidegate.state.backup_figures import BackupFigures
from tidegate.state.queue import QueueTable
from tidegate.testing.resources.builders import a_backup

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def began(found):
    return {run.name: run.began for run in found.runs}


def ticket(*, ago):
    return int((NOW - timedelta(seconds=ago)).timestamp() * 1_000_000)


def record(*backups, **around):
    table = QueueTable()
    table.replace_all(backups)
    surroundings = Surroundings(**around)
    figures = BackupFigures()
    figures.replace_all(backups)
    jobs = workload_of(figures, table.snapshot(surroundings), {}, now=NOW)
    return recorded_workload(jobs, table, surroundings, limit=1, now=NOW)


def test_a_recorded_queue_runs_in_its_own_order_also_after_a_trip_through_json():
    queue = [
        a_backup("runs", "a", phase=BackupPhase.IN_PROGRESS),
        # Of two that wait, the one with the higher priority came too late to pass the other.
        a_backup("early", "b", phase=BackupPhase.QUEUED, ticket=ticket(ago=2000)),
        a_backup("late", "c", phase=BackupPhase.QUEUED, ticket=ticket(ago=10)).with_spec(priority=1),
    ]

    workload = Workload.model_validate_json(record(*queue, head_start_seconds=600).to_json())

    assert began(forecast(workload, limit=1)) == {"runs": 0, "early": 300, "late": 600}
    assert began(forecast(workload, limit=3)) == {"runs": 0, "early": 0, "late": 0}


def test_globs_and_namespaces_that_do_not_exist_yet_overlap_as_in_the_real_queue():
    workload = Workload.model_validate(
        {
            "backups": [
                {"name": "a", "includedNamespaces": ["team-*"], "duration": 10},
                {"name": "b", "includedNamespaces": ["team-x"], "duration": 10},
                {"name": "c", "includedNamespaces": ["other"], "duration": 10},
            ]
        }
    )

    assert began(forecast(workload, limit=3)) == {"a": 0, "c": 0, "b": 10}


def test_volumes_count_where_they_are_named():
    one = {"name": "a", "includedNamespaces": ["x"], "volumes": ["x/1"], "duration": 10}
    workload = Workload.model_validate({"backups": [one, {**one, "name": "b", "volumes": ["x/2"]}]})

    assert began(forecast(workload, limit=2)) == {"a": 0, "b": 0}


def test_a_target_that_does_not_answer_keeps_its_backups_out_of_the_numbers():
    workload = Workload.model_validate(
        {"unavailableTargets": ["t"], "backups": [{"name": "a", "target": "t", "duration": 1}]}
    )

    assert forecast(workload, limit=1).never == ("a",)


def test_a_namespace_that_cannot_be_one_is_told_with_its_place():
    workload = Workload.model_validate(
        {"backups": [{"name": "a", "duration": 1, "excludedNamespaces": ["ok", "Not OK"]}]}
    )

    with pytest.raises(InvalidInput, match=r"backups\[0\]\.excludedNamespaces\[1\]: "):
        jobs_of(workload)


@pytest.mark.parametrize(
    ("backups", "says"),
    [
        ([{"name": "a", "duration": 1}] * 2, "the backup a is there twice"),
        ([{"name": "a", "duration": -1}], "greater than or equal to 0"),
        ([{"name": "a", "duration": float("inf")}], "finite"),
        ([{"name": "a"}], "Field required"),
    ],
)
def test_a_workload_that_makes_no_sense_is_refused(backups, says):
    with pytest.raises(ValidationError, match=says):
        Workload.model_validate({"backups": backups})


def test_slots_in_use_are_told_part_by_part():
    workload = Workload.model_validate(
        {"backups": [{"name": "a", "includedNamespaces": ["a"], "duration": 10}, {"name": "b", "duration": 5}]}
    )

    assert forecast(workload, limit=2).busy_slots(3) == [1, 1, 1]
    assert forecast(Workload(backups=()), limit=2).busy_slots(3) == [0, 0, 0]


@pytest.mark.parametrize(
    ("ran", "left"),
    [(0, 300), (200, 100), (299, 30), (300, 30), (400, 100), (3300, 3000)],
)
def test_one_that_runs_longer_than_expected_is_expected_to_be_as_late_again(ran, left):
    began_then = NOW - timedelta(seconds=ran)
    runs = a_backup("runs", "a", phase=BackupPhase.IN_PROGRESS).with_status(start_timestamp=began_then)

    [job] = record(runs).backups

    assert job.duration == left

"""Backups as numbers: the same whatever way the news came."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.backups.backup import BackupPhase
from tidegate.model.schedules.schedule import SCHEDULE_LABEL
from tidegate.state.backup_figures import BackupFigures
from tidegate.testing.resources.builders import THEN, a_backup, emptied

CHANGES = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(BackupPhase), st.integers(0, 200_000)), max_size=30)


def figures_of(*backups):
    figures = BackupFigures()
    figures.replace_all(backups)
    return figures


def picture(figures):
    return (+figures.phases, figures.waits(), figures.queued_since())


def waited(name, seconds, phase=BackupPhase.COMPLETED):
    return a_backup(name, phase=phase).with_status(queued_at=THEN, start_timestamp=THEN + timedelta(seconds=seconds))


@given(CHANGES)
def test_figures_told_of_every_change_equal_those_told_of_the_last_state(changes):
    told, last = BackupFigures(), {}
    for number, phase, seconds in changes:
        last[number] = waited(f"b{number}", seconds, phase)
        told.note(last[number])

    assert picture(told) == picture(figures_of(*last.values()))
    told.replace_all([])
    assert picture(told) == picture(BackupFigures())


def test_a_wait_counts_in_every_bucket_that_it_fits():
    buckets, together = figures_of(waited("a", 1), waited("b", 61), waited("c", 10**6), a_backup("new")).waits()

    assert dict(buckets)["1"] == 1
    assert dict(buckets)["60"] == 1
    assert dict(buckets)["300"] == 2
    assert dict(buckets)["+Inf"] == 3
    assert together == 10**6 + 62


def test_the_oldest_is_the_one_that_waits_longest_and_still_waits():
    old = a_backup("old", phase=BackupPhase.QUEUED).with_status(queued_at=THEN)
    late = a_backup("late", phase=BackupPhase.QUEUED).with_status(queued_at=THEN + timedelta(hours=1))
    figures = figures_of(old, late)
    assert figures.queued_since() == THEN

    figures.note(old.with_status(phase=BackupPhase.READY_TO_START))

    assert figures.queued_since() == THEN + timedelta(hours=1)


def test_of_a_schedule_the_newest_backup_and_the_last_success_are_known():
    def run(name, phase, hours):
        made = THEN + timedelta(hours=hours)
        backup = a_backup(name, phase=phase).with_metadata(creation_timestamp=made, labels={SCHEDULE_LABEL: "nightly"})
        return backup.with_status(completion_timestamp=made + timedelta(minutes=5))

    good, bad = run("n-1", BackupPhase.COMPLETED, 0), run("n-2", BackupPhase.FAILED, 1)
    figures = figures_of(bad, good, waited("by-hand", 1))

    last = figures.last_runs()["nightly"]
    assert (last.newest.phase, last.succeeded_at) == (BackupPhase.FAILED, THEN + timedelta(minutes=5))
    figures.note(emptied(run("n-3", BackupPhase.COMPLETED, 2)))
    assert figures.last_runs()["nightly"].succeeded_at == THEN + timedelta(minutes=5), (
        "what holds nothing is no success"
    )
    figures.forget("n-3")
    figures.forget("n-2")
    assert figures.last_runs()["nightly"].newest.phase is BackupPhase.COMPLETED
    figures.forget("n-1")
    assert figures.last_runs() == {}

"""A job in one line: on its way, at its end, and what its deletion would disturb."""

from datetime import timedelta

import pytest

from tidegate.model.backups.backup import BackupPhase, BackupProgress
from tidegate.model.backups.byte_progress import JobBytes
from tidegate.model.reasons import Reason
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import Restore, RestorePhase, RestoreSpec
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.model.transfers.transfer_progress import TransferProgress, TransferResult
from tidegate.testing.resources.builders import THEN, a_backup, a_transfer, a_volume, emptied
from tidegate.views.dependents import dependents_of_backup, dependents_of_namespace, dependents_of_target
from tidegate.views.job import backup_job, change_key, ending, failed_volumes, headline, restore_job
from tidegate.views.job_parts import size_text
from tidegate.views.reader import Reader

READER = Reader(now=THEN)


def moving(done):
    progress = TransferProgress(bytes_done=done, total_bytes=1000, bytes_per_second=100.0)
    return a_transfer("t", TransferPhase.IN_PROGRESS).with_status(progress=progress)


def test_a_running_backup_tells_items_bytes_and_which_volumes_wait():
    backup = a_backup("n", phase=BackupPhase.IN_PROGRESS).with_status(
        progress=BackupProgress(total_items=3, items_backed_up=1)
    )
    held = a_transfer("held")
    held = held.replace(status=held.status.waiting(Reason.NODE_LOAD, "full", since=THEN))

    assert headline(backup_job(backup, [moving(100), held]), READER) == (
        "InProgress, 100 B of at least 1000 B, 1 volume not measured yet, 100 B/s, 1 of 3 items, "
        "1 volume waiting for NodeLoad"
    )


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (None, ""),
        (JobBytes(), ""),
        (JobBytes(total=2048), "2.0 KiB"),
        (JobBytes(total=2048, volumes_not_measured=1), "at least 2.0 KiB"),
        (JobBytes(total=0, volumes_not_measured=1), ""),
    ],
)
def test_a_list_shows_as_much_of_a_size_as_is_known(told, words):
    backup = a_backup("n", phase=BackupPhase.IN_PROGRESS).with_status(bytes=told)

    assert size_text(backup, READER) == words


def test_how_many_volumes_wait_is_no_news_in_a_log_and_why_they_do_is():
    backup = a_backup("n", phase=BackupPhase.IN_PROGRESS).with_status(progress=BackupProgress(total_items=3))
    held = a_transfer("held")
    held = held.replace(status=held.status.waiting(Reason.NODE_LOAD, "full", since=THEN))
    keys = [change_key(backup_job(backup, [moving(100), *transfers])) for transfers in ([held] * 2, [held], [])]

    assert keys[0][-1] == keys[1][-1] != keys[2][-1]


def test_only_tenths_of_the_whole_are_news():
    backup = a_backup("n", phase=BackupPhase.IN_PROGRESS).with_status(progress=BackupProgress(total_items=1))
    keys = [change_key(backup_job(backup, [moving(done)])) for done in (100, 150, 200)]

    assert keys[0] == keys[1] != keys[2]


def test_the_end_tells_time_volumes_bytes_and_problems():
    backup = a_backup("n", phase=BackupPhase.PARTIALLY_FAILED).with_status(
        start_timestamp=THEN, completion_timestamp=THEN + timedelta(seconds=192), errors=1, failure_reason="one failed"
    )
    good = a_transfer("a", TransferPhase.COMPLETED).with_status(result=TransferResult(size=2048))
    bad = a_transfer("b", TransferPhase.FAILED, volume=("shop", "db"), message="denied")
    job = backup_job(backup, [good, bad])

    assert ending(job, READER) == "Backup n: PartiallyFailed, after 3m12s, 1 of 2 volumes, 2.0 KiB, 1 error"
    assert failed_volumes(job) == ("shop/db: denied",)
    assert job.problems == ("one failed",)
    assert job.final


def test_what_is_being_deleted_is_not_at_its_end():
    job = backup_job(a_backup("n", phase=BackupPhase.COMPLETED).with_metadata(deletion_timestamp=THEN), [])

    assert (job.phase, job.final) == ("Deleting", False)


def a_restore(name, phase):
    restore = Restore(metadata=Metadata(name=name), spec=RestoreSpec(backup_name="nightly"))
    return restore.with_status(phase=phase)


def test_a_restore_is_a_job_too():
    assert restore_job(a_restore("r", RestorePhase.FAILED), []).word == "Restore"


def test_only_restores_that_still_run_depend_on_a_backup():
    restores = [a_restore("r1", RestorePhase.IN_PROGRESS), a_restore("r2", RestorePhase.COMPLETED)]

    assert dependents_of_backup("nightly", restores) == ["Restore r1 still reads from backup nightly."]
    assert dependents_of_backup("other", restores) == []


def test_many_dependents_are_counted_and_the_first_named():
    many = [a_restore(f"r{number}", RestorePhase.NEW) for number in range(7)]

    assert dependents_of_backup("nightly", many)[-1] == "2 more restores do too."
    assert dependents_of_target("store", [a_backup(f"b{number}") for number in range(7)]) == [
        "Target store holds 7 backups (b0, b1, b2, b3, b4, ...)."
    ]


def test_nothing_depends_on_what_is_empty():
    assert dependents_of_namespace("shop", [a_volume("blog", "db")]) == []
    assert dependents_of_target("other", [a_backup("b")]) == []


def test_a_backup_that_may_be_empty_says_at_the_end_that_it_holds_nothing():
    said = ending(backup_job(emptied(a_backup("n", phase=BackupPhase.COMPLETED)), []), READER)

    assert said == "Backup n: Completed: nothing was backed up: no volume is in namespace ns"


def test_a_backup_that_found_nothing_says_why_among_its_problems():
    backup = emptied(a_backup("n", phase=BackupPhase.PARTIALLY_FAILED))
    job = backup_job(backup.with_status(failure_reason="NothingMatched: nothing was backed up"), [])

    assert (ending(job, READER), job.problems) == (
        "Backup n: PartiallyFailed",
        ("NothingMatched: nothing was backed up",),
    )


def test_a_backup_that_found_only_some_of_what_it_names_says_what_is_missing():
    backup = a_backup("n", phase=BackupPhase.COMPLETED).with_status(
        unmatched=("no volume is in namespace x",), warnings=1
    )

    assert ending(backup_job(backup, []), READER) == "Backup n: Completed, 1 warning: no volume is in namespace x"

"""What a system backup does about each volume, and what it does next."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.system.backup import (
    backups_to_hand_over,
    backups_to_make,
    decide_volumes,
    failure_of,
    judge_backups,
    uploads_by_volume,
    volumes_as_they_are,
)
from tidegate.decide.volumes.last_backup import made_here, newest_uploads
from tidegate.model.backups.backup import BackupPhase, OnInterruption
from tidegate.model.system.system import SystemBackupVolume, VolumeBackupPolicy, VolumeDecision, VolumeOutcome
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, BACKUP_LABEL, TransferPhase
from tidegate.testing.resources.builders import THEN, a_backup, a_system_backup, a_transfer, a_volume

POLICY = VolumeBackupPolicy
DAY = timedelta(hours=24)
CREATED, REUSED, SKIPPED = VolumeDecision.CREATED, VolumeDecision.REUSED, VolumeDecision.SKIPPED


def an_upload(volume, phase=TransferPhase.COMPLETED, *, of="old", message="", began=THEN):
    namespace, _, name = volume.partition("/")
    upload = a_transfer(f"{of}-{name}", phase, owner=of, volume=(namespace, name), message=message)
    labels = {BACKUP_LABEL: f"uid-of-{of}", ATTEMPT_LABEL: "0"}
    return upload.with_metadata(labels=labels).with_status(start_timestamp=began)


@pytest.mark.parametrize(
    ("policy", "with_backup", "changed", "decision"),
    [
        (POLICY.IF_NOT_PRESENT, False, False, CREATED),
        (POLICY.IF_NOT_PRESENT, True, True, REUSED),
        (POLICY.ALWAYS, False, False, CREATED),
        (POLICY.ALWAYS, True, False, CREATED),
        (POLICY.DISABLED, False, False, SKIPPED),
        (POLICY.DISABLED, True, True, REUSED),
        (POLICY.IF_CHANGED, False, False, CREATED),
        (POLICY.IF_CHANGED, True, False, REUSED),
        (POLICY.IF_CHANGED, True, True, CREATED),
    ],
)
def test_the_policy_decides_about_a_volume(policy, with_backup, changed, decision):
    last = made_here([an_upload("shop/db")] if with_backup else [])
    changes = {"shop/db"} if changed else set()

    (row,) = decide_volumes(a_system_backup("s", policy), [a_volume("shop", "db")], last, changes)

    assert (row.volume, row.decision) == ("shop/db", decision)
    assert row.reason
    assert (row.stored is not None) == (decision is REUSED)


def test_a_volume_that_is_being_deleted_is_skipped_and_says_so():
    going = a_volume("shop", "db").with_metadata(deletion_timestamp=THEN)

    (row,) = decide_volumes(a_system_backup("s", POLICY.ALWAYS), [going], {}, set())

    assert (row.decision, row.reason) == (SKIPPED, "it is being deleted")


def test_an_upload_that_failed_or_is_being_deleted_is_no_backup_to_rely_on():
    failed = an_upload("shop/db", TransferPhase.FAILED)
    going = an_upload("shop/files").with_metadata(deletion_timestamp=THEN)

    assert newest_uploads([failed, going]) == {}


def test_the_newest_finished_upload_is_the_one_to_rely_on():
    old, new = an_upload("shop/db", of="a"), an_upload("shop/db", of="b", began=THEN + timedelta(hours=1))

    assert newest_uploads([new, old]) == newest_uploads([old, new]) == {"shop/db": new}


names = st.sampled_from([f"{namespace}/{name}" for namespace in ("a", "b", "c") for name in ("x", "y", "z")])


@given(volumes=st.sets(names), backed_up=st.sets(names), changed=st.sets(names), policy=st.sampled_from(POLICY))
def test_every_volume_gets_one_row_and_each_created_one_is_in_exactly_one_backup(volumes, backed_up, changed, policy):
    system = a_system_backup("s", policy)
    last = made_here([an_upload(name) for name in backed_up])
    rows = decide_volumes(system, [a_volume(*name.split("/")) for name in volumes], last, changed)

    made = backups_to_make(system.with_status(volumes=rows))
    included = [name for backup in made for name in backup.spec.included_volumes]
    assert [row.volume for row in rows] == sorted(volumes)
    assert sorted(included) == [row.volume for row in rows if row.decision is CREATED]
    assert len({backup.name for backup in made}) == len(made) == len(included)
    assert all(backup.spec.on_interruption is OnInterruption.REQUEUE for backup in made)
    assert made == backups_to_make(system.with_status(volumes=rows))


def waiting_for(*volumes, backup="b", requested=THEN):
    rows = tuple(
        SystemBackupVolume(volume=volume, decision=CREATED, backup=backup, state=VolumeOutcome.WAITING)
        for volume in volumes
    )
    return a_system_backup("s", volumes=rows, volumes_requested_at=requested)


@pytest.mark.parametrize(
    ("phase", "hours", "deadline", "overdue"),
    [
        (BackupPhase.QUEUED, 1, THEN + DAY, ()),
        (BackupPhase.IN_PROGRESS, 24, None, ("b",)),
        (BackupPhase.COMPLETED, 1, None, ()),
        (BackupPhase.FAILED, 1, None, ()),
        (BackupPhase.DELETING, 1, None, ()),
    ],
)
def test_a_backup_is_waited_for_until_it_ends_or_the_time_is_over(phase, hours, deadline, overdue):
    backups = {"b": a_backup("b", phase=phase)}
    verdict = judge_backups(waiting_for("shop/db"), backups, now=THEN + timedelta(hours=hours), limit=DAY)

    assert (verdict.deadline, verdict.overdue) == (deadline, overdue)


def begun(name, *, hours, ended=None):
    """A Backup that started so long after the system backup did."""
    times = {"start_timestamp": THEN + timedelta(hours=hours)}
    if ended is not None:
        times |= {"phase": BackupPhase.COMPLETED, "completion_timestamp": THEN + timedelta(hours=ended)}
    return a_backup(name, phase=BackupPhase.IN_PROGRESS).with_status(**times)


QUEUED = a_backup("b2", phase=BackupPhase.QUEUED)


@pytest.mark.parametrize(
    ("backups", "until"),
    [
        ([begun("b1", hours=2), QUEUED], 26),
        ([begun("b1", hours=2), begun("b2", hours=9)], 26),
        ([begun("b1", hours=2, ended=20), QUEUED], 44),
        ([begun("b1", hours=2, ended=20), begun("b2", hours=21)], 45),
    ],
)
def test_each_volume_has_the_whole_limit_from_when_its_turn_comes(backups, until):
    """They go one after the other where they share a namespace: the last must not pay for those before it."""
    rows = tuple(row for one in ("b1", "b2") for row in waiting_for(f"shop/{one}", backup=one).status.volumes)
    system = waiting_for("shop/db").with_status(volumes=rows)
    known = {backup.name: backup for backup in backups}

    def at(hours):
        return judge_backups(system, known, now=THEN + timedelta(hours=hours), limit=DAY)

    assert at(until - 1).deadline == THEN + timedelta(hours=until)
    assert (at(until).deadline, at(until).overdue[-1]) == (None, "b2")


def test_a_backup_that_is_gone_is_waited_for_no_longer():
    assert judge_backups(waiting_for("shop/db"), {}, now=THEN, limit=DAY).deadline is None


@pytest.mark.parametrize(
    ("backup", "upload", "state", "words"),
    [
        (None, None, "Failed", "was deleted"),
        (a_backup("b", phase=BackupPhase.QUEUED), None, "Waiting", "Queued"),
        (a_backup("b", phase=BackupPhase.IN_PROGRESS), TransferPhase.IN_PROGRESS, "InProgress", ""),
        (a_backup("b", phase=BackupPhase.IN_PROGRESS), TransferPhase.FAILED, "Failed", "the disk is gone"),
        (a_backup("b", phase=BackupPhase.PARTIALLY_FAILED), TransferPhase.COMPLETED, "Completed", ""),
        (a_backup("b", phase=BackupPhase.CANCELED), None, "Failed", "ended as Canceled"),
        (a_backup("b").with_status(phase=BackupPhase.COMPLETED, gone_volumes=("shop/db",)), None, "Failed", "its turn"),
        (
            a_backup("b").with_status(phase=BackupPhase.FAILED, unmatched=("volume shop/db does not exist",)),
            *(None, "Failed", "was deleted before its turn came"),
        ),
        (a_backup("b", phase=BackupPhase.COMPLETED), None, "Failed", "what backup b uploaded of it was deleted"),
    ],
)
def test_how_a_volume_stands_is_told_by_its_upload_and_else_by_its_backup(backup, upload, state, words):
    backups = {"b": backup} if backup else {}
    uploads = [an_upload("shop/db", upload, of="b", message="the disk is gone")] if upload else []
    rows = waiting_for("shop/db").status.volumes

    (row,) = volumes_as_they_are(rows, backups, uploads_by_volume(backups.values(), uploads))

    assert row.state == state
    assert words in row.message
    assert (row.stored is not None) == (state == "Completed")


def test_an_upload_of_an_attempt_that_was_interrupted_does_not_count():
    again = a_backup("b").with_status(attempt=1)

    assert uploads_by_volume([again], [an_upload("shop/db", of="b")]) == {}


def test_a_failure_names_the_volumes_and_counts_those_that_are_too_many_to_name():
    rows = [row.replace(state=VolumeOutcome.FAILED, message="no") for row in waiting_for("a/1", "a/2").status.volumes]

    assert failure_of([]) is None
    assert failure_of(rows) == "volume a/1: no; volume a/2: no"
    assert failure_of(rows * 5, limit=timedelta(hours=24)).startswith("not all volumes were backed up within 1d")
    assert "and 5 more volumes" in failure_of(rows * 5)


def test_backups_that_another_system_backup_relies_on_are_handed_over_to_it():
    made = waiting_for("shop/db")
    relies = a_system_backup("later", volumes=(SystemBackupVolume(volume="shop/db", decision=REUSED, backup="b"),))
    going = relies.with_metadata(name="going", uid="uid-of-going", deletion_timestamp=THEN)

    assert backups_to_hand_over({"b"}, made, [made, going, relies]) == {"b": relies}
    assert backups_to_hand_over({"b"}, made, [made, going]) == {}
    assert backups_to_hand_over(set(), made, [relies]) == {}

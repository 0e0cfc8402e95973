"""Which volumes are safe."""

from datetime import UTC, datetime, timedelta

import pytest

from tidegate.decide.volumes.last_backup import failure_since
from tidegate.decide.volumes.protection import promises, protection_by_namespace, protection_of, protection_of_all
from tidegate.model.backups.backup import BackupSpec
from tidegate.model.label_selector import LabelSelector
from tidegate.model.system.system import SystemBackupSpec
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.model.transfers.transfer_progress import TransferResult
from tidegate.model.volumes.protection import ProtectionState
from tidegate.testing.resources.builders import a_schedule, a_transfer, a_volume

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAILY = a_schedule("nightly", "0 2 * * *")
HOURLY = a_schedule("hourly", "0 * * * *", "shop")


def backed_up(hours, **status):
    """shop/db, whose last good backup ended so many hours ago; None means that it has none."""
    at = None if hours is None else NOW - timedelta(hours=hours)
    return a_volume("shop", "db", app="shop").with_status(last_backup_at=at, **status)


def judged(volume, *schedules, now=NOW):
    return protection_of(volume, promises([volume], schedules, now=now))


FAILED = {"last_failed_backup": "b2", "last_failure": "the disk is full"}
STATES = [
    ("good and young enough", backed_up(9), [DAILY], "Protected"),
    ("no backup of the night", backed_up(33), [DAILY], "Late"),
    ("no schedule at all", backed_up(1), [], "NoSchedule"),
    ("a schedule of other namespaces", backed_up(1), [a_schedule("blog", "@daily", "blog")], "NoSchedule"),
    ("only a paused schedule", backed_up(1), [DAILY.with_spec(paused=True)], "NoSchedule"),
    (
        "only a schedule of system backups",
        backed_up(1),
        [DAILY.with_spec(system_backup=SystemBackupSpec())],
        "NoSchedule",
    ),
    ("a schedule whose times make no sense", backed_up(1), [DAILY.with_spec(schedule="x")], "NoSchedule"),
    ("never, with a schedule", backed_up(None), [DAILY], "Never"),
    ("never, without one", backed_up(None), [], "Never"),
    ("the last one failed", backed_up(9, **FAILED), [DAILY], "FailedLast"),
    ("the last one failed, and no schedule", backed_up(9, **FAILED), [], "FailedLast"),
    ("its backup did not restore", backed_up(9, last_backup_doubt="block 7 is damaged"), [DAILY], "FailedLast"),
    ("late and failed", backed_up(50, **FAILED), [DAILY], "Late"),
    ("the strictest of its schedules counts", backed_up(4), [DAILY, HOURLY], "Late"),
]


@pytest.mark.parametrize(("volume", "schedules", "state"), [row[1:] for row in STATES], ids=[row[0] for row in STATES])
def test_only_a_good_backup_that_is_young_enough_for_its_schedule_protects(volume, schedules, state):
    assert judged(volume, *schedules).state == state


def at(hour, minute=0):
    return datetime(2026, 3, 10, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cron", "late_from"),
    [("0 2 * * *", at(8)), ("0 * * * *", at(3)), ("0 */4 * * *", at(5)), ("0 2 * * TUE", at(8))],
)
def test_late_begins_a_grace_after_the_time_that_was_missed(cron, late_from):
    """A quarter of the interval, but at least an hour and at most six: a week's backup is not late for two days."""
    volume = a_volume("shop", "db").with_status(last_backup_at=at(1, 30))
    schedule = a_schedule("s", cron)

    before, after = (judged(volume, schedule, now=late_from + timedelta(minutes=m)).state for m in (-1, 1))

    assert (before, after) == (ProtectionState.PROTECTED, ProtectionState.LATE)


SENTENCES = [
    (backed_up(9), [DAILY], "a good backup as young as promised by nightly"),
    (backed_up(1), [], "backed up once, no schedule"),
    (backed_up(1), [DAILY.with_spec(paused=True)], "backed up once, schedule nightly is paused"),
    (backed_up(50), [DAILY], "no good backup since schedule nightly was due at 2026-03-10T02:00+00:00"),
    (backed_up(9, **FAILED), [DAILY], "its last backup, b2, failed: the disk is full"),
    (backed_up(None), [DAILY], "never backed up"),
    (backed_up(None, **FAILED), [DAILY], "never backed up; its last backup, b2, failed: the disk is full"),
]


@pytest.mark.parametrize(("volume", "schedules", "sentence"), SENTENCES)
def test_each_verdict_says_why(volume, schedules, sentence):
    assert judged(volume, *schedules).message == sentence


def test_a_schedule_covers_only_the_volumes_that_its_labels_pick():
    template = BackupSpec(label_selector=LabelSelector(match_labels={"app": "blog"}))

    found = judged(backed_up(1), DAILY.with_spec(template=template))

    assert (found.state, found.schedules) == ("NoSchedule", ())


def test_all_volumes_are_counted_by_state():
    found = protection_of_all([backed_up(1), a_volume("blog", "posts")], [DAILY], now=NOW)

    assert {state: count for state, count in found.counts.items() if count} == {"Protected": 1, "Never": 1}
    assert [(one.volume, one.state) for one in found.volumes] == [("shop/db", "Protected"), ("blog/posts", "Never")]


def test_each_namespace_counts_its_volumes_by_state_the_worst_first():
    volumes = [backed_up(1), a_volume("blog", "posts"), a_volume("shop", "new")]

    found = protection_by_namespace(protection_of_all(volumes, [DAILY], now=NOW))

    assert {name: [f"{count} {state}" for state, count in counts.items()] for name, counts in found.items()} == {
        "shop": ["1 Never", "1 Protected"],
        "blog": ["1 Never"],
    }


def upload(name, hours, phase=TransferPhase.COMPLETED, left_out=()):
    result = TransferResult(url="u", size=1, new_bytes=1, left_out=left_out)
    one = a_transfer(
        name, phase, owner=f"of-{name}", message="the disk is full" if phase is TransferPhase.FAILED else ""
    )
    return one.with_status(completion_timestamp=NOW - timedelta(hours=hours), result=result)


@pytest.mark.parametrize(
    ("good_hours", "uploads", "backup"),
    [
        (5, [upload("bad", 3, TransferPhase.FAILED)], "of-bad"),
        (5, [upload("bad", 7, TransferPhase.FAILED)], None),
        (5, [upload("bad", 3, TransferPhase.CANCELED)], None),
        (3, [upload("half", 3, left_out=("secret",))], "of-half"),
        (None, [upload("a", 3, TransferPhase.FAILED), upload("b", 1, TransferPhase.FAILED)], "of-b"),
        (5, [], None),
    ],
)
def test_what_failed_counts_until_there_is_a_newer_good_backup(good_hours, uploads, backup):
    good_at = None if good_hours is None else NOW - timedelta(hours=good_hours)

    found = failure_since(good_at, uploads)

    assert (found.backup if found else None) == backup

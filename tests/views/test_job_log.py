"""What happened, in one row of lines."""

from datetime import timedelta

from tidegate.model.restores.restore import RestorePhase
from tidegate.model.transfers.transfer import PodVolumeRestore, TransferPhase, TransferResult
from tidegate.testing.resources.builders import THEN, a_restore, a_transfer
from tidegate.views.job_log import job_log


def minutes(count):
    return THEN + timedelta(minutes=count)


def test_the_lines_of_a_job_and_of_its_volumes_are_told_by_time():
    done = a_transfer("d1", TransferPhase.COMPLETED, kind=PodVolumeRestore, volume=("shop", "db")).with_status(
        accepted_timestamp=minutes(1),
        start_timestamp=minutes(2),
        completion_timestamp=minutes(5),
        result=TransferResult(warnings=("one file changed",)),
    )
    failed = a_transfer("d2", TransferPhase.FAILED, kind=PodVolumeRestore, volume=("", "pvc-1"), message="no space")
    failed = failed.with_status(start_timestamp=minutes(3), completion_timestamp=minutes(4))

    lines = job_log(a_restore("r", "shop", phase=RestorePhase.IN_PROGRESS), [done, failed])

    assert [(line.who, line.what, line.message) for line in lines] == [
        ("restore r", "Created", ""),
        ("shop/db", "Accepted", "d1"),
        ("shop/db", "Started", "from backup-0123456789abcdef in store to /data"),
        ("pvc-1", "Started", "from backup-0123456789abcdef in store to /data"),
        ("pvc-1", "Failed", "no space"),
        ("shop/db", "Warning", "one file changed"),
        ("shop/db", "Completed", ""),
    ]


def test_a_volume_that_waits_says_for_what():
    waiting = a_transfer("d", kind=PodVolumeRestore, volume=("shop", "db"))
    waiting = waiting.replace(status=waiting.status.waiting("RestoreLimit", "5 of 5", since=minutes(1)))

    assert job_log(a_restore("r", "shop"), [waiting])[-1].message == "RestoreLimit: 5 of 5"

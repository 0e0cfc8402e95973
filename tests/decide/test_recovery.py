"""What a server that starts puts right."""

import pytest

from tidegate.decide.recovery import INTERRUPTED, after_restart
from tidegate.model.backup import BackupPhase
from tidegate.model.transfer import TransferPhase
from tidegate.testing.builders import THEN, a_backup, a_transfer


@pytest.mark.parametrize("phase", [p for p in BackupPhase if p is not BackupPhase.IN_PROGRESS])
def test_a_backup_that_was_not_moving_is_left_as_it_was(phase):
    assert after_restart([a_backup("b", phase=phase, ticket=3)], now=THEN) == []


def test_a_backup_that_was_in_progress_fails_with_the_reason():
    (failed,) = after_restart([a_backup("b", phase=BackupPhase.IN_PROGRESS)], now=THEN)

    assert (failed.status.phase, failed.status.failure_reason) == (BackupPhase.FAILED, INTERRUPTED)
    assert failed.status.completion_timestamp == THEN


@pytest.mark.parametrize("phase", [TransferPhase.ACCEPTED, TransferPhase.PREPARED, TransferPhase.IN_PROGRESS])
def test_a_transfer_that_had_a_mover_is_stopped_and_cleared(phase):
    (stopping,) = after_restart([a_transfer("t", phase)], now=THEN)

    assert (stopping.status.phase, stopping.status.message) == (TransferPhase.CANCELING, INTERRUPTED)


def test_a_new_transfer_goes_with_its_failed_backup_and_stays_with_a_living_one():
    failed = a_backup("failed", phase=BackupPhase.IN_PROGRESS)
    orphan, child = a_transfer("orphan", owner="failed"), a_transfer("child", owner="waiting")

    changed = after_restart([failed, a_backup("waiting", phase=BackupPhase.QUEUED), orphan, child], now=THEN)

    assert [resource.name for resource in changed] == ["failed", "orphan"]


def test_running_it_again_changes_nothing_more():
    first = after_restart([a_backup("b", phase=BackupPhase.IN_PROGRESS), a_transfer("t", owner="b")], now=THEN)

    assert after_restart(first, now=THEN) == []

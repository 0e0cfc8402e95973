"""What a server that starts puts right."""

import pytest

from tidegate.decide.recovery import INTERRUPTED, after_restart, interrupted
from tidegate.model.backup import BackupPhase, OnInterruption
from tidegate.model.item_block import BlockPhase, BlockProgress, HookCall
from tidegate.model.transfer import TransferPhase
from tidegate.testing.builders import THEN, a_backup, a_transfer, freezing


@pytest.mark.parametrize("phase", [p for p in BackupPhase if p is not BackupPhase.IN_PROGRESS])
def test_a_backup_that_was_not_moving_is_left_as_it_was(phase):
    assert after_restart([a_backup("b", phase=phase, ticket=3)], now=THEN) == []


def test_a_backup_that_was_in_progress_fails_with_the_reason():
    (failed,) = after_restart([a_backup("b", phase=BackupPhase.IN_PROGRESS)], now=THEN)

    assert (failed.status.phase, failed.status.failure_reason) == (BackupPhase.FAILED, INTERRUPTED)
    assert failed.status.completion_timestamp == THEN


def frozen(*phases, **spec):
    """A backup under way, with one block in each of these phases, all with hooks."""
    calls = (HookCall(hook=0, namespace="shop", volumes=("db",)),)
    blocks = tuple(BlockProgress(volumes=(f"shop/{p}",), hooks=calls, phase=p) for p in phases)
    backup = a_backup("b", phase=BackupPhase.IN_PROGRESS, ticket=3).with_spec(hooks=freezing(), **spec)
    return backup.with_status(blocks=blocks)


@pytest.mark.parametrize("phase", [BlockPhase.PRE_HOOKS, BlockPhase.MOVING, BlockPhase.POST_HOOKS])
def test_a_backup_that_may_have_frozen_something_first_owes_its_post_hooks(phase):
    (owing, orphan) = after_restart([frozen(phase, BlockPhase.PENDING), a_transfer("t", owner="b")], now=THEN)

    assert (owing.status.phase, owing.status.interrupted) == (BackupPhase.IN_PROGRESS, True)
    assert [(block.volumes, block.phase) for block in owing.status.blocks] == [
        ((f"shop/{phase}",), BlockPhase.POST_HOOKS)
    ]
    assert orphan.status.phase is TransferPhase.CANCELING
    assert after_restart([owing, orphan], now=THEN) == []


def test_a_backup_whose_hooks_had_not_begun_owes_nothing():
    (failed,) = after_restart([frozen(BlockPhase.PENDING)], now=THEN)

    assert (failed.status.phase, failed.status.blocks) == (BackupPhase.FAILED, ())


def test_what_is_owed_once_done_the_backup_fails_or_is_queued_again():
    (owing,) = after_restart([frozen(BlockPhase.MOVING)], now=THEN)
    (again,) = after_restart([frozen(BlockPhase.MOVING, on_interruption=OnInterruption.REQUEUE)], now=THEN)

    failed, queued = interrupted(owing, now=THEN).status, interrupted(again, now=THEN).status

    assert (failed.phase, failed.failure_reason, failed.blocks) == (BackupPhase.FAILED, INTERRUPTED, ())
    assert (queued.phase, queued.queue_ticket, queued.attempt) == (BackupPhase.QUEUED, 3, 1)
    assert not failed.interrupted
    assert not queued.interrupted


@pytest.mark.parametrize("wish", list(OnInterruption))
def test_a_backup_that_was_being_cancelled_is_canceled_whatever_it_wished_for(wish):
    cancelled = a_backup("b", phase=BackupPhase.IN_PROGRESS).with_spec(cancel=True, on_interruption=wish)
    (ended,) = after_restart([cancelled], now=THEN)
    (owing,) = after_restart([frozen(BlockPhase.MOVING, cancel=True, on_interruption=wish)], now=THEN)

    assert (ended.status.phase, ended.status.completion_timestamp) == (BackupPhase.CANCELED, THEN)
    assert ended.status.failure_reason == f"cancelled on request; {INTERRUPTED}"
    assert (owing.status.phase, owing.status.interrupted) == (BackupPhase.IN_PROGRESS, True)
    assert interrupted(owing, now=THEN).status.phase is BackupPhase.CANCELED


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

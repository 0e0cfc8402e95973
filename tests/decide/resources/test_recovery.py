"""What a server that starts puts right."""

import pytest

from tidegate.decide.resources.recovery import INTERRUPTED, MOST_ATTEMPTS, after_restart, interrupted
from tidegate.decide.transfers.restore_limit import ASKED_ANNOTATION, IN_PROGRESS, RESTORE_PRIORITY_LABEL
from tidegate.model.backups.backup import BackupPhase, OnInterruption
from tidegate.model.backups.item_block import BlockPhase, BlockProgress, HookCall
from tidegate.model.restores.restore import RestorePhase
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, PodVolumeRestore, TransferPhase, TransferStatus
from tidegate.testing.resources.builders import THEN, a_backup, a_restore, a_transfer, freezing


@pytest.mark.parametrize("phase", [p for p in BackupPhase if p is not BackupPhase.IN_PROGRESS])
def test_a_backup_that_was_not_moving_is_left_as_it_was(phase):
    assert after_restart([a_backup("b", phase=phase, ticket=3)], now=THEN) == []


def test_a_backup_that_is_being_deleted_neither_fails_nor_queues_again_and_so_keeps_its_slot():
    deleting = a_backup("b", phase=BackupPhase.IN_PROGRESS).with_metadata(deletion_timestamp=THEN)

    assert after_restart([deleting.with_spec(on_interruption=OnInterruption.REQUEUE)], now=THEN) == []


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


def test_a_transfer_that_was_moving_is_stopped_and_cleared():
    (stopping,) = after_restart([a_transfer("t", TransferPhase.IN_PROGRESS)], now=THEN)

    assert (stopping.status.phase, stopping.status.message) == (TransferPhase.CANCELING, INTERRUPTED)
    assert stopping.status.canceling_timestamp == THEN


@pytest.mark.parametrize("phase", [TransferPhase.ACCEPTED, TransferPhase.PREPARED])
def test_an_upload_whose_mover_was_idle_begins_anew_at_its_old_place(phase):
    before = a_transfer("t", phase, node="n").with_status(accepted_timestamp=THEN, prepared_timestamp=THEN)

    (again,) = after_restart([before], now=THEN)

    assert again == before.replace(status=TransferStatus())
    assert again.metadata.creation_timestamp == before.metadata.creation_timestamp
    assert after_restart([again], now=THEN) == []


@pytest.mark.parametrize("phase", [TransferPhase.ACCEPTED, TransferPhase.PREPARED])
def test_an_idle_upload_of_a_backup_that_failed_is_stopped_with_it(phase):
    failed = a_backup("failed", phase=BackupPhase.IN_PROGRESS)

    _, stopping = after_restart([failed, a_transfer("t", phase, owner="failed")], now=THEN)

    assert stopping.status.phase is TransferPhase.CANCELING


def test_a_new_transfer_goes_with_its_failed_backup_and_stays_with_a_living_one():
    failed = a_backup("failed", phase=BackupPhase.IN_PROGRESS)
    orphan, child = a_transfer("orphan", owner="failed"), a_transfer("child", owner="waiting")

    changed = after_restart([failed, a_backup("waiting", phase=BackupPhase.QUEUED), orphan, child], now=THEN)

    assert [resource.name for resource in changed] == ["failed", "orphan"]


def test_running_it_again_changes_nothing_more():
    first = after_restart([a_backup("b", phase=BackupPhase.IN_PROGRESS), a_transfer("t", owner="b")], now=THEN)

    assert after_restart(first, now=THEN) == []


def a_download(phase, *, attempt=0, owner="r", **spec):
    download = a_transfer("d", phase, kind=PodVolumeRestore, owner=owner, node="node-a").with_spec(**spec)
    labels = {RESTORE_PRIORITY_LABEL: IN_PROGRESS, ATTEMPT_LABEL: str(attempt)}
    return download.with_metadata(labels=labels, annotations={ASKED_ANNOTATION: "17"}).with_status(
        accepted_timestamp=THEN, start_timestamp=THEN
    )


MOVED = [TransferPhase.ACCEPTED, TransferPhase.PREPARED, TransferPhase.IN_PROGRESS]


@pytest.mark.parametrize("phase", MOVED)
def test_a_restore_goes_on_and_its_downloads_begin_anew_with_their_old_priority(phase):
    restore = a_restore("r", "a", phase=RestorePhase.IN_PROGRESS)

    (again,) = after_restart([restore, a_download(phase)], now=THEN)

    status = again.status
    assert (status.phase, status.accepted_timestamp, status.start_timestamp, status.node) == (
        TransferPhase.NEW,
        None,
        None,
        None,
    )
    assert again.metadata.labels == {RESTORE_PRIORITY_LABEL: "17", ATTEMPT_LABEL: "1"}
    assert after_restart([restore, again], now=THEN) == []


@pytest.mark.parametrize("phase", MOVED)
def test_a_download_that_was_called_off_is_not_begun_anew(phase):
    (stopping,) = after_restart([a_download(phase, cancel=True)], now=THEN)

    assert stopping.status.phase is TransferPhase.CANCELING


def test_a_download_that_ends_every_server_fails_at_last():
    (stopping,) = after_restart([a_download(TransferPhase.IN_PROGRESS, attempt=MOST_ATTEMPTS - 1)], now=THEN)

    assert stopping.status.phase is TransferPhase.CANCELING
    assert stopping.status.message == f"{INTERRUPTED}, for the 5th time; it is not tried again"


def test_a_download_of_a_restore_that_is_over_is_stopped():
    over = a_restore("r", "a", phase=RestorePhase.CANCELED)

    (stopping,) = after_restart([over, a_download(TransferPhase.IN_PROGRESS)], now=THEN)

    assert stopping.status.phase is TransferPhase.CANCELING

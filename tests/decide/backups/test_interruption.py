"""What becomes of a backup that another server began."""

import pytest

from tidegate.decide.backups.interruption import awaits_takeover, broken_off, interrupted, is_interrupted
from tidegate.decide.transfers.takeover import INTERRUPTED
from tidegate.model.backups.backup import BackupPhase, OnInterruption
from tidegate.model.backups.item_block import BlockPhase, BlockProgress, HookCall
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.testing.resources.builders import THEN, a_backup, a_transfer, freezing

P = TransferPhase
MOVERS_END_WITH_THEIR_SERVER = None
WAITING = [BackupPhase.WAITING_FOR_PLUGIN_OPERATIONS, BackupPhase.WAITING_FOR_PLUGIN_OPERATIONS_PARTIALLY_FAILED]
RUNNING = a_backup("b", phase=BackupPhase.IN_PROGRESS)


def frozen(*phases, **spec):
    """A backup under way, with one block in each of these phases, all with hooks."""
    calls = (HookCall(hook=0, namespace="shop", volumes=("db",)),)
    blocks = tuple(BlockProgress(volumes=(f"shop/{p}",), hooks=calls, phase=p) for p in phases)
    backup = a_backup("b", phase=BackupPhase.IN_PROGRESS, ticket=3).with_spec(hooks=freezing(), **spec)
    return backup.with_status(blocks=blocks)


@pytest.mark.parametrize("phase", [BackupPhase.IN_PROGRESS, *WAITING])
def test_a_backup_under_way_awaits_that_this_server_looks_at_this_attempt(phase):
    backup = a_backup("b", phase=phase).with_metadata(uid="u").with_status(attempt=1)

    assert awaits_takeover(backup, {})
    assert awaits_takeover(backup, {"u": 0, "other": 1})
    assert not awaits_takeover(backup, {"u": 1})
    assert not awaits_takeover(backup.with_status(interrupted=True), {})
    assert not awaits_takeover(backup.with_status(phase=BackupPhase.FAILED), {})
    assert not awaits_takeover(backup.with_metadata(deletion_timestamp=THEN), {})


@pytest.mark.parametrize("phase", [p for p in BackupPhase if p is not BackupPhase.IN_PROGRESS])
def test_a_backup_that_was_not_moving_is_not_interrupted(phase):
    assert not is_interrupted(a_backup("b", phase=phase), [], movers=MOVERS_END_WITH_THEIR_SERVER)


def test_where_movers_end_with_their_server_every_backup_in_progress_is_interrupted():
    assert is_interrupted(RUNNING, [], movers=MOVERS_END_WITH_THEIR_SERVER)
    assert not is_interrupted(RUNNING.with_status(interrupted=True), [], movers=MOVERS_END_WITH_THEIR_SERVER)


@pytest.mark.parametrize("phase", WAITING)
@pytest.mark.parametrize("movers", [MOVERS_END_WITH_THEIR_SERVER, set()])
def test_one_that_has_left_its_slot_and_lost_its_snapshots_begins_anew_only_if_it_may(phase, movers):
    backup = a_backup("b", phase=phase)
    again = backup.with_spec(on_interruption=OnInterruption.REQUEUE)
    upload = a_transfer("t", P.PREPARED).with_status(from_snapshot=True)

    assert not is_interrupted(backup, [upload], movers=movers)
    assert is_interrupted(again, [upload], movers=movers)
    assert not is_interrupted(again.with_spec(cancel=True), [upload], movers=movers)


@pytest.mark.parametrize(
    ("phase", "from_snapshot", "lost"),
    [
        (P.NEW, False, False),
        (P.ACCEPTED, False, False),
        (P.PREPARED, False, False),
        (P.PREPARED, True, True),
        (P.IN_PROGRESS, False, True),
        (P.CANCELING, False, False),
        (P.COMPLETED, False, False),
        (P.FAILED, False, False),
    ],
)
def test_where_movers_go_on_a_backup_is_interrupted_if_one_that_had_begun_is_gone(phase, from_snapshot, lost):
    upload = a_transfer("t", phase).with_status(from_snapshot=from_snapshot)

    assert is_interrupted(RUNNING, [upload], movers=set()) == lost
    assert not is_interrupted(RUNNING, [upload], movers={upload.metadata.uid})


def test_where_movers_go_on_a_backup_is_interrupted_if_hooks_that_freeze_ended_with_their_server():
    assert is_interrupted(frozen(BlockPhase.PRE_HOOKS), [], movers=set())
    assert not is_interrupted(frozen(BlockPhase.MOVING), [], movers=set())
    assert not is_interrupted(frozen(BlockPhase.POST_HOOKS), [], movers=set())


def test_an_interrupted_backup_fails_with_the_reason():
    failed = broken_off(RUNNING, now=THEN)

    assert (failed.status.phase, failed.status.failure_reason) == (BackupPhase.FAILED, INTERRUPTED)
    assert failed.status.completion_timestamp == THEN


@pytest.mark.parametrize("phase", [BlockPhase.PRE_HOOKS, BlockPhase.MOVING, BlockPhase.POST_HOOKS])
def test_a_backup_that_may_have_frozen_something_first_owes_its_post_hooks(phase):
    owing = broken_off(frozen(phase, BlockPhase.PENDING), now=THEN)

    assert (owing.status.phase, owing.status.interrupted) == (BackupPhase.IN_PROGRESS, True)
    assert [(block.volumes, block.phase) for block in owing.status.blocks] == [
        ((f"shop/{phase}",), BlockPhase.POST_HOOKS)
    ]


def test_a_backup_whose_hooks_had_not_begun_owes_nothing():
    failed = broken_off(frozen(BlockPhase.PENDING), now=THEN)

    assert (failed.status.phase, failed.status.blocks) == (BackupPhase.FAILED, ())


def test_what_is_owed_once_done_the_backup_fails_or_is_queued_again():
    owing = broken_off(frozen(BlockPhase.MOVING), now=THEN)
    again = broken_off(frozen(BlockPhase.MOVING, on_interruption=OnInterruption.REQUEUE), now=THEN)

    failed, queued = interrupted(owing, now=THEN).status, interrupted(again, now=THEN).status

    assert (failed.phase, failed.failure_reason, failed.blocks) == (BackupPhase.FAILED, INTERRUPTED, ())
    assert (queued.phase, queued.queue_ticket, queued.attempt) == (BackupPhase.QUEUED, 3, 1)
    assert not failed.interrupted
    assert not queued.interrupted


@pytest.mark.parametrize("wish", list(OnInterruption))
def test_a_backup_that_was_being_cancelled_is_canceled_whatever_it_wished_for(wish):
    ended = broken_off(RUNNING.with_spec(cancel=True, on_interruption=wish), now=THEN)
    owing = broken_off(frozen(BlockPhase.MOVING, cancel=True, on_interruption=wish), now=THEN)

    assert (ended.status.phase, ended.status.completion_timestamp) == (BackupPhase.CANCELED, THEN)
    assert ended.status.failure_reason == f"cancelled on request; {INTERRUPTED}"
    assert (owing.status.phase, owing.status.interrupted) == (BackupPhase.IN_PROGRESS, True)
    assert interrupted(owing, now=THEN).status.phase is BackupPhase.CANCELED

"""What becomes of a backup that another server began.

It goes on if all that it needs goes on: its movers were adopted, and no hook that freezes ended with the server that
ran it. Else it is interrupted. A backup whose pre hooks may have run first gets its post hooks: an application must
not stay frozen because a server died. Then it fails, or is queued again at its old place.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime

from tidegate.decide.backups.block_hooks import has_hooks
from tidegate.decide.transfers.takeover import INTERRUPTED, lost_data
from tidegate.model.backups.backup import Backup, BackupPhase, OnInterruption
from tidegate.model.backups.hooks import HookStage
from tidegate.model.backups.item_block import BlockPhase, BlockProgress
from tidegate.model.reasons import Reason
from tidegate.model.transfers.transfer import Transfer

WAITING = frozenset(
    {BackupPhase.WAITING_FOR_PLUGIN_OPERATIONS, BackupPhase.WAITING_FOR_PLUGIN_OPERATIONS_PARTIALLY_FAILED}
)


def under_way(backup: Backup) -> bool:
    """Whether a server carries it, so that the next one must see whether it can."""
    return backup.status.phase is BackupPhase.IN_PROGRESS or backup.status.phase in WAITING


def awaits_takeover(backup: Backup, decided: Mapping[str, int]) -> bool:
    """Whether this server does not know yet if it goes on; what depends on it waits until then.

    `decided`: the attempts by uid that were decided before the backup was looked at: else the look may be older. One
    that is deleted ends its uploads anyway.
    """
    waits = under_way(backup) and not backup.status.interrupted and not backup.deleting
    return waits and decided.get(backup.metadata.uid) != backup.status.attempt


def is_interrupted(backup: Backup, uploads: Iterable[Transfer], *, movers: AbstractSet[str] | None) -> bool:
    """Whether it cannot go on as it is.

    `movers`: uids of the transfers whose movers go on; None where movers end with their server. There a backup in
    progress is always interrupted, so that what a person sees does not depend on the moment.
    """
    status = backup.status
    if status.phase is BackupPhase.IN_PROGRESS and not status.interrupted:
        pre_hooks = (b for b in status.blocks if b.phase is BlockPhase.PRE_HOOKS)
        if movers is None or any(has_hooks(backup.spec.hooks, block, HookStage.PRE) for block in pre_hooks):
            return True
    elif status.phase in WAITING and backup.spec.on_interruption is OnInterruption.REQUEUE and not backup.spec.cancel:
        if movers is None:
            return True  # its snapshots are gone
    else:
        return False
    return any(lost_data(one, has_mover=one.metadata.uid in (movers or ())) for one in uploads)


def broken_off(backup: Backup, *, now: datetime) -> Backup:
    """It is interrupted: first it gives its applications what it owes them."""
    owed = tuple(
        block.replace(phase=BlockPhase.POST_HOOKS) for block in backup.status.blocks if owes_post_hooks(backup, block)
    )
    if owed and backup.status.phase is BackupPhase.IN_PROGRESS:
        return backup.with_status(blocks=owed, interrupted=True, failure_reason=INTERRUPTED)
    return interrupted(backup, now=now)


def interrupted(backup: Backup, *, now: datetime) -> Backup:
    """What becomes of an interrupted backup once nothing is owed to its applications any more."""
    backup = backup.with_status(blocks=(), interrupted=False)
    if backup.spec.cancel:
        # It was to end: that the server stopped first is no failure to anyone.
        why = f"cancelled on request; {INTERRUPTED}"
        return backup.with_status(phase=BackupPhase.CANCELED, completion_timestamp=now, failure_reason=why)
    if backup.spec.on_interruption is OnInterruption.REQUEUE:
        return _queued_again(backup, now=now)
    return backup.with_status(phase=BackupPhase.FAILED, completion_timestamp=now, failure_reason=INTERRUPTED)


def owes_post_hooks(backup: Backup, block: BlockProgress) -> bool:
    """Return whether the applications of a block may be frozen."""
    return block.under_way and has_hooks(backup.spec.hooks, block, HookStage.POST)


def _queued_again(backup: Backup, *, now: datetime) -> Backup:
    """Back at its old place: the ticket stays."""
    status = backup.status.replace(
        phase=BackupPhase.QUEUED,
        attempt=backup.status.attempt + 1,
        progress=None,
        hook_status=None,
        gone_volumes=(),
        start_timestamp=None,
        expiration=None,
        errors=0,
        warnings=0,
        failure_reason=None,
    )
    return backup.replace(status=status.waiting(Reason.PENDING_EVALUATION, f"{INTERRUPTED}; queued again", since=now))

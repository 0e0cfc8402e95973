"""What a server that starts must put right, because the one before it stopped or died.

Queued keeps its place and ReadyToStart goes on: the controllers take them up as they are. What was moving bytes has
lost its mover (a mover stops when its server is gone), so it is told honestly. A backup whose pre hooks may have run
first gets its post hooks: an application must not stay frozen because a server died.

A restore goes on: in a disaster nobody should have to begin anew. A download can be repeated, because it writes beside
the destination or the same bytes over it, so it goes back to the place that it had; but not for ever.
"""

from collections.abc import Iterable
from datetime import datetime

from tidegate.decide.backups.block_hooks import has_hooks
from tidegate.decide.transfers.begin_anew import begun_anew
from tidegate.model.backups.backup import Backup, BackupPhase, OnInterruption
from tidegate.model.backups.hooks import HookStage
from tidegate.model.backups.item_block import BlockPhase, BlockProgress
from tidegate.model.reasons import Reason
from tidegate.model.resource import Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, Transfer, TransferPhase
from tidegate.model.verification.verification import Verification

INTERRUPTED = "the server stopped while this was in progress"
# A volume that ends every server which restores it must not do so for ever.
MOST_ATTEMPTS = 5

_UNDER_WAY = frozenset({BackupPhase.IN_PROGRESS})
_WAITING = frozenset(
    {BackupPhase.WAITING_FOR_PLUGIN_OPERATIONS, BackupPhase.WAITING_FOR_PLUGIN_OPERATIONS_PARTIALLY_FAILED}
)
_IDLE = frozenset({TransferPhase.ACCEPTED, TransferPhase.PREPARED})
_HAD_MOVER = _IDLE | {TransferPhase.IN_PROGRESS}


def after_restart(resources: Iterable[Resource], *, now: datetime) -> list[Backup | Transfer]:
    """The resources whose status, or labels, must change, changed. Running it twice changes nothing more.

    Uploads go to Canceling, not to an end: their controller first clears what the dead mover left in the store.
    Transfers come last, so that a crash in between leaves requests that are Failed, never ones that look alive.
    """
    found = list(resources)
    requests = [request for resource in found if (request := _request(resource, now=now)) is not None]
    # Those of a request that is queued again end too: it begins anew, with transfers of its own.
    ended = {request.metadata.uid for request in requests} | {r.metadata.uid for r in found if _is_over(r)}
    transfers = [transfer for resource in found if (transfer := _transfer(resource, ended, now=now)) is not None]
    return [*requests, *transfers]


def _request(resource: Resource, *, now: datetime) -> Backup | None:
    # Whoever takes one apart that is being deleted ends its uploads, runs what it owes, and frees its slot after that.
    if not isinstance(resource, Backup) or resource.deleting:
        return None
    if resource.status.phase in _UNDER_WAY and not resource.status.interrupted:
        owed = tuple(
            block.replace(phase=BlockPhase.POST_HOOKS)
            for block in resource.status.blocks
            if owes_post_hooks(resource, block)
        )
        if owed:
            return resource.with_status(blocks=owed, interrupted=True, failure_reason=INTERRUPTED)
        return interrupted(resource, now=now)
    if resource.status.phase in _WAITING and resource.spec.on_interruption is OnInterruption.REQUEUE:
        return None if resource.spec.cancel else interrupted(resource, now=now)  # its snapshots are gone
    return None


def interrupted(backup: Backup, *, now: datetime) -> Backup:
    """What becomes of a backup whose server stopped, once nothing is owed to its applications any more."""
    backup = backup.with_status(blocks=(), interrupted=False)
    if backup.spec.cancel:
        # Somebody wanted it to end: that the server stopped first is no failure to anyone.
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


def _is_over(resource: Resource) -> bool:
    if isinstance(resource, Backup) and resource.status.interrupted:
        return True
    return isinstance(resource, Backup | Restore | Verification) and resource.status.phase.final


def _transfer(resource: Resource, ended: set[str], *, now: datetime) -> Transfer | None:
    if not isinstance(resource, Transfer):
        return None
    phase = resource.status.phase
    orphaned = any(owner.uid in ended for owner in resource.metadata.owner_references)
    if phase in _IDLE and resource.direction == "upload" and not orphaned and not resource.status.from_snapshot:
        # Its mover had moved nothing and is gone.
        return begun_anew(resource)
    if resource.direction == "download" and phase in _HAD_MOVER and not orphaned:
        return _downloaded_again(resource, now=now)
    if phase in _HAD_MOVER or (phase is TransferPhase.NEW and orphaned):
        return resource.with_status(phase=TransferPhase.CANCELING, message=INTERRUPTED, canceling_timestamp=now)
    return None


def _downloaded_again(download: Transfer, *, now: datetime) -> Transfer:
    """Back to where it was before a gate let it through, with the priority that it had."""
    attempt = int(download.metadata.labels.get(ATTEMPT_LABEL, "0")) + 1
    if download.spec.cancel or download.deleting:
        return download.with_status(phase=TransferPhase.CANCELING, message=INTERRUPTED, canceling_timestamp=now)
    if attempt >= MOST_ATTEMPTS:
        message = f"{INTERRUPTED}, for the {attempt}th time; it is not tried again"
        return download.with_status(phase=TransferPhase.CANCELING, message=message, canceling_timestamp=now)
    again = begun_anew(download, f"{INTERRUPTED}; it begins anew")
    return again.with_metadata(labels={**again.metadata.labels, ATTEMPT_LABEL: str(attempt)})

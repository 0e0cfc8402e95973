"""What becomes of a transfer that another server began, now that this one knows which movers go on.

A mover that goes on is adopted and changes nothing. One that is gone was lost with its server: an upload that had moved
nothing and every download begin anew, because a download writes beside the destination, or the same bytes over it; but
not for ever. Other uploads are stopped, so that what they left in the store is removed first. A request that is over
takes its transfers with it, also those that have a mover.
"""

from datetime import datetime
from typing import TypeVar

from tidegate.decide.transfers.begin_anew import begun_anew
from tidegate.model.backups.backup import Backup
from tidegate.model.restores.restore import Restore
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, Transfer, TransferPhase
from tidegate.model.verification.verification import Verification

Request = Backup | Restore | Verification
T = TypeVar("T", bound=Transfer)

INTERRUPTED = "the server stopped while this was in progress"
# A volume that ends every server which restores it must not do so for ever.
MOST_ATTEMPTS = 5

_IDLE = frozenset({TransferPhase.ACCEPTED, TransferPhase.PREPARED})
_HAS_MOVER = _IDLE | {TransferPhase.IN_PROGRESS}


def lost_data(upload: Transfer, *, has_mover: bool) -> bool:
    """Whether the upload cannot go on: its mover had begun to move, or held the snapshot that it was to read."""
    begun = upload.status.phase is TransferPhase.IN_PROGRESS or upload.status.from_snapshot
    return upload.status.phase in _HAS_MOVER and begun and not has_mover


def taken_over(transfer: T, request: Request | None, *, has_mover: bool, now: datetime) -> T:
    """The transfer as it goes on; unchanged if nothing was lost.

    `request` is what it belongs to, once it is known whether that goes on; None: nothing that is stored.
    """
    phase = transfer.status.phase
    if request is not None and _is_over(request, transfer):
        return _stopped(transfer, now=now) if phase in _HAS_MOVER | {TransferPhase.NEW} else transfer
    if has_mover or phase not in _HAS_MOVER:
        return transfer
    if transfer.direction == "download":
        return _downloaded_again(transfer, now=now)
    return _stopped(transfer, now=now) if lost_data(transfer, has_mover=False) else begun_anew(transfer)


def _is_over(request: Request, transfer: Transfer) -> bool:
    if request.status.phase.final:
        return True
    if not isinstance(request, Backup):
        return False
    # A backup that was queued again begins anew, with uploads of its own.
    attempt = str(request.status.attempt)
    return request.status.interrupted or transfer.metadata.labels.get(ATTEMPT_LABEL, attempt) != attempt


def _stopped(transfer: T, message: str = INTERRUPTED, *, now: datetime) -> T:
    return transfer.with_status(phase=TransferPhase.CANCELING, message=message, canceling_timestamp=now)


def _downloaded_again(download: T, *, now: datetime) -> T:
    """Back to where it was before a gate let it through, with the priority that it had."""
    attempt = int(download.metadata.labels.get(ATTEMPT_LABEL, "0")) + 1
    if download.spec.cancel or download.deleting:
        return _stopped(download, now=now)
    if attempt >= MOST_ATTEMPTS:
        return _stopped(download, f"{INTERRUPTED}, for the {attempt}th time; it is not tried again", now=now)
    again = begun_anew(download, f"{INTERRUPTED}; it begins anew")
    return again.with_metadata(labels={**again.metadata.labels, ATTEMPT_LABEL: str(attempt)})

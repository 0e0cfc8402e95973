"""A transfer that goes back to where it was before a gate let it through."""

from typing import TypeVar

from tidegate.decide.transfers.restore_limit import ASKED_ANNOTATION, RESTORE_PRIORITY_LABEL
from tidegate.model.transfers.transfer import Transfer, TransferPhase

T = TypeVar("T", bound=Transfer)


def begun_anew(transfer: T, message: str = "") -> T:
    """New again, with the place that it had: that of an upload is the time it was asked for, a download's its label."""
    status = transfer.status.no_longer_waiting().replace(
        phase=TransferPhase.NEW,
        message=message,
        node=None,
        accepted_timestamp=None,
        prepared_timestamp=None,
        from_snapshot=False,
        start_timestamp=None,
        progress=None,
    )
    transfer = transfer.replace(status=status)
    asked = transfer.metadata.annotations.get(ASKED_ANNOTATION)
    if transfer.direction == "upload" or not asked:
        return transfer
    return transfer.with_metadata(labels={**transfer.metadata.labels, RESTORE_PRIORITY_LABEL: asked})

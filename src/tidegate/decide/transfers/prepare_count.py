"""How many transfers are being prepared, counted again only after a change that can have made a difference.

The kinds of change are those of Velero's load soothing: to Accepted; from Accepted to an end; from Prepared to an end;
from Prepared to InProgress. Added: a transfer that comes into sight as Prepared, and one that vanishes. Both are how a
count that listens to changes only goes wrong for ever.
"""

from tidegate.model.transfers.transfer import TRANSFERS, TransferPhase

PREPARING = frozenset({TransferPhase.ACCEPTED, TransferPhase.PREPARED})

KINDS = tuple(str(kind.model_fields["kind"].default) for kind in TRANSFERS)


def changes_count(before: TransferPhase | None, after: TransferPhase | None) -> bool:
    """Whether the count may differ after this step; None is "not there"."""
    if before is after:
        return False
    if before is TransferPhase.ACCEPTED and after is TransferPhase.PREPARED:
        return False
    return before in PREPARING or after in PREPARING

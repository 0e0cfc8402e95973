"""How many transfers are being prepared, counted again only after a change that can have made a difference.

The kinds of change are those of Velero's load soothing: to Accepted; from Accepted to an end; from Prepared to an end;
from Prepared to InProgress. Added: a transfer that comes into sight as Prepared, and one that vanishes. Both are how a
count that listens to changes only goes wrong for ever.
"""

from collections import Counter
from collections.abc import Callable

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


class PrepareCount:
    """The number of each kind, remembered until it is out of date."""

    def __init__(self) -> None:
        self.recounts = 0
        """How often anything was counted: for benches and metrics."""
        self._numbers: Counter[str] = Counter()
        self._out_of_date = set(KINDS)

    def note(self, kind: str, before: TransferPhase | None, after: TransferPhase | None) -> None:
        """A transfer of this kind took this step."""
        if changes_count(before, after):
            self._out_of_date.add(kind)

    def by_kind(self, count: Callable[[str], int]) -> Counter[str]:
        """The numbers as they are. Where `count` fails, so does this: a failed count is never taken for zero."""
        for kind in sorted(self._out_of_date):
            self._numbers[kind] = count(kind)
            self._out_of_date.discard(kind)
            self.recounts += 1
        return self._numbers

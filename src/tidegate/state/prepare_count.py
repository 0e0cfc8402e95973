"""How many transfers are being prepared, counted again only after a change that can have made a difference."""

from collections import Counter
from collections.abc import Callable

from tidegate.decide.transfers.prepare_count import KINDS, changes_count
from tidegate.model.transfers.transfer import TransferPhase


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

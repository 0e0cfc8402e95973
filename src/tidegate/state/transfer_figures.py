"""Transfers as numbers, kept up to date change by change: what a scrape needs of them all, those that are over too.

Holds nothing that the stored resources do not say, and forgets what is gone.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tidegate.model.resource import Ref
from tidegate.model.transfers.transfer import Transfer, TransferPhase


class _Figure(NamedTuple):
    phase: TransferPhase
    stalled: bool
    direction: str
    moving_bytes: int


class TransferFigures:
    """All transfers that are stored, whatever their phase."""

    def __init__(self) -> None:
        self.phases: Counter[TransferPhase] = Counter()
        self.stalled = 0
        """Those that make no progress."""
        self.moving_bytes: Counter[str] = Counter(upload=0, download=0)
        """What those that move have done, by direction."""
        self._known: dict[Ref, _Figure] = {}

    def note(self, transfer: Transfer) -> None:
        """The transfer is now like this."""
        status = transfer.status
        done = status.progress.bytes_done if status.phase.moving and status.progress else 0
        figure = _Figure(status.phase, status.condition("Stalled") is not None, transfer.direction, done)
        self.forget(transfer.ref)
        self._known[transfer.ref] = figure
        self._count(figure, 1)

    def forget(self, ref: Ref) -> None:
        """The transfer is gone."""
        figure = self._known.pop(ref, None)
        if figure is not None:
            self._count(figure, -1)

    def replace_all(self, kind: str, transfers: Iterable[Transfer]) -> None:
        """These are all that exist of a kind."""
        for ref in [ref for ref in self._known if ref.kind == kind]:
            self.forget(ref)
        for transfer in transfers:
            self.note(transfer)

    def _count(self, figure: _Figure, one: int) -> None:
        self.phases[figure.phase] += one
        self.stalled += one * figure.stalled
        self.moving_bytes[figure.direction] += one * figure.moving_bytes

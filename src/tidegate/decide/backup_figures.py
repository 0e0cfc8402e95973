"""Backups as numbers, kept up to date change by change: what metrics tell without reading every record again.

Holds nothing that the stored resources do not say, and forgets what is gone.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from tidegate.model.backup import Backup, BackupPhase

WAIT_BUCKETS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 12 * 3600.0, 24 * 3600.0)
"""Upper ends, in seconds: from a queue that nobody notices to one that misses its night."""


class _Figure(NamedTuple):
    phase: BackupPhase
    queued_at: datetime | None
    waited: float | None
    """Seconds from joining the queue to the start."""

    @classmethod
    def of(cls, backup: Backup) -> "_Figure":
        status = backup.status
        if status.phase is BackupPhase.QUEUED:
            return cls(status.phase, status.queued_at, None)
        if status.queued_at is None or status.start_timestamp is None:
            return cls(status.phase, None, None)
        return cls(status.phase, None, max((status.start_timestamp - status.queued_at).total_seconds(), 0.0))


class BackupFigures:
    """All backups that are stored, whatever their phase."""

    def __init__(self) -> None:
        self.phases: Counter[BackupPhase] = Counter()
        self._known: dict[str, _Figure] = {}
        self._waits: Counter[int] = Counter()

    def note(self, backup: Backup) -> None:
        """The backup is now like this."""
        figure = _Figure.of(backup)
        if self._known.get(backup.name) != figure:
            self.forget(backup.name)
            self._known[backup.name] = figure
            self._count(figure, 1)

    def forget(self, name: str) -> None:
        """The backup is gone."""
        figure = self._known.pop(name, None)
        if figure is not None:
            self._count(figure, -1)

    def replace_all(self, backups: Iterable[Backup]) -> None:
        """These are all that exist."""
        gone = set(self._known)
        for backup in backups:
            gone.discard(backup.name)
            self.note(backup)
        for name in gone:
            self.forget(name)

    def queued_since(self) -> datetime | None:
        """When the one that waits longest joined the queue."""
        return min((figure.queued_at for figure in self._known.values() if figure.queued_at), default=None)

    def waits(self) -> tuple[list[tuple[str, int]], float]:
        """How many waited at most so long, by upper end, the last without one; and all waits together, in seconds."""
        ends = [*(f"{end:g}" for end in WAIT_BUCKETS), "+Inf"]
        counts = [sum(self._waits[place] for place in range(last + 1)) for last in range(len(ends))]
        together = sum(figure.waited for figure in self._known.values() if figure.waited)
        return list(zip(ends, counts, strict=True)), together

    def _count(self, figure: _Figure, one: int) -> None:
        self.phases[figure.phase] += one
        if figure.waited is not None:
            self._waits[bisect_left(WAIT_BUCKETS, figure.waited)] += one

"""Backups as numbers, kept up to date change by change: what metrics and forecasts need of them all, the old ones too.

Holds nothing that the stored resources do not say, and forgets what is gone.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from tidegate.decide.queue.figures import WAIT_BUCKETS, Figure, LastRuns
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.state.durations import Durations


class BackupFigures:
    """All backups that are stored, whatever their phase."""

    def __init__(self) -> None:
        self.phases: Counter[BackupPhase] = Counter()
        self.durations = Durations()
        """Of those that ended well, by what they are."""
        self._known: dict[str, Figure] = {}
        self._waits: Counter[int] = Counter()

    def note(self, backup: Backup) -> None:
        """The backup is now like this."""
        figure = Figure.of(backup)
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
        waiting = (figure.queued_at for figure in self._known.values() if figure.phase is BackupPhase.QUEUED)
        return min((since for since in waiting if since), default=None)

    def of(self, name: str) -> Figure | None:
        """What is known of one."""
        return self._known.get(name)

    def last_runs(self) -> dict[str, LastRuns]:
        """By schedule, of schedules that have backups."""
        runs: dict[str, LastRuns] = {}
        for figure in self._known.values():
            if figure.schedule:
                before = runs.get(figure.schedule, LastRuns(figure, None))
                good = figure.ended if figure.phase is BackupPhase.COMPLETED and not figure.empty else None
                succeeded_at = max((at for at in (before.succeeded_at, good) if at is not None), default=None)
                runs[figure.schedule] = LastRuns(max(before.newest, figure, key=_asked_at), succeeded_at)
        return runs

    def waits(self) -> tuple[list[tuple[str, int]], float]:
        """How many waited at most so long, by upper end, the last without one; and all waits together, in seconds."""
        ends = [*(f"{end:g}" for end in WAIT_BUCKETS), "+Inf"]
        counts = [sum(self._waits[place] for place in range(last + 1)) for last in range(len(ends))]
        together = sum(figure.waited for figure in self._known.values() if figure.waited)
        return list(zip(ends, counts, strict=True)), together

    def _count(self, figure: Figure, one: int) -> None:
        self.phases[figure.phase] += one
        if figure.waited is not None:
            self._waits[bisect_left(WAIT_BUCKETS, figure.waited)] += one
        if figure.took is not None:
            (self.durations.note if one > 0 else self.durations.forget)(figure.likeness, figure.took)


def _asked_at(figure: Figure) -> float:
    return figure.created.timestamp() if figure.created else 0.0

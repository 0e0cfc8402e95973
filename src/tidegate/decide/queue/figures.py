"""Backups as numbers, kept up to date change by change: what metrics and forecasts need of them all, the old ones too.

Holds nothing that the stored resources do not say, and forgets what is gone.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from sys import intern
from typing import NamedTuple

from tidegate.decide.queue.durations import Durations
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.schedules.schedule import SCHEDULE_LABEL

WAIT_BUCKETS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 12 * 3600.0, 24 * 3600.0)
"""Upper ends, in seconds: from a queue that nobody notices to one that misses its night."""

_ENDED_WELL = frozenset({BackupPhase.COMPLETED, BackupPhase.PARTIALLY_FAILED})


class Figure(NamedTuple):
    """What is remembered of one backup: little, for there may be very many."""

    phase: BackupPhase
    likeness: str
    """What it is: its schedule, or its namespaces. Alike ones take about as long."""
    schedule: str
    created: datetime | None
    queued_at: datetime | None
    began: datetime | None
    ended: datetime | None
    empty: bool = False
    """Whether no volume was there for it: it tells neither that all is well nor how long others take."""

    @classmethod
    def of(cls, backup: Backup) -> "Figure":
        """What matters of a stored backup."""
        status, spec = backup.status, backup.spec
        schedule = backup.metadata.labels.get(SCHEDULE_LABEL, "")
        namespaces = f"namespaces {sorted(spec.included_namespaces)} but {sorted(spec.excluded_namespaces)}"
        return cls(
            phase=status.phase,
            likeness=intern(f"schedule {schedule}" if schedule else namespaces),
            schedule=intern(schedule),
            created=backup.metadata.creation_timestamp,
            queued_at=status.queued_at,
            began=status.start_timestamp,
            ended=status.completion_timestamp,
            empty=backup.holds_nothing,
        )

    @property
    def waited(self) -> float | None:
        """Seconds from joining the queue to the start."""
        if self.phase is BackupPhase.QUEUED or self.queued_at is None or self.began is None:
            return None
        return max((self.began - self.queued_at).total_seconds(), 0.0)

    @property
    def took(self) -> float | None:
        """Seconds in its slot, for one that ended well."""
        if self.phase not in _ENDED_WELL or self.empty or self.began is None or self.ended is None:
            return None
        return (self.ended - self.began).total_seconds()


class LastRuns(NamedTuple):
    """What came of the backups of one schedule."""

    newest: Figure
    succeeded_at: datetime | None
    """When the newest one that is Completed, and holds something, ended."""


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

"""Which backups of a schedule may go, and why each of the others is kept.

A backup is kept if any rule keeps it. A rule walks from the newest to the oldest and keeps the newest one of each
period (hour, day, week, ...) until it has its number; periods without a backup do not use it up. The time of a backup
is when it was asked for: time spent in the queue must not move last night's backup into today.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.schedules.retention import Retention
from tidegate.model.transfers.transfer import ALL_REMOVED, DATA_REMOVED

# As long as any backup is kept by default: long enough to find out why it failed.
UNSUCCESSFUL_KEPT_FOR = timedelta(days=30)

_LONG_AGO = datetime(1970, 1, 2, tzinfo=UTC)
_GOOD = frozenset({BackupPhase.COMPLETED, BackupPhase.PARTIALLY_FAILED})

# What two backups of the same period have in common. `fold` tells the two hours apart that the clocks' change repeats.
_PERIODS: tuple[tuple[str, Callable[[datetime], Hashable]], ...] = (
    ("hourly", lambda local: (local.date(), local.hour, local.fold)),
    ("daily", lambda local: local.date()),
    ("weekly", lambda local: local.isocalendar()[:2]),
    ("monthly", lambda local: (local.year, local.month)),
    ("yearly", lambda local: local.year),
)


@dataclass(frozen=True)
class Kept:
    """A backup that stays."""

    name: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class RetentionPlan:
    """Both newest first."""

    delete: tuple[str, ...]
    keep: tuple[Kept, ...]


def plan_retention(backups: Sequence[Backup], retention: Retention, zone: tzinfo, *, now: datetime) -> RetentionPlan:
    """Judge all backups of one schedule. Without any rule nothing is deleted."""
    ordered = sorted(backups, key=lambda backup: (asked_at(backup), backup.name), reverse=True)
    reasons: dict[str, list[str]] = {backup.name: [] for backup in ordered}
    good = [
        backup
        for backup in ordered
        if _holds_something(backup) and not backup.deleting and _removed(backup) != ALL_REMOVED
    ]
    _keep_by_rules(good, retention, zone, reasons)
    for backup in ordered:
        reasons[backup.name] += _own_reasons(backup, now)
        if not retention.keeps_something:
            reasons[backup.name].append("no rule")
    return RetentionPlan(
        delete=tuple(name for name, found in reasons.items() if not found),
        keep=tuple(Kept(name, tuple(found)) for name, found in reasons.items() if found),
    )


def asked_at(backup: Backup) -> datetime:
    """The time that counts for retention."""
    return backup.metadata.creation_timestamp or _LONG_AGO


def _keep_by_rules(good: list[Backup], retention: Retention, zone: tzinfo, reasons: dict[str, list[str]]) -> None:
    # Whatever the rules say: a schedule never deletes what it would be restored from today.
    for backup in good[:1]:
        reasons[backup.name].append("newest")
    whole = [backup for backup in good if backup.status.phase is BackupPhase.COMPLETED and not _removed(backup)]
    for backup in whole[:1]:
        if backup is not good[0]:
            reasons[backup.name].append("newest without failures")
    for place, backup in enumerate(good[: retention.keep_last or 0], start=1):
        reasons[backup.name].append(f"last {place}")
    for word, period_of in _PERIODS:
        seen: set[Hashable] = set()
        wanted = getattr(retention, f"keep_{word}") or 0
        for backup in good:
            period = period_of(asked_at(backup).astimezone(zone))
            if len(seen) < wanted and period not in seen:
                seen.add(period)
                reasons[backup.name].append(f"{word} {len(seen)}")


def _holds_something(backup: Backup) -> bool:
    """One that is over and for which no volume was there must not take the place of one that holds data."""
    return backup.status.phase in _GOOD and not backup.holds_nothing


def _removed(backup: Backup) -> str:
    """How much of what it holds somebody has deleted from the store since; empty if nothing."""
    condition = backup.status.condition(DATA_REMOVED)
    return condition.reason if condition else ""


def _own_reasons(backup: Backup, now: datetime) -> list[str]:
    """What keeps it besides the rules."""
    found = []
    if backup.pinned:
        found.append("pinned")
    if backup.deleting:
        found.append("being deleted already")
    elif not backup.status.phase.final:
        found.append("not finished")
    elif not _holds_something(backup) and now - asked_at(backup) < UNSUCCESSFUL_KEPT_FOR:
        found.append("shows that nothing matched" if backup.holds_nothing else "shows what failed")
    return found

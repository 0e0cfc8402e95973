"""Whether each volume is safe: it has a good backup, young enough for the schedules that cover it.

Pure, and the only place that decides it: every surface shows what comes from here.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from tidegate.decide.volumes.last_backup import full_name
from tidegate.decide.volumes.selection import volumes_to_back_up
from tidegate.model.schedules.cron import Cron
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.volumes.protection import ProtectedVolume, Protection, ProtectionState, VolumeProtection
from tidegate.model.volumes.volume import Volume

# A backup takes its time in the queue and to run; only so long after its time is one that is not there late.
_SHORTEST_GRACE = timedelta(hours=1)
_LONGEST_GRACE = timedelta(hours=6)
_SHARE_OF_INTERVAL = 4
_LONG_AGO = timedelta(days=3660)
_WORST_FIRST = tuple(reversed(ProtectionState))


@dataclass(frozen=True)
class Promise:
    """What one schedule promises to the volumes that it covers."""

    schedule: str
    covers: frozenset[str]
    paused: bool
    due: datetime | None
    """The newest of its times for which a good backup must be there by now; None if there is none."""


def protection_of_all(volumes: Sequence[Volume], schedules: Iterable[Schedule], *, now: datetime) -> Protection:
    """Judge every volume."""
    found = promises(volumes, schedules, now=now)
    judged = [ProtectedVolume(volume=full_name(volume), **dict(protection_of(volume, found))) for volume in volumes]
    counts = Counter(one.state for one in judged)
    return Protection(counts={state: counts[state] for state in ProtectionState}, volumes=tuple(judged))


def protection_by_namespace(judged: Protection) -> dict[str, dict[ProtectionState, int]]:
    """How many volumes of each namespace are in each state; states without any are left out, from worst to best."""
    found: dict[str, Counter[ProtectionState]] = defaultdict(Counter)
    for one in judged.volumes:
        found[one.volume.partition("/")[0]][one.state] += 1
    return {name: {state: counts[state] for state in _WORST_FIRST if counts[state]} for name, counts in found.items()}


def promises(volumes: Sequence[Volume], schedules: Iterable[Schedule], *, now: datetime) -> list[Promise]:
    """What the schedules promise to these volumes.

    One of system backups promises an archive, not that each volume is backed up anew; one whose times make no sense
    promises nothing.
    """
    found = []
    for schedule in sorted(schedules, key=lambda one: one.name):
        if schedule.deleting or schedule.spec.system_backup is not None:
            continue
        try:
            cron = Cron.read(schedule.spec.schedule, schedule.spec.timezone)
        except ValueError:
            continue
        names = (full_name(one) for one in volumes_to_back_up(schedule.spec.template, volumes))
        found.append(Promise(schedule.name, frozenset(names), schedule.spec.paused, _due(cron, now)))
    return found


def protection_of(volume: Volume, promised: Iterable[Promise]) -> VolumeProtection:
    """Judge one volume; the worst that is true of it is what is told."""
    name = full_name(volume)
    covering = [promise for promise in promised if name in promise.covers]
    active = [promise for promise in covering if not promise.paused]
    state, message = _judged(volume, active, paused=[one.schedule for one in covering if one.paused])
    return VolumeProtection(state=state, message=message, schedules=tuple(one.schedule for one in active))


def _judged(volume: Volume, active: Sequence[Promise], *, paused: Sequence[str]) -> tuple[ProtectionState, str]:
    status = volume.status
    failed = f"its last backup, {status.last_failed_backup}, failed: {status.last_failure}"
    if status.last_backup_at is None:
        return ProtectionState.NEVER, f"never backed up; {failed}" if status.last_failure else "never backed up"
    if status.last_backup_doubt:
        return ProtectionState.FAILED_LAST, status.last_backup_doubt
    missed = [(one.due, one.schedule) for one in active if one.due is not None and status.last_backup_at < one.due]
    if missed:
        due, schedule = max(missed)
        when = due.astimezone(UTC).isoformat(timespec="minutes")
        late = f"no good backup since schedule {schedule} was due at {when}"
        return ProtectionState.LATE, f"{late}; {failed}" if status.last_failure else late
    if status.last_failure:
        return ProtectionState.FAILED_LAST, failed
    if not active:
        why = f"schedule {paused[0]} is paused" if paused else "no schedule"
        return ProtectionState.NO_SCHEDULE, f"backed up once, {why}"
    return ProtectionState.PROTECTED, f"a good backup as young as promised by {', '.join(o.schedule for o in active)}"


def _due(cron: Cron, now: datetime) -> datetime | None:
    coming = list(islice(cron.after(now), 2))
    if len(coming) < 2:  # noqa: PLR2004  # an interval has two ends
        return None
    interval = coming[1].astimezone(UTC) - coming[0].astimezone(UTC)
    grace = min(max(interval / _SHARE_OF_INTERVAL, _SHORTEST_GRACE), _LONGEST_GRACE)
    return cron.last_between(now - _LONG_AGO, now - grace)

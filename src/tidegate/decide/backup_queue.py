"""Which waiting backups may start now, and why the others may not.

Pure. The whole queue is judged in one pass, so the answer never depends on whose event woke us. Running comes from
stored phases: there is no counter that could leak (velero#10519, velero#9493).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidegate.decide.overlap import ALL_OTHERS, Scope, resolve_scope, universe_of
from tidegate.model.backup import Backup, BackupPhase
from tidegate.model.reasons import Reason


@dataclass(frozen=True)
class Contender:
    """One backup as far as the queue cares."""

    name: str
    scope: Scope
    target: str = ""


@dataclass(frozen=True)
class QueueSnapshot:
    """What runs, and what waits in the order of its tickets."""

    running: tuple[Contender, ...]
    waiting: tuple[Contender, ...]
    unavailable_targets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Waiting:
    """Why one backup does not start: one reason, the most telling one."""

    name: str
    position: int
    reason: Reason
    message: str
    blocked_by: str | None = None


@dataclass(frozen=True)
class AdmissionPlan:
    """Who starts, in order, and who waits."""

    start: tuple[str, ...]
    wait: tuple[Waiting, ...]

    def position_of(self, name: str) -> int | None:
        """1..n for who waits, None for who does not."""
        return next((waiting.position for waiting in self.wait if waiting.name == name), None)


@dataclass(frozen=True)
class _Claim:
    """Who was first to want a namespace."""

    name: str
    running: bool


def plan_admissions(queue: QueueSnapshot, *, limit: int) -> AdmissionPlan:
    """Start from the head; never more than `limit`, never beside a backup that shares a namespace."""
    claims: dict[str, _Claim] = {}
    for runner in queue.running:
        _claim(claims, runner, running=True)
    start: list[str] = []
    wait: list[Waiting] = []
    for backup in queue.waiting:
        free = limit - len(queue.running) - len(start)
        obstacle = _obstacle(backup, claims, free=free, limit=limit, unavailable=queue.unavailable_targets)
        if obstacle is None:
            start.append(backup.name)
        else:
            reason, message, blocker = obstacle
            wait.append(Waiting(backup.name, len(wait) + 1, reason, message, blocker))
        # A blocked backup still claims its namespaces, or small ones behind it would overtake it for ever.
        _claim(claims, backup, running=obstacle is None)
    return AdmissionPlan(tuple(start), tuple(wait))


def _claim(claims: dict[str, _Claim], backup: Contender, *, running: bool) -> None:
    claim = _Claim(backup.name, running)
    for namespace in backup.scope:
        claims.setdefault(namespace, claim)


def _obstacle(
    backup: Contender, claims: dict[str, _Claim], *, free: int, limit: int, unavailable: frozenset[str]
) -> tuple[Reason, str, str | None] | None:
    shared = sorted(backup.scope & claims.keys())
    if shared:
        first = min((claims[namespace] for namespace in shared), key=lambda claim: not claim.running)
        names = [namespace for namespace in shared if claims[namespace].name == first.name]
        reason = Reason.NAMESPACE_OVERLAP_RUNNING if first.running else Reason.NAMESPACE_OVERLAP_QUEUED
        state = "is running" if first.running else "is ahead in the queue"
        return reason, f"backup {first.name} {state} and shares {_listed(names)}", first.name
    if backup.target in unavailable:
        return Reason.TARGET_UNAVAILABLE, f"target {backup.target} does not answer", backup.target
    if free <= 0:
        return Reason.CONCURRENCY_LIMIT, f"all {limit} slots of concurrent-backups are taken", None
    return None


def _listed(namespaces: Sequence[str], *, at_most: int = 5) -> str:
    """Namespaces as a person reads them: few by name, many as a count."""
    names = ["all other namespaces" if name == ALL_OTHERS else name for name in namespaces]
    if len(names) == 1:
        return names[0] if names[0].startswith("all ") else f"namespace {names[0]}"
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return f"namespaces {', '.join(names[:at_most])}{more}"


def queue_snapshot(
    backups: Iterable[Backup], *, namespaces: Iterable[str], unavailable_targets: frozenset[str] = frozenset()
) -> QueueSnapshot:
    """The queue as stored phases tell it."""
    live = [backup for backup in backups if not backup.deleting]
    running = [backup for backup in live if backup.status.phase.holds_slot]
    waiting = queue_order(live)
    patterns = [
        pattern
        for backup in (*running, *waiting)
        for pattern in (*backup.spec.included_namespaces, *backup.spec.excluded_namespaces)
    ]
    universe = universe_of(namespaces, patterns)

    def contender(backup: Backup) -> Contender:
        spec = backup.spec
        scope = resolve_scope(spec.included_namespaces, spec.excluded_namespaces, universe=universe)
        return Contender(backup.name, scope, spec.storage_location)

    return QueueSnapshot(
        running=tuple(map(contender, running)),
        waiting=tuple(map(contender, waiting)),
        unavailable_targets=unavailable_targets,
    )


def queue_order(backups: Iterable[Backup]) -> list[Backup]:
    """The queued ones by ticket: a backup's place never depends on a stored position."""
    queued = [b for b in backups if b.status.phase is BackupPhase.QUEUED and not b.deleting]
    return sorted(queued, key=lambda b: (b.status.queue_ticket or 0, b.name))


def queue_positions(backups: Iterable[Backup]) -> dict[str, int]:
    """Position 1..n, without holes, of every queued backup."""
    return {backup.name: place for place, backup in enumerate(queue_order(backups), start=1)}


def next_tickets(backups: Iterable[Backup]) -> dict[str, int]:
    """A ticket for every new backup, in the order in which they were asked for, behind all that was ever given."""
    known = list(backups)
    last = max((b.status.queue_ticket or 0 for b in known), default=0)
    new = [b for b in known if b.status.phase is BackupPhase.NEW and not b.deleting]
    new.sort(key=lambda b: (b.metadata.creation_timestamp is None, b.metadata.creation_timestamp, b.name))
    return {backup.name: last + place for place, backup in enumerate(new, start=1)}

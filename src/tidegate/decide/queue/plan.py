"""Which waiting backups may start now, and why the others may not.

Pure. The whole queue is judged in one pass, so the answer never depends on whose event woke us. Running comes from
stored phases: there is no counter that could leak (velero#10519, velero#9493).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from tidegate.decide.queue.claims import Claim, Claims, RestoreClaim
from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.shared_names import Shared, shared_names
from tidegate.decide.stores.target_away import Away
from tidegate.model.reasons import Reason

PAUSED = "the queue is paused; go on with: tidegate queue resume"


class Contender(NamedTuple):
    """One backup as far as the queue cares."""

    name: str
    scope: Scope
    target: str = ""
    leaving: bool = False
    """Whether it is being deleted, and still holds its slot."""
    patterns: tuple[str, ...] = ()
    """The namespaces and globs that it includes, as they are written; empty means all."""

    def claim(self, *, running: bool, order: int) -> Claim:
        """As it stands in the way of others."""
        return Claim(self.name, self.scope, running, order, leaving=self.leaving, patterns=self.patterns)


@dataclass(frozen=True)
class QueueSnapshot:
    """What runs, and what waits in the order of the queue."""

    running: Sequence[Contender]
    waiting: Sequence[Contender]
    unavailable_targets: Mapping[str, Away] = field(default_factory=dict)
    paused: bool = False
    restores: Sequence[RestoreClaim] = ()
    """They take no slot, but a namespace that is being written to is not backed up; those that wait come first."""

    def frozen(self) -> "QueueSnapshot":
        """One that stays as it is while the queue goes on."""
        return replace(self, waiting=list(self.waiting))


class Obstacle(NamedTuple):
    """One thing that keeps a backup from starting. Its message names the blocking object and what is shared."""

    reason: Reason
    scope: Scope
    claim: Claim | None = None
    detail: str = ""
    target: str = ""
    """Of a backup whose store cannot be worked with."""
    patterns: tuple[str, ...] = ()
    """What the backup includes, as it is written."""

    @property
    def blocked_by(self) -> str | None:
        """The backup, the restore or the target in the way."""
        if self.claim is not None:
            return self.claim.label
        return self.target or None

    @property
    def shared(self) -> list[str]:
        """The namespaces, or volumes, that both want, or else the patterns that can match the same namespace."""
        shared = self._shared
        return [*shared.names, *shared.patterns]

    @property
    def _shared(self) -> Shared:
        claim = self.claim
        return shared_names(self.scope.shared_with(claim.scope), self.patterns, claim.patterns) if claim else Shared()

    @property
    def message(self) -> str:
        """One sentence for a person."""
        if self.claim is not None:
            return f"{self.claim.who} {self.claim.state}{self._shared.sentence}"
        return self.detail


class Waiting(NamedTuple):
    """Why one backup does not start: one obstacle, the most telling one."""

    name: str
    position: int
    obstacle: Obstacle

    @property
    def reason(self) -> Reason:
        """In one word."""
        return self.obstacle.reason

    @property
    def message(self) -> str:
        """In one sentence."""
        return self.obstacle.message

    @property
    def blocked_by(self) -> str | None:
        """What has to end first."""
        return self.obstacle.blocked_by


@dataclass(frozen=True)
class AdmissionPlan:
    """Who starts, in order, and who waits."""

    start: tuple[str, ...]
    wait: tuple[Waiting, ...]


def plan_admissions(queue: QueueSnapshot, *, limit: int, first: int | None = None) -> AdmissionPlan:
    """Start from the head; never more than `limit`, never beside a backup that shares a namespace.

    With `first`, only so many are judged: nobody's answer depends on who stands behind him.
    """
    start: list[str] = []
    wait: list[Waiting] = []
    for backup, obstacle in islice(_judged(queue, limit=limit), first):
        if obstacle is None:
            start.append(backup.name)
        else:
            wait.append(Waiting(backup.name, len(wait) + 1, obstacle))
    return AdmissionPlan(tuple(start), tuple(wait))


def plan_starts(queue: QueueSnapshot, *, limit: int) -> tuple[str, ...]:
    """Who starts, as in the whole plan. Looks no further than to the last slot, so a full house costs nothing."""
    free = limit - len(queue.running)
    start: list[str] = []
    if free <= 0 or queue.paused:
        return ()
    for backup, obstacle in _judged(queue, limit=limit):
        if obstacle is None:
            start.append(backup.name)
            if len(start) == free:
                break
    return tuple(start)


def _judged(queue: QueueSnapshot, *, limit: int) -> Iterator[tuple[Contender, Obstacle | None]]:
    claims = Claims()
    ahead = ahead_of_all(queue)
    for claim in ahead:
        claims.add(claim)
    started = len(queue.running)
    # Whoever is first in the way of a scope stays first, and many backups want the same: judged once for all of them.
    judged: dict[tuple[Scope, tuple[str, ...]], Obstacle] = {}
    for order, backup in enumerate(queue.waiting, start=len(ahead)):
        obstacle = judged.get((backup.scope, backup.patterns))
        if obstacle is None:
            in_the_way = claims.first_in_the_way_of(backup.scope)
            obstacle = first_obstacle(backup, in_the_way, queue, free=limit - started, limit=limit)
            started += obstacle is None
            # A blocked backup still claims its namespaces, or small ones behind it would overtake it for ever.
            claims.add(backup.claim(running=obstacle is None, order=order))
            if obstacle is not None and obstacle.claim is not None:
                judged[backup.scope, backup.patterns] = obstacle
        yield backup, obstacle


def first_obstacle(
    backup: Contender, in_the_way: Claim | None, queue: QueueSnapshot, *, free: int, limit: int
) -> Obstacle | None:
    """The most telling of what keeps a backup from starting: it is the first of these."""
    if queue.paused:
        return Obstacle(Reason.PAUSED, backup.scope, detail=PAUSED)
    if in_the_way is not None:
        return overlap(backup.scope, in_the_way, patterns=backup.patterns)
    if gone := queue.unavailable_targets.get(backup.target):
        return Obstacle(gone.reason, backup.scope, detail=gone.message, target=backup.target)
    if free <= 0:
        return _full(backup.scope, limit)
    return None


def obstacles(queue: QueueSnapshot, name: str, *, limit: int) -> list[Obstacle]:
    """Everything that keeps one backup from starting, the most telling first; empty if it is not in the queue."""
    place = next((place for place, backup in enumerate(queue.waiting) if backup.name == name), None)
    if place is None:
        return []
    backup = queue.waiting[place]
    claims = ahead_of_all(queue)
    for order, other in enumerate(queue.waiting[:place], start=len(claims)):
        claims.append(other.claim(running=False, order=order))
    found = [
        overlap(backup.scope, claim, patterns=backup.patterns)
        for claim in claims
        if backup.scope.shared_with(claim.scope)
    ]
    if queue.paused:
        found.insert(0, Obstacle(Reason.PAUSED, backup.scope, detail=PAUSED))
    if gone := queue.unavailable_targets.get(backup.target):
        found.append(Obstacle(gone.reason, backup.scope, detail=gone.message, target=backup.target))
    # Slots may be free now and yet go to others ahead, in the same instant.
    mine = QueueSnapshot(queue.running, queue.waiting[: place + 1], queue.unavailable_targets, restores=queue.restores)
    if len(queue.running) >= limit or (not found and name not in plan_starts(mine, limit=limit)):
        found.append(_full(backup.scope, limit))
    return found


def ahead_of_all(queue: QueueSnapshot) -> list[Claim]:
    """What every waiting backup finds ahead of itself: all that runs, then the restores that wait."""
    claims: list[Claim] = []
    for restore in (one for one in queue.restores if one.running):
        claims.append(restore.claim(order=len(claims)))
    for runner in queue.running:
        claims.append(runner.claim(running=True, order=len(claims)))
    for restore in (one for one in queue.restores if not one.running):
        claims.append(restore.claim(order=len(claims)))
    return claims


def overlap(scope: Scope, claim: Claim, *, patterns: tuple[str, ...] = ()) -> Obstacle:
    """What a claim on something of the scope is to a backup, or a restore, that includes these patterns."""
    reason = Reason.NAMESPACE_OVERLAP_RUNNING if claim.running else Reason.NAMESPACE_OVERLAP_QUEUED
    return Obstacle(reason, scope, claim, patterns=patterns)


def _full(scope: Scope, limit: int) -> Obstacle:
    return Obstacle(Reason.CONCURRENCY_LIMIT, scope, detail=f"all {limit} slots of concurrent-backups are taken")

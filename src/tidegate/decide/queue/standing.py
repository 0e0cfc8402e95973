"""Where one backup stands and what is first in its way, without judging everybody who waits.

The answer is that of a whole pass. While a slot is free, who stands in the way of whom depends on who takes it, and
only a whole pass tells; but a queue gets long when all slots are taken, or while it is paused.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from tidegate.decide.queue.claims import Claim
from tidegate.decide.queue.entry import Key, QueueEntry
from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.plan import Obstacle, QueueSnapshot, ahead_of_all, first_obstacle, plan_admissions
from tidegate.decide.queue.view import QueueView


class Standing(NamedTuple):
    """A place in the queue, 1 is the head; no obstacle: it starts with the next pass."""

    position: int
    obstacle: Obstacle | None


def standings(
    table: QueueView, snapshot: QueueSnapshot, names: Iterable[str], *, limit: int, now: datetime
) -> dict[str, Standing]:
    """Of those among the names that wait; new ones stand where they will once they have their tickets."""
    if not snapshot.paused and len(snapshot.running) < limit:
        return _by_whole_pass(table, snapshot, frozenset(names), limit=limit, now=now)
    new = table.places_of_new(now)
    found = {}
    for name in names:
        entry, place = table.entry(name), new.get(name) or table.place(name)
        if entry is not None and place is not None:
            position = table.ahead(place) + sum(other < place for other in new.values()) + 1
            found[name] = Standing(position, _obstacle(table, snapshot, entry, place, new, limit=limit))
    return found


def _obstacle(
    table: QueueView, snapshot: QueueSnapshot, entry: QueueEntry, place: Key, new: dict[str, Key], *, limit: int
) -> Obstacle | None:
    backup = table.contender(entry.name)
    claim = None if snapshot.paused else _claim(table, snapshot, backup.scope, place, new)
    return first_obstacle(backup, claim, snapshot, free=0, limit=limit)


def _claim(table: QueueView, snapshot: QueueSnapshot, scope: Scope, place: Key, new: dict[str, Key]) -> Claim | None:
    ahead = ahead_of_all(snapshot)
    for claim in ahead:
        if scope.shared_with(claim.scope):
            return claim
    found = table.first_in_the_way_of(scope, place)
    for name, other in new.items():
        entry = table.entry(name)
        if entry is not None and other < (found or place) and scope.shared_with(table.scope(entry)):
            found = other
    return table.contender(found[2]).claim(running=False, order=len(ahead)) if found else None


def _by_whole_pass(
    table: QueueView, snapshot: QueueSnapshot, names: frozenset[str], *, limit: int, now: datetime
) -> dict[str, Standing]:
    new = table.places_of_new(now)
    order = sorted([*table.places(), *new.values()]) if new else table.places()
    judged = QueueSnapshot(
        snapshot.running,
        [table.contender(name) for _, _, name in order],
        snapshot.unavailable_targets,
        restores=snapshot.restores,
    )
    why = {one.name: one.obstacle for one in plan_admissions(judged, limit=limit).wait if one.name in names}
    return {
        name: Standing(position, why.get(name)) for position, (_, _, name) in enumerate(order, start=1) if name in names
    }

"""Who comes first: tickets, priorities and moves, all in one number per backup.

A ticket is the time at which a backup joined the queue, in microseconds, and never the same twice. Priority is a head
start: a backup is treated as if it had come so much earlier. So nothing has to be recomputed as time goes by, the order
within a class is that of arrival, and nobody starves: once the largest possible head start has passed, whoever comes
later stands behind.
"""

from collections.abc import Sequence
from datetime import datetime

# Between neighbours there is room for a move.
TICKET_GAP = 1024
HIGHEST_PRIORITY = 10
LOWEST_PRIORITY = -10
_MICROSECONDS = 1_000_000


def next_ticket(now: datetime, *, highest: int) -> int:
    """A ticket behind all that were ever given, also when the clock went back."""
    return max(int(now.timestamp() * _MICROSECONDS), highest + TICKET_GAP)


def place_in_queue(ticket: int, priority: int, *, head_start_seconds: int) -> int:
    """The number that the queue is ordered by; the least comes first."""
    return ticket - priority * head_start_seconds * _MICROSECONDS


def tickets_after_move(
    tickets: Sequence[tuple[str, int, int]], name: str, to: int, *, head_start_seconds: int
) -> dict[str, int]:
    """New tickets that put `name` at position `to`, as few as possible.

    `tickets` is the queue in its order: name, ticket, priority. A position behind the end means the end. Empty if it
    stands there already.
    """
    order = [entry for entry in tickets if entry[0] != name]
    moved = next(entry for entry in tickets if entry[0] == name)
    place = min(max(to, 1), len(tickets)) - 1
    if tickets[place][0] == name:
        return {}
    order.insert(place, moved)
    places = {
        one: place_in_queue(ticket, priority, head_start_seconds=head_start_seconds) for one, ticket, priority in order
    }
    before = places[order[place - 1][0]] if place else None
    after = places[order[place + 1][0]] if place + 1 < len(order) else None
    changed = {name: _between(before, after)}
    # No room left between two neighbours: those behind step back, as few as it takes.
    for earlier, later in zip(order[place:], order[place + 1 :], strict=False):
        if places[later[0]] > changed.get(earlier[0], places[earlier[0]]):
            break
        changed[later[0]] = changed[earlier[0]] + TICKET_GAP
    priorities = {one: priority for one, _, priority in order}
    return {one: place + priorities[one] * head_start_seconds * _MICROSECONDS for one, place in changed.items()}


def _between(before: int | None, after: int | None) -> int:
    if before is None:
        return (after or 0) - TICKET_GAP
    return before + TICKET_GAP if after is None else max((before + after) // 2, before + 1)

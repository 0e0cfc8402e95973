"""What has to end before a backup can start: from those in its way back to those that run."""

from typing import NamedTuple

from tidegate.decide.queue.claims import Claim, Claims
from tidegate.decide.queue.plan import QueueSnapshot, ahead_of_all


class Link(NamedTuple):
    """A backup or a restore that has to end first, and for whom."""

    name: str
    running: bool
    holds_up: str


def ends_first(queue: QueueSnapshot, name: str, *, at_most: int = 50) -> list[Link]:
    """All that is in the way of `name`, and for those that wait themselves the first in their way, and so on.

    Those that run come first, then those that wait in the order of the queue. Empty if nobody shares anything with it.
    """
    claims = Claims()
    ahead = {claim.label: claim for claim in ahead_of_all(queue)}
    blockers: dict[str, Claim] = {}
    for claim in ahead.values():
        claims.add(claim)
    for order, backup in enumerate(queue.waiting, start=len(ahead)):
        if backup.name == name:
            direct = [claim for claim in ahead.values() if backup.scope.shared_with(claim.scope)]
            return _chain(direct, blockers, name, at_most=at_most)
        in_the_way = claims.first_in_the_way_of(backup.scope)
        if in_the_way is not None:
            blockers[backup.name] = in_the_way
        ahead[backup.name] = backup.claim(running=False, order=order)
        claims.add(ahead[backup.name])
    return []


def _chain(direct: list[Claim], blockers: dict[str, Claim], name: str, *, at_most: int) -> list[Link]:
    found = {claim.label: (claim, name) for claim in direct}
    # A blocker is always further ahead, so this ends.
    reached = list(direct)
    for claim in reached:
        further = None if claim.by_restore else blockers.get(claim.name)
        if further is not None and further.label not in found:
            found[further.label] = (further, claim.name)
            reached.append(further)
    ordered = sorted(found.values(), key=lambda pair: pair[0].order)
    return [Link(claim.label, claim.running, holds_up) for claim, holds_up in ordered[:at_most]]

"""When a waiting backup will probably start: the queue played out with the durations of the past.

What is running is also judged by its bytes: it does not end before they have moved at their present rate.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from tidegate.decide.queue.figures import Figure
from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.plan import Contender, QueueSnapshot
from tidegate.decide.queue.race import Racer, race
from tidegate.decide.queue.simulate import Job
from tidegate.decide.queue.view import PastRuns

# Of a backup about which nothing at all is known.
_UNKNOWN_SECONDS = 300.0
# One that should be over about now is expected to go on for a part of its time.
_LEAST_LEFT = 0.1
Seconds = Mapping[str, float]
"""By backup, how long the bytes that it moves still take; a backup that moves none is not in it."""


def workload_of(figures: PastRuns, snapshot: QueueSnapshot, moving: Seconds, *, now: datetime) -> list[Job]:
    """The present queue as jobs, each with the median duration of the same ones in the past."""
    running = [
        Job(racer.name, racer.scope, racer.duration, target=racer.target, started=True)
        for racer in _running(figures, snapshot, moving, now)
    ]
    # They are here already, in this order: whatever priority did to it is done.
    waiting = (
        Job(racer.name, racer.scope, racer.duration, arrives=place * 1e-6, target=racer.target)
        for place, racer in enumerate(_waiting(figures, snapshot.waiting))
    )
    return [*running, *waiting]


def expected_starts(
    figures: PastRuns, snapshot: QueueSnapshot, moving: Seconds, places: range, *, limit: int, now: datetime
) -> dict[int, datetime]:
    """When those at these places, counted from 0, will probably start; who cannot, as things are, is left out.

    Costs what has to happen until the last of them starts, not what the whole queue would.
    """
    if snapshot.paused or not places:
        return {}
    # How long a restore takes, nobody knows: who waits for one is promised nothing.
    written = Scope(frozenset(name for restore in snapshot.restores for name in restore.scope.names))
    starts, left = {}, len(places)
    running, waiting = _running(figures, snapshot, moving, now), _waiting(figures, snapshot.waiting)
    for start in race(running, waiting, limit=limit, unavailable_targets=snapshot.unavailable_targets):
        if start.place in places:
            if not written.names or not snapshot.waiting[start.place].scope.shared_with(written):
                starts[start.place] = now + timedelta(seconds=start.began)
            left -= 1
            if not left:
                break
    return starts


def _running(figures: PastRuns, snapshot: QueueSnapshot, moving: Seconds, now: datetime) -> list[Racer]:
    racers = []
    for runner in snapshot.running:
        figure = figures.of(runner.name)
        expected = _expected(figures, figure)
        ran = (now - figure.began).total_seconds() if figure and figure.began else 0.0
        left = max(_left(expected, ran), moving.get(runner.name, 0.0))
        if runner.leaving:  # it moves nothing more; what it has begun is taken apart
            left = expected * _LEAST_LEFT
        racers.append(Racer(runner.name, runner.scope, left, runner.target))
    return racers


def _left(expected: float, ran: float) -> float:
    """How much longer it probably runs. One that is late has more to do than the past tells: it is as late again."""
    return max(abs(expected - ran), expected * _LEAST_LEFT)


def _waiting(figures: PastRuns, waiting: Iterable[Contender]) -> Iterator[Racer]:
    for one in waiting:
        yield Racer(one.name, one.scope, _expected(figures, figures.of(one.name)), one.target)


def _expected(figures: PastRuns, figure: Figure | None) -> float:
    return figures.durations.expected(figure.likeness if figure else "", otherwise=_UNKNOWN_SECONDS)

"""When each waiting backup begins, if all that wait are here already and stay in their order.

The same rules as the queue's own passes, but not pass by pass: a backup may begin once everybody ahead of it who shares
something with it has ended and a slot is free, and of those who may, the first in the order does. So each is looked at
once, and no further than somebody asks.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from tidegate.decide.queue.overlap import Scope


class Racer(NamedTuple):
    """A backup that runs or waits. One that runs has `duration` left."""

    name: str
    scope: Scope
    duration: float
    target: str = ""


class Start(NamedTuple):
    """Which of those that wait, counted from 0, and in how many seconds."""

    place: int
    began: float


@dataclass(eq=False, slots=True)
class _Runner:
    place: int
    racer: Racer
    waits_for: int = 0
    holds_up: list["_Runner"] = field(default_factory=list)
    over: bool = False


def race(
    running: Sequence[Racer], waiting: Iterable[Racer], *, limit: int, unavailable_targets: Container[str] = ()
) -> Iterator[Start]:
    """Starts in the order of time; ends when nobody else can. Whoever stops asking saves the rest of the work."""
    track = _Track(waiting, unavailable_targets)
    for racer in running:
        track.begin(track.join(-1, racer), 0.0)
    now = 0.0
    while True:
        while track.taken < limit and (runner := track.next_ready()) is not None:
            track.begin(runner, now)
            yield Start(runner.place, now)
        if not track.taken:
            return
        now = track.end_next()


class _Track:
    def __init__(self, waiting: Iterable[Racer], unavailable_targets: Container[str]) -> None:
        self.taken = 0
        """Slots that somebody runs in."""
        self._line = enumerate(waiting)
        self._unavailable = unavailable_targets
        self._last = _LastInLine()
        self._ready: list[tuple[int, _Runner]] = []
        self._endings: list[tuple[float, int, _Runner]] = []
        self._begun = 0

    def join(self, place: int, racer: Racer) -> _Runner:
        runner = _Runner(place, racer)
        self._last.join(runner)
        return runner

    def next_ready(self) -> _Runner | None:
        # Whoever has not come up yet stands behind all that have: looked at only if none of those can begin.
        while not self._ready:
            following = next(self._line, None)
            if following is None:
                return None
            self._offer(self.join(*following))
        return heappop(self._ready)[1]

    def begin(self, runner: _Runner, now: float) -> None:
        self.taken += 1
        self._begun += 1
        heappush(self._endings, (now + runner.racer.duration, self._begun, runner))

    def end_next(self) -> float:
        """All that end at the next moment at which somebody does; returns that moment."""
        now = self._endings[0][0]
        while self._endings and self._endings[0][0] <= now:
            _, _, ended = heappop(self._endings)
            ended.over = True
            self.taken -= 1
            for other in ended.holds_up:
                other.waits_for -= 1
                self._offer(other)
        return now

    def _offer(self, runner: _Runner) -> None:
        if not runner.waits_for and runner.racer.target not in self._unavailable:
            heappush(self._ready, (runner.place, runner))


class _LastInLine:
    """Of each name, who came last: everybody before him ends before he begins, so he is the one to wait for.

    Of those that run there may be several, for they do not wait for each other.
    """

    def __init__(self) -> None:
        self._of_name: dict[str, list[_Runner]] = {}
        self._of_others: list[_Runner] = []
        """Who wanted everything but some names; of those names, `_of_name` tells."""

    def join(self, runner: _Runner) -> None:
        """He stands behind all who share something with him."""
        names, all_but = runner.racer.scope
        running = runner.place < 0
        before: list[_Runner] = []
        for name in self._of_name.keys() - names if all_but else names:
            last = self._of_name.get(name, self._of_others)
            before += last
            # Those that run have begun, whatever they share.
            self._of_name[name] = [*last, runner] if running else [runner]
        if all_but:
            before += self._of_others
            self._join_others(runner, names, running=running)
        if running:
            return
        waits_for = {id(one): one for one in before if not one.over} if before else {}
        for one in waits_for.values():
            one.holds_up.append(runner)
        runner.waits_for = len(waits_for)

    def _join_others(self, runner: _Runner, excepted: frozenset[str], *, running: bool) -> None:
        kept = {name: self._of_name.get(name, self._of_others) for name in excepted}
        # Who wanted any of the other names is ahead of this one now, so they need not be remembered name by name.
        self._of_name = self._of_name | kept if running else kept
        self._of_others = [*self._of_others, runner] if running else [runner]

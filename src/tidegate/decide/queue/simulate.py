"""What the queue would do: the same decisions, driven by a clock that only jumps.

So a person can try a limit before setting it, and a waiting backup can say when it will probably start.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

from tidegate.decide.queue.order import place_in_queue
from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.plan import Contender, QueueSnapshot, plan_starts
from tidegate.decide.queue.row import Row
from tidegate.decide.stores.target_away import no_answer

_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Job:
    """A backup to be simulated. Times are seconds from now; one that runs already arrives with `started`."""

    name: str
    scope: Scope
    duration: float
    arrives: float = 0.0
    priority: int = 0
    target: str = ""
    started: bool = False
    """It runs now, and `duration` is what is left."""
    queued_for: float = 0.0
    """How long it had waited when it came into the simulation: counts for its place, not for how long it waits."""


@dataclass(frozen=True, slots=True)
class Run:
    """When a job was asked for, began and ended."""

    name: str
    arrived: float
    began: float
    ended: float

    @property
    def waited(self) -> float:
        """Seconds in the queue."""
        return self.began - self.arrived


@dataclass(frozen=True)
class Forecast:
    """What came out. Jobs that can never start (their target does not answer) are in none of the numbers."""

    runs: tuple[Run, ...]
    never: tuple[str, ...]
    limit: int

    @property
    def makespan(self) -> float:
        """Seconds until the last one has ended."""
        return max((run.ended for run in self.runs), default=0.0)

    @property
    def slot_use(self) -> float:
        """Which part of all slots was in use, from the first arrival to the last end."""
        first = min((run.arrived for run in self.runs), default=0.0)
        available = (self.makespan - first) * self.limit
        return sum(run.ended - run.began for run in self.runs) / available if available else 0.0

    def busy_slots(self, parts: int) -> list[float]:
        """How many slots were in use on average, in each of so many equal parts of the time until the last end."""
        length = self.makespan / parts
        if not length:
            return [0.0] * parts
        busy = [0.0] * parts
        for run in self.runs:
            for part in range(int(run.began / length), min(parts, int(run.ended / length) + 1)):
                busy[part] += max(0.0, min(run.ended, (part + 1) * length) - max(run.began, part * length)) / length
        return busy

    def wait_percentile(self, percent: float) -> float:
        """So many percent of the jobs waited at most this long."""
        waits = sorted(run.waited for run in self.runs)
        if not waits:
            return 0.0
        rank = -(-len(waits) * percent // 100)
        return waits[min(len(waits), max(1, int(rank))) - 1]


def simulate(
    jobs: Iterable[Job],
    *,
    limit: int,
    head_start_seconds: int = 0,
    unavailable_targets: Collection[str] = (),
) -> Forecast:
    """Let every job arrive, wait for its turn as the real queue would have it, run, and end."""
    return _Simulation(jobs, limit, head_start_seconds, unavailable_targets).run()


class _Simulation:
    def __init__(
        self, jobs: Iterable[Job], limit: int, head_start_seconds: int, unavailable_targets: Collection[str]
    ) -> None:
        self._limit = limit
        self._head_start_seconds = head_start_seconds
        self._unavailable = {name: no_answer(name) for name in unavailable_targets}
        self._jobs: dict[str, Job] = {}
        self._numbers: dict[str, int] = {}
        self._arrivals: list[tuple[float, int, str]] = []
        self._endings: list[tuple[float, str]] = []
        self._waiting: list[tuple[int, int, str]] = []
        self._began: dict[str, float] = {}
        self._runs: list[Run] = []
        for number, job in enumerate(jobs):
            self._jobs[job.name] = job
            self._numbers[job.name] = number
            if job.started:
                self._begin(job.name, 0.0)
            else:
                heappush(self._arrivals, (job.arrives, number, job.name))

    def run(self) -> Forecast:
        while self._arrivals or self._endings:
            now = min(row[0][0] for row in (self._arrivals, self._endings) if row)
            while self._endings and self._endings[0][0] <= now:
                self._end(*heappop(self._endings))
            while self._arrivals and self._arrivals[0][0] <= now:
                _, number, name = heappop(self._arrivals)
                insort(self._waiting, self._place(name, number))
            for name in plan_starts(self._snapshot(), limit=self._limit):
                del self._waiting[bisect_left(self._waiting, self._place(name, self._numbers[name]))]
                self._begin(name, now)
        return Forecast(tuple(self._runs), tuple(name for _, _, name in self._waiting), self._limit)

    def _begin(self, name: str, now: float) -> None:
        self._began[name] = now
        heappush(self._endings, (now + self._jobs[name].duration, name))

    def _end(self, now: float, name: str) -> None:
        job = self._jobs[name]
        self._runs.append(Run(name, min(job.arrives, self._began[name]), self._began.pop(name), now))

    def _place(self, name: str, number: int) -> tuple[int, int, str]:
        job = self._jobs[name]
        ticket = round((job.arrives - job.queued_for) * _MICROSECONDS)
        return place_in_queue(ticket, job.priority, head_start_seconds=self._head_start_seconds), number, name

    def _snapshot(self) -> QueueSnapshot:
        running = [self._contender(name) for name in self._began]
        return QueueSnapshot(running, Row(self._waiting, self._contender), self._unavailable)

    def _contender(self, name: str) -> Contender:
        job = self._jobs[name]
        return Contender(name, job.scope, job.target)

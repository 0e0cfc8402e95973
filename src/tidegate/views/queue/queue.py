"""The queue as a table, the wait of one backup as a description, and what a simulation found."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from tidegate.model.queue.queue import EndsFirst, Queue, QueueExplanation, WaitingBackup
from tidegate.views.quantities import UNKNOWN, human_duration
from tidegate.views.reader import Reader
from tidegate.views.table import Cell, Column, Section, TableView, Tone, joined, section, sections

_MOST_NAMES = 5
_BARS = " ▁▂▃▄▅▆▇█"


def _expected_in_short(waiting: WaitingBackup, reader: Reader) -> str:
    if waiting.expected_start is None:
        return UNKNOWN
    due = reader.until(waiting.expected_start)
    return due if due == "now" else f"in {due}"


QUEUE = TableView(
    (WaitingBackup,),
    (
        Column("POSITION", lambda waiting, _: str(waiting.position), right=True),
        Column("NAME", lambda waiting, _: waiting.name),
        Column("PRIORITY", lambda waiting, _: str(waiting.priority), right=True),
        Column("WAITING", lambda waiting, reader: reader.age(waiting.since)),
        Column("REASON", lambda waiting, _: Cell(waiting.reason, Tone.WAITING)),
        Column("BLOCKED BY", lambda waiting, _: waiting.blocked_by or ""),
        Column("EXPECTED START", _expected_in_short),
        Column("SINCE", lambda waiting, reader: reader.moment(waiting.since), wide=True),
        Column("MESSAGE", lambda waiting, _: waiting.message, wide=True),
    ),
)


def queue_headline(queue: Queue) -> str:
    """What stands above the table: how full the house is, and whether anybody is let in."""
    running = f"{len(queue.running)} of {queue.limit} slots in use"
    names = joined(queue.running[:_MOST_NAMES])
    more = f" and {len(queue.running) - _MOST_NAMES} more" if len(queue.running) > _MOST_NAMES else ""
    parts = [f"{running}: {names}{more}." if names else f"{running}."]
    if queue.paused:
        parts.append("The queue is paused; go on with: tidegate queue resume")
    elif not queue.waiting:
        parts.append("Nothing waits.")
    return " ".join(parts)


def explain_wait(explanation: QueueExplanation, reader: Reader) -> tuple[Section, ...]:
    """Every obstacle on a line of its own, then what has to end first."""
    lines = [
        ("Backup", explanation.name),
        ("Status", str(explanation.phase)),
        ("Position", "" if explanation.position is None else str(explanation.position)),
        ("Waiting since", reader.moment_and_age(explanation.since)),
        ("Expected start", expected_start(explanation, reader)),
    ]
    more = explanation.more_obstacles
    obstacles = [(str(obstacle.reason), obstacle.message) for obstacle in explanation.obstacles]
    return sections(
        section("Queue", lines),
        section("Obstacles", [*obstacles, ("More", str(more) if more else "")]),
        section("Has to end first", _ends_first_lines(explanation)),
    )


def expected_start(explanation: QueueExplanation, reader: Reader) -> str:
    """From past durations; a paused queue or a target that is away promises nothing."""
    if explanation.position is None:
        return ""
    if explanation.expected_start is None:
        return f"{UNKNOWN}; not as things are now"
    return reader.moment_and_age(explanation.expected_start)


def ends_first_sentence(explanation: QueueExplanation) -> str:
    """The same in one line: `a, then b`."""
    running = [one.name for one in explanation.ends_first if one.running]
    queued = [one.name for one in explanation.ends_first if not one.running]
    names = [_few(part) for part in (running, queued) if part]
    if names:
        return ", then ".join(names)
    return f"one of {_few(explanation.or_one_of)}" if explanation.or_one_of else ""


def no_wait_sentence(explanation: QueueExplanation) -> str:
    """For a backup that is not in the queue."""
    return f"Backup {explanation.name} is {explanation.phase}; it does not wait in the queue."


def _ends_first_lines(explanation: QueueExplanation) -> list[tuple[str, str]]:
    lines = [(one.name, _what_it_does(one, explanation.name)) for one in explanation.ends_first]
    if explanation.or_one_of:
        lines.append(("For a free slot", f"one of {_few(explanation.or_one_of)}"))
    return lines


def _what_it_does(one: EndsFirst, asked_about: str) -> str:
    state = "running" if one.running else "queued"
    return state if one.holds_up == asked_about else f"{state}; holds up {one.holds_up}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return joined(names[:_MOST_NAMES]) + more


@dataclass(frozen=True)
class SimulatedLimit:
    """What came out for one limit. Times are seconds."""

    limit: int
    makespan: float
    wait_p50: float
    wait_p95: float
    wait_max: float
    slot_use: float
    """From 0 to 1."""
    busy_slots: tuple[float, ...]
    """On average, in equal parts of the time until the last end."""
    never: tuple[str, ...]
    """Those that cannot start, because their target does not answer."""


_NUMBERS: tuple[Column[SimulatedLimit], ...] = (
    Column("LIMIT", lambda found, _: str(found.limit), right=True),
    Column("MAKESPAN", lambda found, _: _seconds(found.makespan), right=True),
    Column("WAIT P50", lambda found, _: _seconds(found.wait_p50), right=True),
    Column("WAIT P95", lambda found, _: _seconds(found.wait_p95), right=True),
    Column("WAIT MAX", lambda found, _: _seconds(found.wait_max), right=True),
    Column("SLOT USE", lambda found, _: f"{found.slot_use:.0%}", right=True),
)
SIMULATED = TableView((SimulatedLimit,), _NUMBERS)
SIMULATED_WITH_PICTURE = TableView(
    (SimulatedLimit,), (*_NUMBERS, Column("SLOTS IN USE OVER TIME", lambda found, _: slot_picture(found)))
)


def slot_picture(found: SimulatedLimit) -> str:
    """One bar for each part of the time: full where all slots are in use."""
    top = len(_BARS) - 1
    return "".join(_BARS[max(0, min(top, round(busy / found.limit * top)))] for busy in found.busy_slots)


def _seconds(count: float) -> str:
    return human_duration(timedelta(seconds=count))

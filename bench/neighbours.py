"""What other guests of the same host take: where they take much, times tell of them and not of us."""

from pathlib import Path
from typing import NamedTuple


class ProcessorTime(NamedTuple):
    """Of all cores, in ticks since the start of the machine."""

    total: int
    taken: int


def processor_time() -> ProcessorTime:
    first = Path("/proc/stat").read_text().partition("\n")[0]
    user, nice, system, idle, waiting, hard, soft, taken = map(int, first.split()[1:9])
    return ProcessorTime(user + nice + system + idle + waiting + hard + soft + taken, taken)


def taken_since(before: ProcessorTime) -> float:
    """In percent of what there was."""
    now = processor_time()
    return (now.taken - before.taken) * 100 / max(1, now.total - before.total)

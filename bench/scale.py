"""How large a bench is, and how two sides are measured fairly.

BENCH_SCALE=0.1 shrinks everything for a quick look; BENCH_REPEATS is how often, BENCH_DIR the disk.
"""

import os
import sys
from collections.abc import Callable, Mapping

from bench.rows import Row

MIB = 1024 * 1024
BLOCK = 2 * MIB
SCALE = float(os.environ.get("BENCH_SCALE", "1"))
REPEATS = int(os.environ.get("BENCH_REPEATS", "2"))
BENCH_DIR = os.environ.get("BENCH_DIR")


def side_by_side(measures: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The quickest of some runs of each, taken in turns.

    Others use this machine too and only make things slower; what is compared should meet the same neighbours.
    """
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(REPEATS):
        for name, measure in measures.items():
            taken[name].append(measure())
    return {name: min(values) for name, values in taken.items()}


def show(rows: list[Row]) -> list[Row]:
    """Print them at once: a long run that is cut off has still told something."""
    for row in rows:
        print("  ".join(row.cells()), file=sys.stderr, flush=True)
    return rows

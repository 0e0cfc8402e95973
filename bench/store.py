"""The way of the data against restic and against the machine itself: all in one run, on one disk, warm cache.

Volume locks wait two seconds by protocol where the store may list late; times here are those of whole jobs.
"""

import math
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench import far_store, growth
from bench.limits import limit_of_first, limit_of_hashlib, limit_of_reading, limit_of_restore
from bench.movers import Ours
from bench.restic import Restic, restic_version
from bench.rows import Row
from bench.samples import change, make_image, make_tree
from bench.scale import BENCH_DIR, MIB, REPEATS, SCALE, show, side_by_side


def run() -> Sequence[Row]:
    print(restic_version(), file=sys.stderr)
    rows: list[Row] = []
    for bench in (_image, _tree, far_store.rows, growth.rows):
        with tempfile.TemporaryDirectory(dir=BENCH_DIR, prefix="bench-store-") as place:
            rows += bench(Path(place))
    return rows


def _image(place: Path) -> list[Row]:
    image, size = place / "image", int(4096 * SCALE) // 2 * 2 * MIB
    make_image(image, size)
    ours, theirs = Ours(place), Restic(place)
    rows = _compare(
        "first backup",
        {
            "limit": lambda: limit_of_first(image, place / "limit"),
            "ours": lambda: _from_scratch(ours, lambda: ours.upload("image", image)),
            "restic": lambda: _from_scratch(theirs, lambda: theirs.backup(image)),
        },
        times=3.0,
        share=0.8,
    )
    rows += _compare(
        "unchanged, read again",
        {
            "limit": lambda: limit_of_hashlib(image),
            "ours": lambda: ours.upload("image", image, forget=True),
            "restic": lambda: theirs.backup(image, "--force"),
        },
        times=2.0,
        share=0.85,
    )
    quick = side_by_side({"limit": lambda: limit_of_reading(image)})["limit"]
    rows += show([Row("the machine alone, several blocks named side by side", quick, "s")])
    proven = side_by_side({"ours": lambda: ours.upload("image", image)})["ours"]
    rows += show([Row("unchanged, provably", proven, "s", target=0.3, better="less")])
    rows += _one_percent_changed(ours, theirs, image, size)
    rows += _compare(
        "restore",
        {
            "limit": lambda: limit_of_restore(place, image),
            "ours": lambda: ours.download("image", place / "back", "image"),
            "restic": lambda: theirs.restore(place / "their-back"),
        },
        times=1.2,
        share=0.85,
    )
    return rows + show([Row("memory of the mover, image", ours.memory_mib, "MiB", target=150, better="less")])


def _one_percent_changed(ours: Ours, theirs: Restic, image: Path, size: int) -> list[Row]:
    taken, their_taken = [], []
    for seed in range(REPEATS):
        change(image, size, seed)
        taken.append(ours.upload("image", image, forget=True))
        their_taken.append(theirs.backup(image))
    return _rows("1 % changed", {"ours": min(taken), "restic": min(their_taken)}, times=2.0)


def _tree(place: Path) -> list[Row]:
    tree, files = place / "tree", int(100_000 * SCALE)
    make_tree(tree, files)
    ours, theirs = Ours(place), Restic(place)
    rows = _compare(
        f"tree of {files:,} files, first",
        {
            "ours": lambda: _from_scratch(ours, lambda: ours.upload("directory", tree)),
            "restic": lambda: _from_scratch(theirs, lambda: theirs.backup(tree)),
        },
        times=1.5,
    )
    unchanged = side_by_side(
        {"ours": lambda: ours.upload("directory", tree), "restic": lambda: theirs.backup(tree)},
    )
    rows += _rows("tree, unchanged", unchanged, times=1.5)
    rows += show([Row("tree, unchanged", unchanged["ours"], "s", target=3, better="less")])
    rows += _compare(
        "tree, restore",
        {
            "ours": lambda: ours.download("directory", place / "tree-back", "tree"),
            "restic": lambda: theirs.restore(place / "their-tree"),
        },
        times=1.5,
    )
    return rows + show([Row("memory of the mover, tree", ours.memory_mib, "MiB", target=150, better="less")])


def _compare(what: str, measures: Mapping[str, Callable[[], float]], *, times: float, share: float = 0) -> list[Row]:
    return _rows(what, side_by_side(measures), times=times, share=share)


def _rows(what: str, best: Mapping[str, float], *, times: float, share: float = 0) -> list[Row]:
    ours, theirs, limit = best["ours"], best["restic"], best.get("limit")
    rows = [Row(f"{what}: Tidegate", ours, "s")]
    if not math.isnan(theirs):
        rows += [Row(f"{what}: restic", theirs, "s"), Row(f"{what}: against restic", theirs / ours, "x", target=times)]
    if limit is not None:
        rows += [
            Row(f"{what}: the machine alone", limit, "s"),
            Row(f"{what}: of that limit", limit / ours, "ratio", target=share),
        ]
    return show(rows)


def _from_scratch(side: Ours | Restic, measure: Callable[[], float]) -> float:
    side.fresh()
    return measure()

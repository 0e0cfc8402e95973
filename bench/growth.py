"""What a backup costs as things grow: only the data should count, and only what changed should be sent."""

import os
import random
from pathlib import Path

from bench.far_store import far_store
from bench.movers import Ours
from bench.rows import Row
from bench.samples import change, make_image, set_aside
from bench.scale import BLOCK, MIB, SCALE, show, side_by_side

_DATA_MIB = 10 * 1024
_SPARSE_FACTOR = 100
_FILES = 1_000_000


def rows(place: Path) -> list[Row]:
    return [*_holes(place), *_changes(place), *_many_files(place)]


def _holes(place: Path) -> list[Row]:
    """1 TiB of which 10 GiB are data, against 10 GiB."""
    small, large = place / "small", place / "large"
    blocks = int(_DATA_MIB * SCALE) * MIB // BLOCK
    _make_sparse(small, blocks, stride=1)
    _make_sparse(large, blocks, stride=_SPARSE_FACTOR)
    ours = Ours(place)

    def backup(path: Path) -> float:
        ours.fresh()
        return ours.upload("image", path, forget=True)

    best = side_by_side({"small": lambda: backup(small), "large": lambda: backup(large)})
    for path in (small, large, place / "store"):
        set_aside(path)
    ratio = best["large"] / best["small"]
    return show(
        [
            Row(f"{blocks * BLOCK // MIB:,} MiB of data, no holes", best["small"], "s"),
            Row(f"the same in an image {_SPARSE_FACTOR} times as large", best["large"], "s"),
            Row("what the holes cost", ratio, "x", target=1.1, better="less"),
        ]
    )


def _make_sparse(path: Path, blocks: int, *, stride: int) -> None:
    chance = random.Random(3)
    with path.open("wb") as file:
        for number in range(blocks):
            file.seek(number * stride * BLOCK)
            file.write(chance.randbytes(BLOCK))
        file.truncate(blocks * stride * BLOCK)
    os.sync()


def _changes(place: Path) -> list[Row]:
    """Twice the change, at most twice the requests."""
    # Never smaller: of a few blocks, one and two hundredths are the same block.
    image, size = place / "image", int(1024 * max(SCALE, 1)) // 2 * 2 * MIB
    make_image(image, size)
    with far_store(0) as store:
        ours = Ours(place, url="s3://bucket@us-east-1/changes/", credentials=store.credentials)
        ours.upload("image", image)
        puts, sent = [], []
        for percent in (1, 2):
            change(image, size, percent, percent=percent)
            store.seen()
            ours.upload("image", image, forget=True)
            told = store.seen()
            puts.append(float(told["requests"]["PUT"]))
            sent.append(float(told["large_bytes"]))
    image.unlink()
    return show(
        [
            Row("requests that write, 1 % changed", puts[0], ""),
            Row("requests that write, 2 % changed", puts[1], ""),
            Row("requests, twice the change", puts[1] / puts[0], "x", target=2, better="less"),
            Row("bytes sent, twice the change", sent[1] / sent[0], "x", target=2.1, better="less"),
        ]
    )


def _many_files(place: Path) -> list[Row]:
    """A few bytes in each: what counts here is what the mover keeps of each."""
    tree, files = place / "many", int(_FILES * SCALE)
    for number in range(files):
        directory = tree / f"{number // 100_000:02}" / f"{number // 1000 % 100:02}"
        if number % 1000 == 0:
            directory.mkdir(parents=True)
        (directory / f"file-{number:07}").write_bytes(b"%d" % number)
    ours = Ours(place)
    ours.fresh()
    seconds = ours.upload("directory", tree)
    return show(
        [
            Row(f"tree of {files:,} small files, first", seconds, "s"),
            Row(f"tree of {files:,} small files, unchanged", ours.upload("directory", tree), "s"),
            Row(f"memory of the mover, {files:,} files", ours.memory_mib, "MiB", target=200, better="less"),
        ]
    )

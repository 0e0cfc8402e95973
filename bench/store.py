"""The way of the data against restic and against the machine itself: all in one run, on one disk, warm cache.

Volume locks wait two seconds by protocol where the store may list late; times here are those of whole jobs.
BENCH_SCALE=0.1 shrinks everything for a quick look; RESTIC names the program, BENCH_DIR the disk.
"""

import hashlib
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path

import lz4.frame

from bench.rows import Row
from tidegate.format.compression import Compression, compress

MIB = 1024 * 1024
BLOCK = 2 * MIB
SCALE = float(os.environ.get("BENCH_SCALE", "1"))
REPEATS = int(os.environ.get("BENCH_REPEATS", "2"))
RESTIC = os.environ.get("RESTIC") or shutil.which("restic")
CORES = 2


def run() -> Sequence[Row]:
    if RESTIC is None:
        print("restic was NOT found: no ratios against it. Put it on PATH or name it in RESTIC.", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR"), prefix="bench-store-") as place:
        return [*_image(Path(place)), *_tree(Path(place))]


def _image(place: Path) -> list[Row]:
    image, size = place / "image", int(4096 * SCALE) // 2 * 2 * MIB
    _make_image(image, size)
    rows = []
    ours, theirs = Ours(place), Restic(place)
    limit = best(lambda: _limit_of_first(image, place / "limit"))
    hashing = best(lambda: _limit_of_reading(image))
    first = best(lambda: _from_scratch(ours, lambda: ours.upload("image", image)))
    their_first = best(lambda: _from_scratch(theirs, lambda: theirs.backup(image)))
    rows += _rows("first backup", first, their_first, 3.0, limit=limit, share=0.8)
    again = best(lambda: ours.upload("image", image, forget=True))
    their_again = best(lambda: theirs.backup(image, "--force"))
    rows += _rows("unchanged, read again", again, their_again, 2.0, limit=hashing, share=0.85)
    rows.append(Row("unchanged, provably", best(lambda: ours.upload("image", image)), "s", target=0.3, better="less"))
    changed, their_changed = [], []
    for seed in range(REPEATS):
        _change(image, size, seed)
        changed.append(ours.upload("image", image, forget=True))
        their_changed.append(theirs.backup(image))
    rows += _rows("1 % changed", min(changed), min(their_changed), 2.0)
    restore = best(lambda: ours.download("image", place / "back", "image"))
    their_restore = best(lambda: theirs.restore(place / "their-back"))
    back_limit = best(lambda: _limit_of_restore(place, image))
    rows += _rows("restore", restore, their_restore, 1.2, limit=back_limit, share=0.85)
    rows.append(Row("memory of the mover, image", ours.memory_mib, "MiB", target=150, better="less"))
    ours.fresh()
    theirs.fresh()
    image.unlink()
    return rows


def _tree(place: Path) -> list[Row]:
    tree, files = place / "tree", int(100_000 * SCALE)
    _make_tree(tree, files)
    ours, theirs = Ours(place), Restic(place)
    rows = _rows(
        f"tree of {files:,} files, first",
        best(lambda: _from_scratch(ours, lambda: ours.upload("directory", tree))),
        best(lambda: _from_scratch(theirs, lambda: theirs.backup(tree))),
        1.5,
    )
    again = best(lambda: ours.upload("directory", tree))
    rows += _rows("tree, unchanged", again, best(lambda: theirs.backup(tree)), 1.5)
    rows.append(Row("tree, unchanged", again, "s", target=3, better="less"))
    restore = best(lambda: ours.download("directory", place / "tree-back", "tree"))
    rows += _rows("tree, restore", restore, best(lambda: theirs.restore(place / "their-tree")), 1.5)
    rows.append(Row("memory of the mover, tree", ours.memory_mib, "MiB", target=150, better="less"))
    return rows


def _rows(
    what: str, ours: float, theirs: float, times: float, *, limit: float | None = None, share: float = 0
) -> list[Row]:
    rows = [Row(f"{what}: Tidegate", ours, "s")]
    if not math.isnan(theirs):
        rows += [Row(f"{what}: restic", theirs, "s"), Row(f"{what}: against restic", theirs / ours, "x", target=times)]
    if limit is not None:
        rows += [
            Row(f"{what}: the machine alone", limit, "s"),
            Row(f"{what}: of that limit", limit / ours, "ratio", target=share),
        ]
    for row in rows:
        print("  ".join(row.cells()), file=sys.stderr, flush=True)
    return rows


def best(measure: Callable[[], float]) -> float:
    """The quickest of some runs: others use this machine too, and only make things slower."""
    return min(measure() for _ in range(REPEATS))


def _from_scratch(side: "Ours | Restic", measure: Callable[[], float]) -> float:
    side.fresh()
    return measure()


class Ours:
    """Jobs carried out by `tidegate mover` processes; their start is measured too."""

    def __init__(self, place: Path) -> None:
        self._store, self._maps = place / "store", place / "maps"
        self._numbers = count(1)
        self._last = ""
        self.memory_mib = 0.0

    def fresh(self) -> None:
        shutil.rmtree(self._store, ignore_errors=True)
        self._store.mkdir()
        os.sync()

    def upload(self, kind: str, path: Path, *, forget: bool = False) -> float:
        """With `forget` nothing is known about the last time: everything is read."""
        if forget:
            shutil.rmtree(self._maps, ignore_errors=True)
        self._last = f"backup-{next(self._numbers):016x}"
        return self._run(
            {
                "action": "upload",
                "store_volume": path.name,
                "store_backup": self._last,
                "volume_kind": kind,
                "path": str(path),
                "snapshot_name": f"snapshot-{self._last}",
                "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            }
        )

    def download(self, kind: str, path: Path, volume: str) -> float:
        _remove(path)
        job = {"action": "download", "store_volume": volume, "store_backup": self._last}
        return self._run(job | {"volume_kind": kind, "path": str(path)})

    def _run(self, asked: Mapping[str, str]) -> float:
        job = {**asked, "target": {"url": f"file://{self._store}"}}
        environment = os.environ | {"XDG_CACHE_HOME": str(self._maps)}
        began = time.monotonic()
        with subprocess.Popen(
            [sys.executable, "-m", "tidegate", "mover"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        ) as mover:
            if mover.stdin is None or mover.stdout is None:
                raise RuntimeError("no pipes")
            mover.stdin.write(json.dumps(job).encode() + b"\n")
            mover.stdin.flush()
            said = mover.stdout.readlines()
            took = time.monotonic() - began
            mover.stdin.close()
            _, _, used = os.wait4(mover.pid, 0)
            mover.returncode = 0
        self.memory_mib = max(self.memory_mib, used.ru_maxrss / 1024)
        last = json.loads(said[-1])
        if last["type"] != "result":
            raise RuntimeError(str(last))
        return took


class Restic:
    """The peer, as its users get it; NaN if it is not there."""

    def __init__(self, place: Path) -> None:
        self._repository, self._cache = place / "restic", place / "restic-cache"

    def fresh(self) -> None:
        shutil.rmtree(self._repository, ignore_errors=True)
        shutil.rmtree(self._cache, ignore_errors=True)
        self._run("init")

    def backup(self, path: Path, *options: str) -> float:
        return self._run("backup", *options, path.name, at=path.parent)

    def restore(self, path: Path) -> float:
        _remove(path)
        return self._run("restore", "latest", "--target", str(path))

    def _run(self, *arguments: str, at: Path | None = None) -> float:
        if RESTIC is None:
            return math.nan
        environment = os.environ | {"RESTIC_PASSWORD": "bench", "RESTIC_CACHE_DIR": str(self._cache)}
        began = time.monotonic()
        subprocess.run(
            [RESTIC, "--quiet", "--repo", str(self._repository), *arguments],
            check=True,
            capture_output=True,
            env=environment,
            cwd=at,
        )
        return time.monotonic() - began


def _limit_of_first(image: Path, place: Path) -> float:
    """Read, hash, compress, write and sync the same bytes with nothing around it."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    zeros = bytes(BLOCK)
    os.sync()

    def do(handle: int, offset: int) -> None:
        block = os.pread(handle, BLOCK, offset)
        if block == zeros:
            return
        name = hashlib.sha512(block).hexdigest()[:64]
        body = compress(block, Compression.LZ4)
        with (place / name).open("wb", buffering=0) as file:
            file.write(body)

    took = _on_all_cores(image, do, then=os.sync)
    shutil.rmtree(place)
    return took


def _limit_of_reading(image: Path) -> float:
    """Read and hash whatever is not zeros."""
    zeros = bytes(BLOCK)

    def do(handle: int, offset: int) -> None:
        block = os.pread(handle, BLOCK, offset)
        if block != zeros:
            hashlib.sha512(block).digest()

    return _on_all_cores(image, do)


def _limit_of_restore(place: Path, image: Path) -> float:
    """Read the stored blocks, decompress, hash, write to one file and sync it."""
    blocks = sorted((place / "store").rglob("*.blk"))
    target = place / "limit-back"
    target.unlink(missing_ok=True)
    os.sync()
    row, lock = iter(enumerate(blocks)), threading.Lock()
    began = time.monotonic()
    out = os.open(target, os.O_WRONLY | os.O_CREAT)

    def work() -> None:
        while True:
            with lock:
                index, path = next(row, (0, None))
            if path is None:
                return
            block = lz4.frame.decompress(path.read_bytes())
            hashlib.sha512(block).digest()
            os.pwrite(out, block, index * BLOCK)

    _threads(work)
    os.truncate(target, image.stat().st_size)
    os.fsync(out)
    took = time.monotonic() - began
    os.close(out)
    target.unlink()
    return took


def _on_all_cores(image: Path, do: Callable[[int, int], None], then: Callable[[], None] = lambda: None) -> float:
    offsets, lock = iter(range(0, image.stat().st_size, BLOCK)), threading.Lock()
    handle = os.open(image, os.O_RDONLY)
    began = time.monotonic()

    def work() -> None:
        while True:
            with lock:
                offset = next(offsets, None)
            if offset is None:
                return
            do(handle, offset)

    _threads(work)
    then()
    took = time.monotonic() - began
    os.close(handle)
    return took


def _threads(work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(CORES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _make_image(path: Path, size: int) -> None:
    """30 % zeros (written, no holes), 30 % random, 40 % compressible, in runs of a few blocks."""
    chance = random.Random(1)
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(_content(chance.choices("zrc", (30, 30, 40))[0], chance))
    os.sync()


def _content(kind: str, chance: random.Random) -> bytes:
    if kind == "z":
        return bytes(BLOCK)
    if kind == "r":
        return chance.randbytes(BLOCK)
    # A random half beside a repeated one, 512 bytes at a time: about 2 : 1.
    half, same = chance.randbytes(BLOCK // 2), chance.randbytes(512)
    return b"".join(half[at : at + 512] + same for at in range(0, BLOCK // 2, 512))


def _change(path: Path, size: int, seed: int) -> None:
    chance = random.Random(1000 + seed)
    with path.open("r+b") as file:
        for offset in chance.sample(range(0, size, BLOCK), max(1, size // BLOCK // 100)):
            file.seek(offset)
            file.write(chance.randbytes(BLOCK))
    os.sync()


def _make_tree(path: Path, files: int) -> None:
    """2 GiB in 100,000 files: mostly small, a few large; half of the bytes compressible."""
    chance = random.Random(2)
    pool = (
        chance.randbytes(32 * MIB) + b"".join(b"line %d of a log\n" % number for number in range(2 * MIB))[: 32 * MIB]
    )
    for number in range(files):
        directory = path / f"{number // 5000:03}" / f"{number // 100 % 50:02}"
        if number % 100 == 0:
            directory.mkdir(parents=True)
        length = 10 * MIB if number % 1000 == 0 else int(chance.expovariate(1 / 10_500))
        start = chance.randrange(len(pool) - length)
        (directory / f"file-{number}").write_bytes(pool[start : start + length])
    os.sync()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    os.sync()

"""A first backup to a store that takes 50 ms for each answer, against what the client reaches there alone."""

import json
import math
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.far_client import credentials_of
from bench.movers import Ours
from bench.rows import Row
from bench.samples import make_image
from bench.scale import MIB, REPEATS, SCALE, show

_DELAY_SECONDS = 0.05
_IN_FLIGHT = (8, 16, 32, 64)
_MOVER_THREADS = 16
_GIGABIT = 125e6


@dataclass(frozen=True)
class FarStore:
    """A running server; its bucket is never emptied, so every run has a path of its own."""

    endpoint: str

    @property
    def credentials(self) -> Mapping[str, str]:
        return credentials_of(self.endpoint)

    def seen(self) -> dict[str, Any]:
        """What it has seen since the last time that it was asked."""
        with urllib.request.urlopen(f"{self.endpoint}/_seen") as answer:
            told: dict[str, Any] = json.load(answer)
            return told

    def moving(self) -> "Moving":
        """The blocks since the last time that it was asked."""
        told = self.seen()
        return Moving(float(told["large_bytes"]) / 1e6, float(told["moving_seconds"]))


@dataclass(frozen=True)
class Moving:
    """Blocks on their way, from the first one's arrival to the last one's answer."""

    megabytes: float
    seconds: float

    @property
    def rate(self) -> float:
        return self.megabytes / self.seconds


@contextmanager
def far_store(delay_seconds: float, *, bytes_per_second: float = math.inf) -> Iterator[FarStore]:
    command = [sys.executable, "-m", "bench.far_server", str(delay_seconds), str(bytes_per_second)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            if server.stdout is None:
                raise RuntimeError("no pipe")
            yield FarStore(f"http://127.0.0.1:{int(server.stdout.readline())}")
        finally:
            server.terminate()


def rows(place: Path) -> list[Row]:
    image, size = place / "image", int(1024 * SCALE) // 2 * 2 * MIB
    make_image(image, size)
    alone: dict[int, float] = dict.fromkeys(_IN_FLIGHT, 0.0)
    packed, bare, whole, moving, job, memory = 0.0, 0.0, 0.0, 0.0, math.inf, 0.0
    with far_store(_DELAY_SECONDS) as store:
        for repeat in range(REPEATS):
            for threads in _IN_FLIGHT:
                alone[threads] = max(alone[threads], _put_alone(store, image, threads, "image", repeat).rate)
            packed = max(packed, _put_alone(store, image, _IN_FLIGHT[-1], "packed", repeat).rate)
            bare = max(bare, _put_alone(store, image, _MOVER_THREADS, "bare", repeat).rate)
            ours = Ours(place, url=f"s3://bucket@us-east-1/ours-{repeat}/", credentials=store.credentials)
            job = min(job, ours.upload("image", image, forget=True))
            moved = store.moving()
            whole, moving = max(whole, size / 1e6 / moved.seconds), max(moving, moved.rate)
            memory = max(memory, ours.memory_mib)
    best = max(alone, key=lambda threads: alone[threads])
    told = show(
        [
            *(Row(f"far store, the client alone with the image, {n} in flight", alone[n], "MB/s") for n in alone),
            Row("far store, first backup, of the image", whole, "MB/s"),
            Row(f"far store, of the client alone ({best} in flight)", whole / alone[best], "ratio", target=0.85),
            Row("far store, the client alone with what a backup sends", packed, "MB/s"),
            Row("far store, first backup, on the line", moving, "MB/s"),
            Row("far store, of the client alone, on the line", moving / packed, "ratio"),
            Row("far store, reading, hashing, compressing and putting, bare, on the line", bare, "MB/s"),
            Row("far store, of that", moving / bare, "ratio"),
            Row("far store, first backup, the whole job with its lock", job, "s"),
            Row("memory of the mover, far store", memory, "MiB", target=150, better="less"),
        ]
    )
    return told + _narrow_rows(place, image)


def _narrow_rows(place: Path, image: Path) -> list[Row]:
    """The same where the line and not the processor is the limit, as it is with most stores that are far away."""
    alone = moving = 0.0
    with far_store(_DELAY_SECONDS, bytes_per_second=_GIGABIT) as store:
        for repeat in range(REPEATS):
            alone = max(alone, _put_alone(store, image, _IN_FLIGHT[-1], "packed", repeat).rate)
            ours = Ours(place, url=f"s3://bucket@us-east-1/ours-{repeat}/", credentials=store.credentials)
            ours.upload("image", image, forget=True)
            moving = max(moving, store.moving().rate)
    return show(
        [
            Row("far store behind 1 Gbit/s, the client alone", alone, "MB/s"),
            Row("far store behind 1 Gbit/s, first backup, on the line", moving, "MB/s"),
            Row("far store behind 1 Gbit/s, of the client alone", moving / alone, "ratio", target=0.85),
        ]
    )


def _put_alone(store: FarStore, image: Path, threads: int, how: str, repeat: int) -> Moving:
    path = f"{how}-{threads}-{repeat}"
    command = [sys.executable, "-m", "bench.far_client", store.endpoint, str(image), str(threads), path, how]
    subprocess.run(command, check=True)
    return store.moving()

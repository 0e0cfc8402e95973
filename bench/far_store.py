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

    def bandwidth(self) -> float:
        """MB/s of blocks, from the first one's arrival to the last one's answer."""
        told = self.seen()
        return float(told["large_bytes"]) / float(told["moving_seconds"]) / 1e6


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
    image = place / "image"
    make_image(image, int(1024 * SCALE) // 2 * 2 * MIB)
    alone: dict[int, float] = dict.fromkeys(_IN_FLIGHT, 0.0)
    moving, bare, seconds, memory = 0.0, 0.0, float("inf"), 0.0
    with far_store(_DELAY_SECONDS) as store:
        for repeat in range(REPEATS):
            for threads in _IN_FLIGHT:
                _put_alone(store, image, threads, path=f"alone-{repeat}-{threads}")
                alone[threads] = max(alone[threads], store.bandwidth())
            _put_alone(store, image, _MOVER_THREADS, "bare", path=f"bare-{repeat}")
            bare = max(bare, store.bandwidth())
            ours = Ours(place, url=f"s3://bucket@us-east-1/ours-{repeat}/", credentials=store.credentials)
            seconds = min(seconds, ours.upload("image", image, forget=True))
            moving, memory = max(moving, store.bandwidth()), max(memory, ours.memory_mib)
    best = max(alone, key=lambda threads: alone[threads])
    told = show(
        [
            *(Row(f"far store, the client alone, {threads} in flight", alone[threads], "MB/s") for threads in alone),
            Row("far store, first backup while blocks move", moving, "MB/s"),
            Row(f"far store, of the client alone ({best} in flight)", moving / alone[best], "ratio", target=0.85),
            Row("far store, reading, hashing, compressing and putting, bare", bare, "MB/s"),
            Row("far store, of that", moving / bare, "ratio"),
            Row("far store, first backup, the whole job with its lock", seconds, "s"),
            Row("memory of the mover, far store", memory, "MiB", target=150, better="less"),
        ]
    )
    return told + _narrow_rows(place, image)


def _narrow_rows(place: Path, image: Path) -> list[Row]:
    """The same where the line and not the processor is the limit, as it is with most stores that are far away."""
    alone = moving = 0.0
    with far_store(_DELAY_SECONDS, bytes_per_second=_GIGABIT) as store:
        for repeat in range(REPEATS):
            _put_alone(store, image, _IN_FLIGHT[-1], path=f"alone-{repeat}")
            alone = max(alone, store.bandwidth())
            ours = Ours(place, url=f"s3://bucket@us-east-1/ours-{repeat}/", credentials=store.credentials)
            ours.upload("image", image, forget=True)
            moving = max(moving, store.bandwidth())
    return show(
        [
            Row("far store behind 1 Gbit/s, the client alone", alone, "MB/s"),
            Row("far store behind 1 Gbit/s, first backup while blocks move", moving, "MB/s"),
            Row("far store behind 1 Gbit/s, of the client alone", moving / alone, "ratio", target=0.85),
        ]
    )


def _put_alone(store: FarStore, image: Path, threads: int, *how: str, path: str) -> None:
    command = [sys.executable, "-m", "bench.far_client", store.endpoint, str(image), str(threads), path, *how]
    subprocess.run(command, check=True)

"""A first backup to a store that takes 50 ms for each answer, against what the client reaches there alone.

The client alone sends bodies that are ready, and it is asked with several numbers of requests in flight; the one with
the best median is enough. What is compared is measured in turns and as often, and the best of each counts.
"""

import json
import math
import socket
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bench.far_client import credentials_of
from bench.movers import Ours
from bench.rows import Row
from bench.samples import make_image
from bench.scale import MIB, REPEATS, SCALE, show
from tidegate.testing.stores.rclone_server import RcloneServer

_DELAY_SECONDS = 0.05
_IN_FLIGHT = (8, 16, 32, 64)
_BARE_THREADS = 16
_GIGABIT = 125e6
# A turn takes seconds, and on two cores that three processes share one differs much from the next.
_TURNS = max(5, REPEATS)


@dataclass(frozen=True)
class Moving:
    """Blocks on their way, from the first one's arrival to the last one's answer."""

    megabytes: float
    seconds: float

    @property
    def rate(self) -> float:
        return self.megabytes / self.seconds


class FarStore(Protocol):
    """A running store behind some distance; it is never emptied, so every run has a path of its own."""

    @property
    def bucket(self) -> str: ...

    @property
    def credentials(self) -> Mapping[str, str]: ...

    def moving(self) -> Moving:
        """The blocks since the last time that it was asked."""
        ...


@dataclass(frozen=True)
class CheapStore:
    """Our own server, which does as little as it can: what is left of the processors is the client's."""

    endpoint: str
    bucket: str = "bucket"

    @property
    def credentials(self) -> Mapping[str, str]:
        return credentials_of(self.endpoint)

    def seen(self) -> dict[str, Any]:
        """All that it has seen since the last time that it was asked."""
        with urllib.request.urlopen(f"{self.endpoint}/_seen") as answer:
            told: dict[str, Any] = json.load(answer)
            return told

    def moving(self) -> Moving:
        told = self.seen()
        return Moving(float(told["large_bytes"]) / 1e6, float(told["moving_seconds"]))


@dataclass(frozen=True)
class RealStore:
    """A server that people use, behind a relay that lets its answers wait."""

    bucket: str
    credentials: Mapping[str, str]
    teller: int

    def moving(self) -> Moving:
        with socket.create_connection(("127.0.0.1", self.teller)) as line, line.makefile("rb") as answer:
            told = json.load(answer)
        return Moving(told["large_bytes"] / 1e6, told["last"] - told["first"])


@contextmanager
def far_store(delay_seconds: float, *, bytes_per_second: float = math.inf) -> Iterator[CheapStore]:
    with _ports_of("bench.far_server", str(delay_seconds), str(bytes_per_second)) as (port,):
        yield CheapStore(f"http://127.0.0.1:{port}")


@contextmanager
def real_far_store(place: Path) -> Iterator[RealStore]:
    with ExitStack() as stack:
        server = RcloneServer(place).start()
        stack.callback(server.stop)
        port = server.endpoint.rpartition(":")[2]
        relay, teller = stack.enter_context(_ports_of("bench.far_relay", str(_DELAY_SECONDS), port))
        credentials = server.credentials(AWS_ENDPOINTS=f"http://127.0.0.1:{relay}")
        yield RealStore(server.new_bucket(), credentials, teller)


@contextmanager
def _ports_of(module: str, *arguments: str) -> Iterator[list[int]]:
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            if server.stdout is None:
                raise RuntimeError("no pipe")
            yield [int(port) for port in server.stdout.readline().split()]
        finally:
            server.terminate()


@dataclass(frozen=True)
class _Scene:
    """An image, a store, and how often it was put there so far."""

    place: Path
    image: Path
    store: FarStore

    def alone(self, threads: int, how: str, turn: int) -> float:
        """MB/s of the client alone."""
        url = self._url(f"{how}-{threads}-{turn}")
        command = [sys.executable, "-m", "bench.far_client", url, str(self.image), str(threads), how]
        subprocess.run(command, check=True, input=json.dumps(dict(self.store.credentials)), text=True)
        return self.store.moving().rate

    def backup(self, turn: int) -> "_Backup":
        ours = Ours(self.place, url=self._url(f"ours-{turn}"), credentials=self.store.credentials)
        job_seconds = ours.upload("image", self.image, forget=True)
        return _Backup(self.store.moving(), job_seconds, ours.memory_mib, self.image.stat().st_size / 1e6)

    def _url(self, path: str) -> str:
        return f"s3://{self.store.bucket}@us-east-1/{path}/"


@dataclass(frozen=True)
class _Backup:
    moved: Moving
    job_seconds: float
    memory_mib: float
    image_megabytes: float

    @property
    def rate_of_the_image(self) -> float:
        return self.image_megabytes / self.moved.seconds


def rows(place: Path) -> list[Row]:
    image, size = place / "image", int(1024 * SCALE) // 2 * 2 * MIB
    make_image(image, size)
    with far_store(_DELAY_SECONDS) as cheap:
        told = _rows("far store", _Scene(place, image, cheap), _IN_FLIGHT)
    with real_far_store(place / "rclone") as real:
        told += _rows("far store of rclone", _Scene(place, image, real), _IN_FLIGHT[1:])
    return told + _narrow_rows(place, image)


def _rows(what: str, scene: _Scene, in_flight: Sequence[int]) -> list[Row]:
    alone: dict[int, list[float]] = {threads: [] for threads in in_flight}
    packed, bare, backups = [], [], []
    for turn in range(_TURNS):
        for threads in in_flight:
            alone[threads].append(scene.alone(threads, "image", turn))
        packed.append(scene.alone(in_flight[-1], "packed", turn))
        bare.append(scene.alone(_BARE_THREADS, "bare", turn))
        backups.append(scene.backup(turn))
    enough = max(in_flight, key=lambda threads: statistics.median(alone[threads]))
    whole = [backup.rate_of_the_image for backup in backups]
    line = [backup.moved.rate for backup in backups]
    return show(
        [
            *(Row(f"{what}, the client alone with the image, {n} in flight", max(alone[n]), "MB/s") for n in in_flight),
            Row(f"{what}, first backup, of the image", max(whole), "MB/s"),
            Row(
                f"{what}, of the client alone ({enough} in flight)", _share(whole, alone[enough]), "ratio", target=0.85
            ),
            Row(f"{what}, the same, medians", _share_of_medians(whole, alone[enough]), "ratio"),
            Row(f"{what}, the client alone with what a backup sends", max(packed), "MB/s"),
            Row(f"{what}, first backup, on the line", max(line), "MB/s"),
            Row(f"{what}, of the client alone, on the line", _share(line, packed), "ratio"),
            Row(f"{what}, the same, medians", _share_of_medians(line, packed), "ratio"),
            Row(f"{what}, each thread reads, hashes, compresses and puts, on the line", max(bare), "MB/s"),
            Row(f"{what}, of that", _share(line, bare), "ratio"),
            Row(f"{what}, first backup, the whole job with its lock", min(b.job_seconds for b in backups), "s"),
            Row(f"memory of the mover, {what}", max(b.memory_mib for b in backups), "MiB", target=150, better="less"),
        ]
    )


def _share(ours: Sequence[float], alone: Sequence[float]) -> float:
    return max(ours) / max(alone)


def _share_of_medians(ours: Sequence[float], alone: Sequence[float]) -> float:
    return statistics.median(ours) / statistics.median(alone)


def _narrow_rows(place: Path, image: Path) -> list[Row]:
    """The same where the line and not the processor is the limit, as it is with most stores that are far away."""
    with far_store(_DELAY_SECONDS, bytes_per_second=_GIGABIT) as store:
        scene = _Scene(place, image, store)
        alone = max(scene.alone(_IN_FLIGHT[-1], "packed", turn) for turn in range(REPEATS))
        moving = max(scene.backup(turn).moved.rate for turn in range(REPEATS))
    return show(
        [
            Row("far store behind 1 Gbit/s, the client alone", alone, "MB/s"),
            Row("far store behind 1 Gbit/s, first backup, on the line", moving, "MB/s"),
            Row("far store behind 1 Gbit/s, of the client alone", moving / alone, "ratio", target=0.85),
        ]
    )

"""The catalogue: lists while a sync writes, and syncs of a store that takes 750 ms for each answer.

At full size 1,000,000 backups in 10,000 volumes for the lists, 1,000 x 1,000 for the syncs; without index objects the
first is read with 1,024 requests in flight, and with 64 only a part, or it would take hours.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.catalogue_changes import change_of
from bench.catalogue_lists import Syncing, lists_over_http
from bench.catalogue_samples import Formula
from bench.rows import Row
from bench.scale import BENCH_DIR, SCALE, show
from tidegate.app.processes.sync_cores import all_but_one, confine
from tidegate.catalogue.database import SqliteCatalogue

_SECONDS = 0.75
_LOOKS = max(120, int(500 * SCALE))


def run() -> Sequence[Row]:
    with tempfile.TemporaryDirectory(dir=BENCH_DIR) as directory:
        place = Path(directory)
        return [*_lists(place), *show(_syncs(place))]


def _lists(place: Path) -> list[Row]:
    formula, stored = Formula(max(10, int(10_000 * SCALE)), 100), Formula(max(20, int(1000 * SCALE)), 1000)
    rows = show(asyncio.run(_fill(place / "full.sqlite", formula)))
    with _far(stored, beside=True) as endpoint:
        for syncing in (
            Syncing("cfgs are read, 1,024 at once", endpoint, "plain", 1024),
            Syncing("indexes are read, 64 at once", endpoint, "indexed", 64),
        ):
            path = place / f"{syncing.bucket}-lists.sqlite"
            shutil.copyfile(place / "full.sqlite", path)
            rows += show(lists_over_http(path, formula, syncing, looks=_LOOKS))
    return rows


async def _fill(path: Path, formula: Formula) -> list[Row]:
    catalogue = SqliteCatalogue.open(path)
    began = time.perf_counter()
    for volume in range(formula.volumes):
        await catalogue.apply(change_of(formula, volume))
    filling = time.perf_counter() - began
    total = formula.volumes * formula.backups
    catalogue.close()
    size = path.stat().st_size  # noqa: ASYNC240  # nobody else waits on this loop
    return [
        Row(f"database of {total:,} backups, for each", size / total, "bytes", target=400, better="less"),
        Row("filling it", total / filling, "backups/s"),
    ]


def _syncs(place: Path) -> list[Row]:
    formula = Formula(max(20, int(1000 * SCALE)), max(20, int(1000 * min(1.0, SCALE * 4))))
    rows = []
    with _far(formula) as endpoint:
        for what, bucket, in_flight, most in (
            ("with index objects", "indexed", 64, 1.5),
            ("without index objects", "plain", 1024, None),
        ):
            told, seen = _sync(endpoint, bucket, in_flight, place / f"{bucket}.sqlite")
            rows.append(_of_floor(f"cold sync {what}, {in_flight} in flight", told, seen, in_flight, most))
            rows.append(Row(f"its memory, {what}", told["mib"], "MiB", target=400, better="less"))
            if bucket == "plain":
                rows.append(Row("cfgs read, 1,024 in flight", seen["cfg"] / told["seconds"], "1/s", target=1000))
            if told["backups"] != formula.volumes * formula.backups or told["errors"]:
                raise RuntimeError(f"the sync found {told}")
            again, seen = _sync(endpoint, bucket, in_flight, place / f"{bucket}.sqlite")
            rows.append(Row(f"cfgs read when nothing changed, {what}", seen.get("cfg", 0), "", target=0, better="less"))
            each = sum(seen.values()) / formula.volumes
            rows.append(Row(f"requests per volume when nothing changed, {what}", each, "", target=3, better="less"))
            rows.append(Row(f"such a sync, {what}", again["seconds"], "s"))
    few = Formula(formula.volumes, max(4, formula.backups // 50))
    with _far(few) as endpoint:
        told, seen = _sync(endpoint, "plain", 64, place / "few.sqlite")
        rows.append(_of_floor("cold sync without index objects, 64 in flight", told, seen, 64, 1.2))
    return rows


def _of_floor(what: str, told: dict[str, float], seen: dict[str, int], in_flight: int, most: float | None) -> Row:
    floor = sum(seen.values()) / in_flight * _SECONDS
    print(f"{what}: {told} {seen} floor {floor:.1f} s", file=sys.stderr)
    return Row(f"{what}, of the floor of {floor:.1f} s", told["seconds"] / floor, "times", target=most, better="less")


@contextmanager
def _far(formula: Formula, *, beside: bool = False) -> Iterator[str]:
    """The store. It is elsewhere: `beside` lists, its work here must not be taken from whoever looks at them."""
    command = [
        sys.executable,
        "-m",
        "bench.catalogue_server",
        str(_SECONDS),
        str(formula.volumes),
        str(formula.backups),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            if beside:
                confine(server.pid, all_but_one(os.sched_getaffinity(0)))
            if server.stdout is None:
                raise RuntimeError("no pipe")
            yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.terminate()


def _sync(endpoint: str, bucket: str, in_flight: int, database: Path) -> tuple[dict[str, float], dict[str, int]]:
    command = [sys.executable, "-m", "bench.catalogue_client", endpoint, bucket, str(in_flight), str(database)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    with urllib.request.urlopen(f"{endpoint}/_seen") as answer:
        return json.loads(done.stdout), json.load(answer)

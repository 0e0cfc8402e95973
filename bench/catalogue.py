"""The catalogue: lists while a sync writes, and syncs of a store that takes 750 ms for each answer.

At full size 1,000,000 backups in 10,000 volumes for the lists, 1,000 x 1,000 for the syncs; without index objects the
first is read with 1,024 requests in flight, and with 64 only a part, or it would take hours.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from bench.catalogue_changes import change_of
from bench.catalogue_lists import lists_over_http
from bench.catalogue_samples import BEGINNING, Formula
from bench.rows import Row
from bench.scale import BENCH_DIR, SCALE, show
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.model.catalogue import BackupState, CatalogueFilter

_SECONDS = 0.75
_LOOKS = max(120, int(1000 * SCALE))


def run() -> Sequence[Row]:
    with tempfile.TemporaryDirectory(dir=BENCH_DIR) as directory:
        place = Path(directory)
        return [*show(asyncio.run(_lists(place / "lists.sqlite"))), *show(_syncs(place))]


async def _lists(path: Path) -> list[Row]:
    formula = Formula(max(10, int(10_000 * SCALE)), 100)
    catalogue = SqliteCatalogue.open(path)
    began = time.perf_counter()
    for volume in range(formula.volumes):
        await catalogue.apply(change_of(formula, volume))
    filling = time.perf_counter() - began
    total = formula.volumes * formula.backups
    taken = await _looks(catalogue, formula)
    catalogue.close()
    size = path.stat().st_size  # noqa: ASYNC240  # nobody else waits on this loop
    return [
        Row(f"database of {total:,} backups, for each", size / total, "bytes", target=400, better="less"),
        Row("filling it", total / filling, "backups/s"),
        *(
            Row(f"{what}, p99 while a sync writes", _p99(times) * 1000, "ms", target=50, better="less")
            for what, times in taken.items()
        ),
        *await asyncio.to_thread(lists_over_http, path, formula, looks=_LOOKS),
    ]


def _p99(times: list[float]) -> float:
    return statistics.quantiles(times, n=100)[98]


async def _looks(catalogue: SqliteCatalogue, formula: Formula) -> dict[str, list[float]]:
    """Each kind of look many times, at different depths, while another task writes all the time."""
    stop = threading.Event()
    ready = [change_of(formula, number) for number in range(min(20, formula.volumes))]

    async def keep_writing() -> None:
        number = 0
        while not stop.is_set():
            change = ready[number % len(ready)]
            number += 1
            backups = [replace(found, mark=number) for found in change.backups]
            await catalogue.apply(replace(change, backups=backups))

    # In a thread with a loop of its own, as in the server.
    writing = threading.Thread(target=lambda: asyncio.run(keep_writing()))
    writing.start()
    taken: dict[str, list[float]] = {}
    try:
        for what, look in _kinds(catalogue, formula).items():
            taken[what] = []
            for number in range(_LOOKS):
                began = time.perf_counter()
                await look(number)
                taken[what].append(time.perf_counter() - began)
    finally:
        stop.set()
        writing.join()
    return taken


def _kinds(catalogue: SqliteCatalogue, formula: Formula) -> dict[str, Callable[[int], Awaitable[object]]]:
    def at(number: int) -> str:
        moment = formula.created(0, number % formula.backups)
        return f"1:{int(moment.timestamp())}"

    def name(number: int) -> str:
        return formula.volume_name(number * 7 % formula.volumes)

    def wanted(**fields: object) -> CatalogueFilter:
        return CatalogueFilter(**fields)  # type: ignore[arg-type]

    backups, volumes, counts, facets = catalogue.backups, catalogue.volumes, catalogue.counts, catalogue.facets
    return {
        "page of all backups, at any depth": lambda n: backups(wanted(), marker=at(n)),
        "page of one volume's backups": lambda n: backups(wanted(volume=name(n))),
        "page by namespace": lambda n: backups(wanted(namespace=f"team-{n % 100}"), marker=at(n)),
        "page by part of a name, narrow": lambda n: backups(wanted(search=f"web-{n % formula.volumes}"), marker=at(n)),
        "page by part of a name, broad": lambda n: backups(wanted(search="0"), marker=at(n)),
        "page by label": lambda n: backups(wanted(labels={"RecurringJob": "nightly"}), marker=at(n)),
        "page by state": lambda _: backups(wanted(state=BackupState.ERROR)),
        "page of a time range": lambda n: backups(
            wanted(since=BEGINNING, until=BEGINNING + timedelta(hours=n % formula.backups))
        ),
        "page of volumes": lambda n: volumes(wanted(), marker=f"1:{name(n)}"),
        "page of volumes by namespace": lambda n: volumes(wanted(namespace=f"team-{n % 100}")),
        "page after any number": lambda n: backups(wanted(), skip=n * 997 % (formula.volumes * formula.backups)),
        "facets of all": lambda _: facets(wanted()),
        "facets by namespace": lambda n: facets(wanted(namespace=f"team-{n % 100}")),
        "facets by part of a name, broad": lambda _: facets(wanted(search="0")),
        "facets by label": lambda _: facets(wanted(labels={"RecurringJob": "nightly"})),
        "facets of a time range": lambda n: facets(wanted(until=BEGINNING + timedelta(hours=n % formula.backups))),
        "count of all": lambda _: counts(wanted()),
        "count by namespace": lambda n: counts(wanted(namespace=f"team-{n % 100}")),
        "count of a time range": lambda n: counts(wanted(until=BEGINNING + timedelta(hours=n % formula.backups))),
    }


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
def _far(formula: Formula) -> Iterator[str]:
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

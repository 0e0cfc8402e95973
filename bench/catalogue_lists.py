"""Lists, searches and counts over HTTP, while a sync runs: each many times, at different depths."""

import http.client
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from bench.catalogue_samples import BEGINNING, Formula
from bench.neighbours import processor_time, taken_since
from bench.rows import Row
from tidegate.format.cfgs.times import format_time

TOKEN = "bench"


@dataclass(frozen=True)
class Syncing:
    """The sync that runs meanwhile."""

    what: str
    endpoint: str
    bucket: str
    in_flight: int


def lists_over_http(path: Path, formula: Formula, syncing: Syncing, *, looks: int) -> list[Row]:
    """Looks of all kinds in turn, as people have them: a moment in which the machine is slow falls on all of them."""
    rows = []
    with _server(path, syncing) as address:
        connection = http.client.HTTPConnection(address)
        ways = _ways(formula)
        times: dict[str, list[float]] = {what: [] for what in ways}
        before = processor_time()
        for number in range(looks):
            for what, way in ways.items():
                began = time.perf_counter()
                _get(connection, way(number))
                times[what].append(time.perf_counter() - began)
        rows.append(Row(f"processor time that the host took, while {syncing.what}", taken_since(before), "%"))
        for what, seconds in times.items():
            p99 = statistics.quantiles(seconds, n=100)[98]
            rows.append(Row(f"{what}, p99 while {syncing.what}", p99 * 1000, "ms", target=50, better="less"))
        began = time.perf_counter()
        size = len(_get(connection, "/v1/backupvolumes"))
        rows.append(Row(f"all volumes in one list ({size / 1e6:.1f} MB)", time.perf_counter() - began, "s"))
    return rows


def _get(connection: http.client.HTTPConnection, way: str) -> bytes:
    connection.request("GET", way, headers={"Authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != http.HTTPStatus.OK:
        raise RuntimeError(f"{way}: {answer.status} {body[:200]!r}")
    return body


def _ways(formula: Formula) -> dict[str, Callable[[int], str]]:
    def marker(number: int) -> str:
        return f"1:{int(formula.created(0, number % formula.backups).timestamp())}"

    def name(number: int) -> str:
        return formula.volume_name(number * 7 % formula.volumes)

    def backups(**query: str) -> str:
        return f"/v1/catalogue/backups?{urlencode(query)}"

    def until(number: int) -> str:
        return format_time(BEGINNING + timedelta(hours=number % formula.backups))

    total = formula.volumes * formula.backups
    return {
        "page of all backups": lambda n: backups(marker=marker(n)),
        "page of one volume's backups": lambda n: f"/v1/backupvolumes/{name(n)}?action=backupList&limit=100",
        "one volume": lambda n: f"/v1/backupvolumes/{name(n)}",
        "page after any number": lambda n: backups(skip=str(n * 997 % total)),
        "page by namespace": lambda n: backups(namespace=f"team-{n % 100}", marker=marker(n)),
        "page by claim": lambda n: backups(claim=f"data-{n % formula.volumes}"),
        "page by part of a name, narrow": lambda n: backups(search=f"web-{n % formula.volumes}"),
        "page by part of a name, broad": lambda n: backups(search="0", marker=marker(n)),
        "page by label": lambda n: backups(label="RecurringJob=nightly", marker=marker(n)),
        "page by state": lambda _: backups(state="Error"),
        "page of a time range": lambda n: backups(until=until(n)),
        "page of volumes": lambda n: f"/v1/backupvolumes?limit=100&marker={quote(f'1:{name(n)}')}",
        "page of volumes by namespace": lambda n: f"/v1/catalogue/volumes?namespace=team-{n % 100}",
        "facets of all": lambda _: "/v1/catalogue/facets",
        "facets by part of a name": lambda _: "/v1/catalogue/facets?search=0",
        "facets by label": lambda _: "/v1/catalogue/facets?label=RecurringJob%3Dnightly",
        "facets of a time range": lambda n: f"/v1/catalogue/facets?{urlencode({'until': until(n)})}",
        "count of all": lambda _: "/v1/catalogue/counts",
        "count by namespace": lambda n: f"/v1/catalogue/counts?namespace=team-{n % 100}",
        "count by label": lambda _: "/v1/catalogue/counts?label=RecurringJob%3Dnightly",
        "count of a time range": lambda n: f"/v1/catalogue/counts?{urlencode({'until': until(n)})}",
        "state of the catalogue": lambda _: "/v1/catalogue/status",
    }


@contextmanager
def _server(path: Path, syncing: Syncing) -> Iterator[str]:
    sync = [syncing.endpoint, syncing.bucket, str(syncing.in_flight)]
    command = [sys.executable, "-m", "bench.catalogue_http", str(path), *sync]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            if server.stdout is None:
                raise RuntimeError("no pipe")
            yield urlsplit(server.stdout.readline().strip()).netloc
        finally:
            server.terminate()

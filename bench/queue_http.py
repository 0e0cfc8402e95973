"""What people wait for while ten thousand backups are queued: looking at the queue, and asking for one more."""

import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from bench.backup_queue import NAMESPACES
from bench.rows import Row

QUEUED = 10_000
CLIENTS = 100
OF_EACH = 5
LOOKS = 15
TOKEN = "bench"
_HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}


def run() -> Sequence[Row]:
    with tempfile.TemporaryDirectory() as place, _server(Path(place) / "tidegate.db") as address:
        connection = http.client.HTTPConnection(address)
        page = _best(connection, "/v1/queue?limit=500")
        whole = _best(connection, "/v1/queue")
        listed = _best(connection, "/v1/backups?limit=500")
        scrape = _best(connection, "/metrics")
        alone = min(_submit(connection, f"alone-{number}", number) for number in range(LOOKS))
        together = _together(address)
    return [
        Row(f"GET /v1/queue, first 500 of {QUEUED:,}", page, "ms", target=50, better="less"),
        Row("GET /v1/queue, all of them", whole, "ms", target=400, better="less"),
        Row("GET /v1/backups, page of 500", listed, "ms"),
        Row("GET /metrics", scrape, "ms"),
        Row("POST /v1/backups, one client", alone, "ms", target=20, better="less"),
        Row(f"POST /v1/backups, {CLIENTS} clients, for each backup", together, "ms", target=20, better="less"),
    ]


def _best(connection: http.client.HTTPConnection, way: str) -> float:
    return min(_asked(connection, "GET", way) for _ in range(LOOKS))


def _submit(connection: http.client.HTTPConnection, name: str, number: int) -> float:
    spec = {"includedNamespaces": [NAMESPACES[number % len(NAMESPACES)]], "allowEmpty": True}
    return _asked(connection, "POST", "/v1/backups", json.dumps({"metadata": {"name": name}, "spec": spec}))


def _together(address: str) -> float:
    """All clients ask at once, each again and again; what one backup took of the time of all."""

    def client(number: int) -> None:
        connection = http.client.HTTPConnection(address)
        for turn in range(OF_EACH):
            _submit(connection, f"together-{number}-{turn}", number * OF_EACH + turn)
        connection.close()

    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(client, range(CLIENTS)))
    return (time.perf_counter() - began) * 1_000 / (CLIENTS * OF_EACH)


def _asked(connection: http.client.HTTPConnection, method: str, way: str, body: str | None = None) -> float:
    """Milliseconds until the whole answer is here."""
    began = time.perf_counter()
    connection.request(method, way, body=body, headers=_HEADERS)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status not in {http.HTTPStatus.OK, http.HTTPStatus.CREATED}:
        raise RuntimeError(f"{method} {way}: {answer.status} {text[:200]!r}")
    return (time.perf_counter() - began) * 1_000


@contextmanager
def _server(path: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "bench.queue_server", str(path), str(QUEUED)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None  # asked for above
            yield urlsplit(process.stdout.readline().strip()).netloc
        finally:
            process.kill()

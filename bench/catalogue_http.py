"""A server with nothing but the API over a catalogue that a sync writes to all the time; prints its port.

The sync writes 1,300 backups a second, which is what reading cfgs with 1,024 requests in flight brings.

In a process of its own, so that whoever measures it does not slow it down.
"""

import asyncio
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from bench.catalogue_changes import change_of
from bench.catalogue_samples import Formula
from tidegate.api.services import Services
from tidegate.app.clock import SystemClock
from tidegate.app.collector import search_seldom
from tidegate.app.http_server import HttpServer, listening_socket, url_of
from tidegate.app.identity import new_id
from tidegate.app.surroundings import LocalSurroundings
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.resources.memory import MemoryStore
from tidegate.testing.builders import a_target

TOKEN = "bench"
_BACKUPS_PER_SECOND = 1300


async def _keep_writing(catalogue: SqliteCatalogue, formula: Formula) -> None:
    ready = [change_of(formula, number) for number in range(min(20, formula.volumes))]
    number, due = 0, time.monotonic()
    while True:
        due += formula.backups / _BACKUPS_PER_SECOND
        await asyncio.sleep(due - time.monotonic())
        change = ready[number % len(ready)]
        number += 1
        backups = [found._replace(mark=number) for found in change.backups]
        await catalogue.apply(replace(change, backups=backups))


async def _serve(path: Path, formula: Formula) -> None:
    clock = SystemClock()
    store = MemoryStore(clock=clock, new_id=new_id)
    await store.create(a_target("far", url="s3://bucket@region/"))
    catalogue = SqliteCatalogue.open(path)
    services = Services(
        store,
        clock,
        LocalSurroundings(),
        token_is_good=lambda token: token == TOKEN,
        version="bench",
        catalogue=catalogue,
    )
    # On a loop of its own, as in the server.
    writing = threading.Thread(target=lambda: asyncio.run(_keep_writing(catalogue, formula)), daemon=True)
    writing.start()
    with listening_socket("127.0.0.1", 0) as listener:
        server = HttpServer(services)
        search_seldom()  # as the server does
        print(url_of(listener), flush=True)
        await server.serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), Formula(int(sys.argv[2]), int(sys.argv[3]))))

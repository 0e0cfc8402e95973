"""A server with nothing but the API over a catalogue, and one sync after the other into it; prints its address.

`python -m bench.catalogue_http DATABASE ENDPOINT BUCKET IN_FLIGHT`: a process of its own, so that whoever measures it
does not slow it down. The syncs are real ones, in the process that a server has for them.
"""

import asyncio
import sys
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random

from bench.far_client import credentials_of
from tidegate.api.services import Services
from tidegate.app.http.server import HttpServer, listening_socket, url_of
from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.collector import search_seldom
from tidegate.app.machine.identity import new_id
from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.app.machine.volume_probe import LocalVolumeProbe
from tidegate.app.processes.children import Children
from tidegate.app.processes.nursery import Trade
from tidegate.app.processes.sync_client import SyncProcess
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.progress import SyncProgress
from tidegate.catalogue.target_sync import SyncOrder
from tidegate.controllers.stores.catalogue_sync import SyncErrand
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.resources.memory import MemoryStore
from tidegate.state.server_state import ServerState
from tidegate.testing.resources.builders import a_target

TOKEN = "bench"


async def _keep_syncing(process: SyncProcess, access: TargetAccess, in_flight: int) -> None:
    for number in count():
        order = SyncOrder(target=f"another-{number}")
        errand = SyncErrand(access, order, SyncProgress(datetime.now(UTC)), in_flight)
        began = asyncio.get_running_loop().time()
        outcome = await process.run(errand)
        seconds = asyncio.get_running_loop().time() - began
        print(f"a sync of {outcome.volumes:,} volumes took {seconds:.0f} s meanwhile", file=sys.stderr)


async def _serve(path: Path, access: TargetAccess, in_flight: int) -> None:
    clock = SystemClock()
    store = MemoryStore(clock=clock, new_id=new_id)
    await store.create(a_target("far", url="s3://bucket@region/"))
    children = Children(path.with_name("maps"))
    process = SyncProcess(path, lambda: children.start(Trade.SYNC))
    state = ServerState(store, clock, Random())
    state.start()
    await state.until_listed()
    services = Services(
        state,
        clock,
        LocalVolumeProbe(),
        ThreadedStoreProbe(),
        token_is_good=lambda token: token == TOKEN,
        version="bench",
        catalogue=SqliteCatalogue.open(path),
        make_way=process.cores.make_way,
    )
    with listening_socket("127.0.0.1", 0) as listener:
        server = HttpServer(services)
        search_seldom()  # as the server does
        syncing = asyncio.create_task(_keep_syncing(process, access, in_flight))
        print(url_of(listener), flush=True)
        await server.serve(sockets=[listener])
        syncing.cancel()


if __name__ == "__main__":
    database, endpoint, bucket, requests = sys.argv[1:]
    far = TargetAccess(url=f"s3://{bucket}@us-east-1/", credentials=dict(credentials_of(endpoint)))
    asyncio.run(_serve(Path(database), far, int(requests)))

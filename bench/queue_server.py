"""A server with a full house and ten thousand backups that wait; prints its address.

In a process of its own, so that whoever measures it does not slow it down. The queue is real and so is the database;
nobody begins the backups that it lets start, so all slots stay taken.
"""

import asyncio
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import structlog

from bench.backup_queue import LIMIT, NAMESPACES, sample_backup
from tidegate.api.services import Services
from tidegate.app.http.server import HttpServer, listening_socket, url_of
from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.collector import search_seldom
from tidegate.app.machine.identity import new_id
from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.app.machine.volume_probe import LocalVolumeProbe
from tidegate.controllers.queue.backup_queue import BackupQueue
from tidegate.controllers.runtime import Runtime
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.resource import Metadata
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.volumes.volume import Namespace
from tidegate.resources.sqlite import SqliteStore
from tidegate.state.server_state import ServerState
from tidegate.testing.resources.builders import a_target
from tidegate.testing.resources.put import put

TOKEN = "bench"
ENDED = 5_000


async def _fill(store: SqliteStore, queued: int) -> None:
    """Straight into the database: what is measured comes later."""
    limit = Setting(metadata=Metadata(name="concurrent-backups"), spec=SettingSpec(value=str(LIMIT)))
    await asyncio.gather(store.create(limit), store.create(a_target("store", url="file:///nowhere")))
    await asyncio.gather(*(store.create(Namespace(metadata=Metadata(name=name))) for name in NAMESPACES))
    await asyncio.gather(*(put(store, backup) for backup in _ended()))
    await asyncio.gather(*(put(store, sample_backup(number)) for number in range(queued)))


def _ended() -> Iterator[Backup]:
    """The past, from which starts are foretold."""
    for number in range(ENDED):
        backup = sample_backup(number)
        began = backup.metadata.creation_timestamp
        if began is not None:
            ended = began + timedelta(seconds=30 + number * 37 % 600)
            backup = backup.with_status(phase=BackupPhase.COMPLETED, start_timestamp=began, completion_timestamp=ended)
            yield backup.with_metadata(name=f"ended-{number:06}")


async def _serve(path: Path, queued: int) -> None:
    clock = SystemClock()
    store = await SqliteStore.open(path, clock=clock, new_id=new_id)
    await _fill(store, queued)
    state = ServerState(store, clock, Random(1))
    runtime = Runtime(state, clock, Random(1), [BackupQueue(state, clock, asyncio.Lock())])  # jitter
    services = Services(
        state,
        clock,
        LocalVolumeProbe(),
        ThreadedStoreProbe(),
        token_is_good=lambda token: token == TOKEN,
        version="bench",
    )
    since = (await store.list(Backup, limit=1)).resource_version
    search_seldom()  # as the server does
    runtime.start()
    started = set()
    async for event in store.watch(Backup, since=since):
        if isinstance(event.resource, Backup) and event.resource.status.phase is BackupPhase.READY_TO_START:
            started.add(event.resource.name)
            if len(started) == LIMIT:
                break
    with listening_socket("127.0.0.1", 0) as listener:
        print(url_of(listener), flush=True)
        await HttpServer(services).serve(sockets=[listener])


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))  # a line per backup is not measured
    asyncio.run(_serve(Path(sys.argv[1]), int(sys.argv[2])))

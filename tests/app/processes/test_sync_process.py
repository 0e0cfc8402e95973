"""Syncs in a process of their own: real processes, a real file, a real S3 server that can be made to wait."""

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime

import pytest

from tidegate.app.processes.children import Children
from tidegate.app.processes.nursery import Trade
from tidegate.app.processes.sync_client import SyncProcess
from tidegate.app.processes.sync_cores import all_but_one
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.progress import SyncProgress, SyncStage
from tidegate.catalogue.target_sync import SyncOrder
from tidegate.controllers.stores.catalogue_sync import SyncErrand
from tidegate.errors import HelperLost, StoreUnavailable
from tidegate.model.stores.catalogue import CatalogueFilter
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.testing.stores.stored_samples import backup_name, volume_name, write_volumes

STARTED = datetime(2026, 1, 1, tzinfo=UTC)


class Place:
    """A store in a directory, a catalogue that this process looks at, and another process that fills it."""

    def __init__(self, tmp_path, *, nursed):
        self.root = tmp_path
        self.catalogue = SqliteCatalogue.open(tmp_path / "catalogue.sqlite")
        self.children = Children(tmp_path / "maps", nursed=nursed)
        self.process = SyncProcess(tmp_path / "catalogue.sqlite", lambda: self.children.start(Trade.SYNC))

    def store(self, name="store", **size):
        write_volumes(self.root / name, **size)
        return self.errand(f"file://{self.root / name}", target=name)

    def errand(self, url, *, target="store", **credentials):
        return SyncErrand(
            access=TargetAccess(url=url, credentials=credentials),
            order=SyncOrder(target=target),
            progress=SyncProgress(STARTED),
            requests_in_flight=8,
        )

    async def count(self):
        return (await self.catalogue.counts(CatalogueFilter())).backups


@pytest.fixture(params=[True, False], ids=["nursed", "alone"])
async def place(tmp_path, request):
    place = Place(tmp_path, nursed=request.param)
    yield place
    await place.process.close()
    await place.children.close()
    place.catalogue.close()


@pytest.fixture
async def begin_stuck(place):
    """Begins a sync of a store that takes questions and never answers, and returns when it has asked the first."""
    asked = asyncio.Event()

    async def take(reader, writer):
        await reader.readline()
        asked.set()
        await reader.read()
        writer.close()

    async def begin():
        port = server.sockets[0].getsockname()[1]
        keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
        errand = place.errand(
            "s3://bucket@us-east-1/", target="stuck", AWS_ENDPOINTS=f"http://127.0.0.1:{port}", **keys
        )
        syncing = asyncio.create_task(place.process.run(errand))
        await asyncio.wait({syncing, asyncio.create_task(asked.wait())}, return_when="FIRST_COMPLETED")
        assert not syncing.done(), syncing.exception()
        return syncing

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        yield begin


async def test_what_another_process_syncs_is_seen_here_with_how_far_it_came(place):
    errand = place.store(volumes=3, backups=2)

    outcome = await place.process.run(errand)

    assert (outcome.volumes, outcome.errors, outcome.started_at) == (3, (), STARTED)
    assert await place.count() == 6
    assert (errand.progress.stage, errand.progress.backups_read) == (SyncStage.DONE, 6)


async def test_one_process_carries_out_all_syncs(place):
    errands = [place.store(name, volumes=2, backups=1) for name in ("one", "two", "three")]

    await asyncio.gather(*(place.process.run(errand) for errand in errands))
    pid = place.process.pid
    await place.process.run(errands[0])

    assert place.process.pid == pid
    assert await place.count() == 6


async def test_a_process_that_begins_while_somebody_looks_leaves_a_core_from_its_beginning(place):
    place.process.cores.quiet_seconds = 3600
    place.process.cores.make_way()

    await place.process.run(place.store(volumes=1, backups=1))

    assert os.sched_getaffinity(place.process.pid) == all_but_one(os.sched_getaffinity(0))


async def test_a_store_that_is_not_there_is_the_same_error_as_it_would_be_here(place):
    with pytest.raises(StoreUnavailable, match="is it mounted"):
        await place.process.run(place.errand(f"file://{place.root}/nothing"))


async def test_a_sync_whose_process_was_killed_is_begun_anew_and_its_user_notices_nothing(place):
    await place.process.run(place.store(volumes=1, backups=1))
    killed = place.process.pid
    os.kill(killed, signal.SIGSTOP)  # so that it is killed before it answers
    syncing = asyncio.create_task(place.process.run(place.store("other", volumes=2, backups=2)))
    await asyncio.sleep(0)
    os.kill(killed, signal.SIGKILL)

    assert (await syncing).volumes == 2
    assert place.process.pid != killed
    assert await place.count() == 5


async def test_a_process_that_dies_each_time_is_an_error_that_says_so(place):
    async def stillborn():
        process = await place.children.start(Trade.SYNC)
        process.send_signal(signal.SIGKILL)
        return process

    process = SyncProcess(place.root / "catalogue.sqlite", stillborn)
    with pytest.raises(HelperLost, match="was killed"):
        await process.run(place.store(volumes=1, backups=1))
    await process.close()


async def test_whoever_ends_a_sync_gets_on_when_nothing_of_it_runs_and_others_go_on(place, begin_stuck):
    stuck = await begin_stuck()

    stuck.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stuck

    assert (await place.process.run(place.store("other", volumes=2, backups=1))).volumes == 2


async def test_a_process_that_does_not_listen_is_ended_before_whoever_cancels_gets_on(place, begin_stuck):
    place.process.patience = 0.2
    stuck = await begin_stuck()
    talk = place.process._talk
    os.kill(place.process.pid, signal.SIGSTOP)

    stuck.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stuck

    assert talk.process.returncode == -signal.SIGKILL
    assert (await place.process.run(place.store("other", volumes=2, backups=1))).volumes == 2


async def test_a_process_that_talks_nonsense_is_ended_and_nobody_waits_for_it(place):
    async def babbling():
        nonsense = "import sys; sys.stdout.buffer.write(b'oops\\n'); sys.stdout.flush(); sys.stdin.read()"
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            sys.executable, "-c", nonsense, stdin=pipe, stdout=pipe, stderr=pipe
        )

    process = SyncProcess(place.root / "catalogue.sqlite", babbling)
    with pytest.raises(HelperLost):
        await process.run(place.store(volumes=1, backups=1))
    await process.close()


async def test_it_ends_with_its_server_also_while_a_sync_hangs(place, begin_stuck):
    stuck = await begin_stuck()
    talk = place.process._talk

    await place.process.close()

    assert talk.process.returncode == 0
    with pytest.raises(HelperLost):
        await stuck


async def test_a_backup_that_is_hidden_here_stays_hidden_when_the_other_process_reads_it_again(place):
    errand = place.store(volumes=2, backups=2)
    await place.process.run(errand)

    await place.catalogue.hide("store", volume_name(0), backup_name(0))
    await place.process.run(errand)

    assert await place.count() == 3

"""When the server syncs: by interval, on request, after own backups; and how seldom it asks a store that is away."""

import asyncio
import itertools
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from tidegate.app.platform import Catalogues
from tidegate.app.wiring import build_work
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.progress import SyncStage
from tidegate.catalogue.target_sync import SyncOutcome
from tidegate.decide.stores.catalogue_diff import plan_volumes
from tidegate.errors import StoreUnavailable
from tidegate.model.resource import Metadata
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.stores.catalogue import FullSync
from tidegate.model.stores.target import ADOPT_STORE, CONFIRM_VANISHED, BackupTarget
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.doubles.platform import a_platform
from tidegate.testing.doubles.store_probe import FakeStoreProbe
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_target, a_transfer
from tidegate.testing.resources.resources import place_among_writes

QUIET_LOOKS = 6
MOST_LOOKS = 500


async def calm(server):
    """Until nothing moves any more. The catalogue answers from threads: what was asked of them before is done first."""
    quiet, seen = 0, None
    for _ in range(MOST_LOOKS):
        await settle(20)
        await asyncio.gather(server.catalogue.hidden("nobody"), server.catalogue.hidden("nobody"))
        await server.catalogue.touch("nobody", (), server.clock.now())
        now = ((await server.store.list(BackupTarget)).resource_version, len(server.orders), server.probe.looks)
        quiet, seen = quiet + 1 if now == seen else 0, now
        if quiet == QUIET_LOOKS:
            return
    raise AssertionError("it never rests")


class NumberedLooks(FakeStoreProbe):
    """Counts looks at the store, and says each failure in other words."""

    def __init__(self, clock):
        super().__init__(identity="the-store")
        self.clock, self.looks, self.numbers = clock, 0, itertools.count()

    def unanswered(self):
        return StoreUnavailable(f"request {next(self.numbers):012x} at {self.clock.now()} was not answered")

    async def check(self, access):
        self.looks += 1
        if self.down:
            raise self.unanswered()
        await super().check(access)


@dataclass
class Server:
    """A server without processes whose syncs are told by the test how they end."""

    catalogue: SqliteCatalogue
    clock: ManualClock = field(default_factory=ManualClock)
    orders: list = field(default_factory=list)
    sync_fails: bool = False
    errors: int = 0
    held_back: object = None

    def __post_init__(self):
        self.probe = NumberedLooks(self.clock)
        self.store = MemoryStore(clock=self.clock, new_id=counting_ids())
        self._put_together()

    def _put_together(self):
        catalogues = Catalogues(catalogue=self.catalogue, run_sync=self.run)
        work = build_work(a_platform(self.store, self.clock, store_probe=self.probe, catalogues=catalogues))
        self.runtime, self.supervisor, self.syncs = work.runtime, work.movers, work.syncs

    async def run(self, errand):
        self.orders.append(errand.order)
        if self.sync_fails:
            raise self.probe.unanswered()
        errand.progress.stage = SyncStage.DONE
        return SyncOutcome(
            started_at=errand.progress.started_at, volumes=1, held_back=self.held_back, error_count=self.errors
        )

    async def lose_the_catalogue(self, path):
        """The server stops, and the next one finds no file."""
        await self.runtime.stop()
        await self.syncs.close()
        await self.supervisor.close()
        self.catalogue.close()
        self.catalogue = SqliteCatalogue.open(path)
        self._put_together()
        self.runtime.start()
        await calm(self)
        await self.passes(seconds=2)  # where two controllers wrote the same target, one looks again after a moment

    async def passes(self, **delay):
        goal = self.clock.now() + timedelta(**delay)
        while self.clock.now() < goal:
            await self.clock.advance(min(timedelta(seconds=30), goal - self.clock.now()))
            await calm(self)

    async def target(self):
        return await self.store.get(BackupTarget, "far")

    async def change(self, **spec):
        target = await self.target()
        await self.store.update(target.replace(spec=target.spec.replace(**spec)))
        await calm(self)


@pytest.fixture
async def server(tmp_path):
    server = Server(SqliteCatalogue.open(tmp_path / "catalogue.sqlite"))
    server.runtime.start()
    yield server
    await server.runtime.stop()
    await server.syncs.close()
    await server.supervisor.close()
    server.catalogue.close()


async def begin(server, **spec):
    target = a_target("far")
    await server.store.create(target.replace(spec=target.spec.replace(**spec)))
    await calm(server)


async def test_a_target_is_synced_when_it_is_set_and_then_by_its_interval(server):
    await begin(server, poll_interval=timedelta(minutes=10))
    assert len(server.orders) == 1
    assert (await server.target()).status.last_synced_at == server.clock.now()

    await server.passes(minutes=59)

    assert len(server.orders) == 6
    assert {order.turn for order in server.orders} == {0, 1, 2, 3, 4, 5}


async def test_a_target_without_an_interval_of_its_own_has_that_of_the_settings(server):
    await server.store.create(
        Setting(metadata=Metadata(name="backupstore-poll-interval"), spec=SettingSpec(value="1200"))
    )
    await begin(server)
    await server.passes(minutes=59)

    assert len(server.orders) == 3


async def test_without_a_timer_it_is_synced_once_and_on_request(server):
    await begin(server, poll_interval=timedelta())
    await server.passes(hours=3)
    assert len(server.orders) == 1

    await server.change(sync_requested_at=server.clock.now())

    assert len(server.orders) == 2
    assert server.orders[-1].forced
    await server.passes(hours=1)
    assert len(server.orders) == 2


async def test_a_sync_that_is_asked_for_again_and_again_is_no_storm(server):
    await begin(server, poll_interval=timedelta())
    for _ in range(30):  # every second for half a minute
        await server.change(sync_requested_at=server.clock.now())
        await server.clock.advance(timedelta(seconds=1))
        await calm(server)

    assert len(server.orders) - 1 == 3
    # Nobody's request is lost: the last one came after the last sync had begun.
    await server.passes(minutes=1)
    target = await server.target()
    assert len(server.orders) - 1 == 4
    assert target.status.last_synced_at > target.spec.sync_requested_at
    await server.passes(hours=1)
    assert len(server.orders) - 1 == 4


async def test_a_request_for_later_is_one_sync_then_and_not_many_now(server):
    await begin(server, poll_interval=timedelta())
    await server.change(sync_requested_at=server.clock.now() + timedelta(minutes=30))
    await server.passes(minutes=29)
    assert len(server.orders) == 1

    await server.passes(hours=2)
    assert len(server.orders) == 2


async def test_a_volume_that_is_asked_for_again_and_again_is_synced_with_pauses_but_at_once_after_a_change(server):
    await begin(server, poll_interval=timedelta(hours=9))
    for _ in range(8):
        server.syncs.request("far", "vol-1", forced=True)
        await calm(server)
        await server.clock.advance(timedelta(seconds=1))
    assert [order.volume for order in server.orders[1:]] == ["vol-1"]
    told = server.syncs.volume_sync("far", "vol-1")
    assert (told.pending, told.forecast.due_at) == (True, server.clock.now() + timedelta(seconds=2))

    server.syncs.request("far", "vol-1")
    await calm(server)
    assert len(server.orders) == 3
    assert server.syncs.volume_sync("far", "vol-1").forecast is None


@pytest.mark.parametrize("interval", [0, 300])
async def test_a_target_that_was_set_while_its_store_was_away_is_synced_when_it_comes(server, interval):
    """L15: away, there, away again; also without a timer nobody has to ask."""
    server.probe.down = True
    await begin(server, poll_interval=timedelta(seconds=interval))
    assert ((await server.target()).status.available, server.orders) == (False, [])

    server.probe.down = False
    await server.passes(minutes=2)
    assert ((await server.target()).status.available, len(server.orders)) == (True, 1)

    server.probe.down = True
    await server.passes(minutes=2)
    assert (await server.target()).status.available is False


async def test_another_place_is_synced_at_once_although_the_last_one_failed(server):
    server.sync_fails = True
    await begin(server)
    await server.passes(minutes=10)
    server.sync_fails = False
    server.orders.clear()

    await server.change(url="file:///elsewhere")

    assert len(server.orders) == 1


async def test_another_url_is_another_place(server):
    await begin(server, poll_interval=timedelta())
    await server.change(url="file:///elsewhere")

    assert [order.moved for order in server.orders] == [False, True]


async def test_another_store_is_synced_only_when_it_is_adopted_and_is_another_place_then(server):
    await begin(server, poll_interval=timedelta())
    server.probe.identity = "another-store"
    await server.passes(minutes=2)
    await server.change(sync_requested_at=server.clock.now())
    assert [order.moved for order in server.orders] == [False]

    found = await server.target()
    mark = {ADOPT_STORE: found.status.store.adopt}
    await server.store.update(found.with_metadata(annotations=mark))
    await calm(server)

    assert [order.moved for order in server.orders] == [False, True]
    assert (await server.target()).status.sync.identity == "another-store"


async def test_a_finished_backup_has_its_volume_synced_once_and_not_again_after_a_restart(server):
    await begin(server, poll_interval=timedelta())
    transfer = a_transfer("upload")
    transfer = transfer.replace(spec=transfer.spec.replace(target="far"))
    await server.store.create(transfer)
    transfer = await server.store.get(type(transfer), "upload")
    await server.store.update_status(
        transfer.with_status(phase=TransferPhase.COMPLETED, completion_timestamp=server.clock.now())
    )
    await calm(server)
    await server.clock.advance(timedelta(seconds=1))
    for _ in range(200):
        await server.catalogue.hidden("far")  # lets the threads of the catalogue answer
        await settle(5)
        if len(server.orders) > 1:
            break

    assert [order.volume for order in server.orders] == ["", "ns.volume"]
    await server.passes(hours=1)
    assert len(server.orders) == 2


async def test_a_store_that_is_down_for_an_hour_is_asked_about_once_a_minute_and_never_synced(server):
    await begin(server)
    synced = (await server.target()).status.last_synced_at
    server.probe.down, server.probe.looks = True, 0
    server.orders.clear()

    await server.passes(hours=1)

    status = (await server.target()).status
    assert server.probe.looks <= 90  # often in the first minute, then once a minute and at each resync
    assert len(server.orders) <= 1
    assert (status.available, status.last_synced_at) == (False, synced)
    condition = status.condition("Available")
    assert condition.last_transition_time <= synced + timedelta(minutes=1)
    assert "was not answered" in condition.message

    server.probe.down = False
    await server.passes(minutes=2)
    assert (await server.target()).status.available is True
    assert len(server.orders) >= 1


async def test_a_sync_that_fails_for_an_hour_is_tried_a_few_times_and_told(server):
    server.sync_fails = True
    await begin(server)
    await server.passes(hours=1)

    target = await server.target()
    assert 5 <= len(server.orders) <= 9
    assert target.status.sync.failures == len(server.orders)
    assert target.status.condition("Synced").status == "False"
    before = place_among_writes(target)
    await server.passes(minutes=10)
    assert place_among_writes(await server.target()) - before <= 2


async def test_vanished_volumes_are_shown_until_somebody_confirms_them(server):
    server.held_back = plan_volumes({"a", "b"}, set()).held_back
    await begin(server, poll_interval=timedelta(hours=9))
    target = await server.target()
    assert target.status.condition("VolumesVanished").status == "True"
    assert target.status.sync.vanished == server.held_back.mark

    server.held_back = None
    mark = target.status.sync.vanished
    await server.store.update(target.with_metadata(annotations={CONFIRM_VANISHED: mark}))
    await calm(server)

    assert server.orders[-1].confirmed == mark
    assert (await server.target()).status.condition("VolumesVanished") is None


async def test_a_target_that_is_gone_is_gone_from_the_catalogue(server):
    await begin(server)
    target = await server.target()
    await server.store.delete(target.ref)
    await calm(server)

    assert server.syncs.progress("far") is None


async def test_a_volume_that_was_asked_for_is_pending_until_a_sync_has_seen_it(server):
    await server.store.create(a_target("far"))
    await calm(server)
    server.sync_fails = True
    server.syncs.request("far", "vol-1")
    assert server.syncs.volume_sync("far", "vol-1").pending

    await calm(server)
    failed = server.syncs.volume_sync("far", "vol-1")
    assert (failed.pending, failed.failures, "was not answered" in failed.message) == (True, 1, True)

    server.sync_fails = False
    await server.passes(minutes=2)
    seen = server.syncs.volume_sync("far", "vol-1")
    assert (seen.pending, seen.running, seen.failures, seen.message) == (False, False, 0, "")


@pytest.mark.parametrize("interval", [timedelta(), timedelta(hours=9)])
async def test_a_lost_catalogue_is_filled_at_once_whatever_the_interval(server, tmp_path, interval):
    await begin(server, poll_interval=interval)
    await server.lose_the_catalogue(tmp_path / "new.sqlite")

    assert len(server.orders) == 2
    assert (await server.catalogue.full_syncs())["far"].began_at == (await server.target()).status.last_synced_at


async def test_a_lost_catalogue_is_filled_at_once_although_the_last_sync_left_something_out(server, tmp_path):
    server.errors = 1
    await begin(server, poll_interval=timedelta())
    await server.passes(hours=3)
    server.probe.down = True
    before = len(server.orders)
    await server.lose_the_catalogue(tmp_path / "new.sqlite")
    lost = (await server.target()).status
    server.probe.down = False
    await server.passes(minutes=2)

    assert (lost.last_synced_at, lost.sync.failures) == (None, 0)
    assert len(server.orders) > before


async def test_a_sync_that_the_status_never_heard_of_is_done_once_more(server):
    """A crash between the two writes, or a database that was set back."""
    await begin(server, poll_interval=timedelta())
    target = await server.target()
    await server.clock.advance(timedelta(minutes=1))
    await server.catalogue.note_full_sync("far", FullSync(target.spec.url, server.clock.now()))
    await server.change(poll_interval=timedelta(hours=1))

    assert len(server.orders) == 2
    await server.passes(minutes=10)
    assert len(server.orders) == 2

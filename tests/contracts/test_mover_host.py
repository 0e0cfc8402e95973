"""What every host of movers promises: that of child processes, the fake, and one whose movers outlive the server."""

import asyncio
import os
import signal
from datetime import UTC, datetime

import pytest

from tidegate.app.processes.child_movers import ChildMovers
from tidegate.app.processes.children import Children
from tidegate.model.transfers.mover_job import (
    MOVER_DIED,
    ErrorReport,
    ReadyReport,
    RemoveJob,
    ResultReport,
    TargetAccess,
    UploadJob,
)
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.ports.mover_host import MoverHost, Orders
from tidegate.testing.clock import settle
from tidegate.testing.doubles.movers import FakeMovers
from tidegate.testing.doubles.surviving_movers import SurvivingMovers

GO = Orders(go=True)
CANCEL = Orders(cancel=True)


class RealHost:
    """Child processes of this machine."""

    def __init__(self, place):
        self.children = Children(place / "maps")
        self.host = ChildMovers(self.children)

    def next_server(self):
        return ChildMovers(self.children)

    def kill(self, name):
        os.kill(self.host._movers[name].process.pid, signal.SIGKILL)

    async def end(self):
        await self.host.close()
        await self.children.close()


class FakeHost:
    """Movers without processes; those of a long job never end by themselves."""

    def __init__(self, _place):
        self.movers = self.host = FakeMovers(obliging=True)

    def next_server(self):
        return FakeMovers(obliging=True)

    def kill(self, name):
        self.movers._named[name][1].fail(MOVER_DIED, "killed")

    async def end(self):
        await self.host.close()


class SurvivingHost(FakeHost):
    """The same, outliving the server."""

    def __init__(self, place):
        super().__init__(place)
        self.host = SurvivingMovers(self.movers)

    def next_server(self):
        return SurvivingMovers(self.movers)


IMPLEMENTATIONS: dict[type[MoverHost], type] = {
    ChildMovers: RealHost,
    FakeMovers: FakeHost,
    SurvivingMovers: SurvivingHost,
}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
async def kind(request, tmp_path):
    kind = IMPLEMENTATIONS[request.param](tmp_path)
    yield kind
    await kind.end()


@pytest.fixture
def host(kind):
    return kind.host


@pytest.fixture
def upload(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "image").write_bytes(os.urandom(3_000_000))
    return UploadJob(
        target=TargetAccess(url=f"file://{tmp_path}/store"),
        store_volume="shop.db",
        store_backup="backup-0123456789abcdef",
        volume_kind=VolumeKind.IMAGE,
        path=str(tmp_path / "image"),
        snapshot_name="s",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


async def read(reports):
    return [report async for report in reports]


async def end_of(reports):
    return (await read(reports))[-1]


async def until_ready(reports):
    while not isinstance(await anext(reports), ReadyReport):
        pass


async def test_a_mover_is_ready_once_moves_when_it_may_and_ends_with_one_result(host, upload):
    await host.ensure("m", "node-a", upload)
    reports = host.adopt("m")
    await until_ready(reports)

    host.order("m", GO)

    rest = await read(reports)
    assert [type(one) for one in rest if isinstance(one, ReadyReport | ResultReport | ErrorReport)] == [ResultReport]


async def test_orders_may_come_before_it_is_ready_and_again_later(host, upload):
    await host.ensure("m", "node-a", upload)
    host.order("m", GO)
    host.order("m", GO)

    said = await read(host.adopt("m"))

    assert [type(one) for one in said if isinstance(one, ReadyReport)] == [ReadyReport]
    assert isinstance(said[-1], ResultReport)
    host.order("m", CANCEL)  # it has ended, and ignores them
    assert isinstance(await end_of(host.adopt("m")), ResultReport)


async def test_a_removal_does_not_wait_and_says_no_ready(host, upload):
    job = RemoveJob(target=upload.target, store_volume="shop.db", store_backups=("backup-0123456789abcdef",))
    await host.ensure("m", "node-a", job)

    said = await read(host.adopt("m"))

    assert not [one for one in said if isinstance(one, ReadyReport)]
    assert isinstance(said[-1], ResultReport)


async def test_one_that_has_the_name_is_left_as_it_is_with_its_node_and_its_job(host, upload):
    first = await host.ensure("m", "node-a", upload)

    again = await host.ensure("m", "node-b", upload.replace(store_volume="shop.other"))

    assert again == first
    assert (first.name, first.node, first.action, first.store_volume) == ("m", "node-a", "upload", "shop.db")
    assert first.store_url == upload.target.url


async def test_the_list_names_what_runs_and_what_has_ended(host, upload):
    assert list(await host.list()) == []
    first = await host.ensure("first", "node-a", upload)
    host.order("first", GO)
    await read(host.adopt("first"))
    second = await host.ensure("second", "node-b", upload.replace(store_volume="shop.other"))

    assert sorted(await host.list(), key=lambda one: one.name) == [first, second]


async def test_each_reader_gets_what_was_said_before_it_came(host, upload):
    await host.ensure("m", "node-a", upload)
    await until_ready(host.adopt("m"))
    late = host.adopt("m")
    await until_ready(late)
    host.order("m", GO)

    last = await asyncio.gather(end_of(late), end_of(host.adopt("m")))

    assert [type(one) for one in last] == [ResultReport, ResultReport]
    assert await end_of(host.adopt("m")) == last[0]


async def test_a_mover_that_is_cancelled_says_so(host, upload):
    await host.ensure("m", "node-a", upload)
    await until_ready(host.adopt("m"))

    host.order("m", CANCEL)

    last = await end_of(host.adopt("m"))
    assert isinstance(last, ErrorReport)
    assert last.code == "WorkCancelled"


async def test_a_mover_that_was_let_go_is_not_held_again_by_other_limits(host, upload):
    await host.ensure("m", "node-a", upload)
    host.order("m", GO)
    host.order("m", Orders(upload=50_000_000))

    assert isinstance(await end_of(host.adopt("m")), ResultReport)


async def test_a_mover_that_dies_without_a_word_gets_last_words(kind, host, upload):
    await host.ensure("m", "node-a", upload)
    reports = host.adopt("m")
    await until_ready(reports)

    kind.kill("m")

    last = await end_of(reports)
    assert isinstance(last, ErrorReport)
    assert last.code == MOVER_DIED


async def test_a_name_that_is_not_known_is_a_mover_that_has_died(host):
    host.order("m", GO)
    await host.stop("m")

    (last,) = await read(host.adopt("m"))

    assert (last.code, "m" in last.message) == (MOVER_DIED, True)


async def test_stopping_one_that_runs_ends_it_and_frees_its_name(host, upload):
    await host.ensure("m", "node-a", upload)
    reports = host.adopt("m")
    await until_ready(reports)

    await host.stop("m")
    await host.stop("m")

    assert isinstance(await end_of(reports), ErrorReport)
    await settle(20)
    assert list(await host.list()) == []
    other = await host.ensure("m", "node-b", upload.replace(store_volume="shop.other"))
    assert (other.node, other.store_volume) == ("node-b", "shop.other")


async def test_stopping_one_that_has_ended_gives_up_its_outcome(host, upload):
    await host.ensure("m", "node-a", upload)
    host.order("m", GO)
    await read(host.adopt("m"))

    await host.stop("m")

    assert list(await host.list()) == []
    assert (await end_of(host.adopt("m"))).code == MOVER_DIED


async def test_movers_that_do_not_outlive_their_server_have_ended_when_it_lets_go_of_them(kind, host, upload):
    await host.ensure("m", "node-a", upload)
    reports = host.adopt("m")
    await until_ready(reports)

    await host.close()

    later = kind.next_server()
    assert host.outlives_server == later.outlives_server == bool(await later.list())
    if not host.outlives_server:
        assert isinstance(await end_of(reports), ErrorReport)
    await later.close()


@pytest.fixture
def surviving(tmp_path):
    return SurvivingHost(tmp_path)


async def test_the_next_server_adopts_what_outlived_the_one_before(surviving, upload):
    label = await surviving.host.ensure("m", "node-a", upload)
    await until_ready(surviving.host.adopt("m"))
    await surviving.host.close()
    later = surviving.next_server()

    assert list(await later.list()) == [label]
    reports = later.adopt("m")
    await until_ready(reports)
    later.order("m", GO)
    assert isinstance(await end_of(reports), ResultReport)


async def test_an_outcome_is_there_for_a_server_that_was_away(surviving, upload):
    await surviving.host.ensure("m", "node-a", upload)
    surviving.host.order("m", GO)
    await surviving.host.close()

    later = surviving.next_server()

    assert isinstance(await end_of(later.adopt("m")), ResultReport)

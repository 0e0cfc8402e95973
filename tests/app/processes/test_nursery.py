"""The nursery: a process that forks movers. Real processes throughout."""

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tidegate.app.processes.child_movers import ChildMovers
from tidegate.app.processes.children import Children
from tidegate.app.processes.nursery import ORDERS, Fork, Trade
from tidegate.app.processes.nursery_client import Nursery
from tidegate.model.transfers.mover_job import ErrorReport, ReadyReport, ResultReport, TargetAccess, UploadJob
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.ports.mover_host import Orders


@pytest.fixture
async def movers(tmp_path):
    movers = ChildMovers(Children(tmp_path / "maps", nursed=True))
    yield movers
    await movers.close()
    await movers.children.close()


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


GO = Orders(go=True)


async def begin(movers, job):
    """A mover that is named like its volume."""
    await movers.ensure(job.store_volume, "node-a", job)
    mover = movers._movers[job.store_volume]
    return mover, mover.reports()


async def ready(movers, job):
    """A mover that has everything open, and the reports that follow."""
    mover, reports = await begin(movers, job)
    while not isinstance(await anext(reports), ReadyReport):
        pass
    return mover, reports


async def last_of(reports):
    return [report async for report in reports][-1]


def stat_of(pid):
    """(parent, session, state) of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[1]), int(fields[3]), fields[0]


def handles_of(pid):
    return {str(handle.readlink()) for handle in Path(f"/proc/{pid}/fd").iterdir()}


def threads_of(pid):
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def exists(pid):
    return Path(f"/proc/{pid}").exists()


async def test_the_nursery_has_one_thread_and_nothing_of_a_mover_that_it_forked(movers, upload):
    mover, reports = await ready(movers, upload)
    pid = movers.children.nursery.pid

    assert threads_of(pid) == 1
    assert not handles_of(pid) & {name for name in handles_of(mover.process.pid) if name.startswith("pipe")}
    assert not [name for name in handles_of(pid) if "store" in name or "image" in name]
    mover.order(GO)
    assert isinstance(await last_of(reports), ResultReport)


async def test_a_mover_is_a_process_of_its_own_that_the_nursery_sees_to_its_end(movers, upload):
    mover, reports = await ready(movers, upload)
    pid = mover.process.pid

    assert stat_of(pid)[:2] == (movers.children.nursery.pid, pid)
    assert not [name for name in handles_of(pid) if name.startswith("socket")]
    mover.cancel()
    await last_of(reports)
    assert mover.process.returncode == 0
    assert not exists(pid)


async def test_movers_stand_side_by_side_and_none_holds_what_belongs_to_another(movers, upload):
    first, first_reports = await ready(movers, upload)
    second, second_reports = await ready(movers, upload.replace(store_volume="shop.other"))

    first.process.stdin.close()  # if the second one held the other end too, the first would never notice

    assert (await last_of(first_reports)).code == "WorkCancelled"
    second.order(GO)
    assert isinstance(await last_of(second_reports), ResultReport)


async def test_a_nursery_that_is_killed_takes_no_mover_with_it_and_a_new_one_follows(movers, upload):
    mover, reports = await ready(movers, upload)
    dead = movers.children.nursery.pid
    os.kill(dead, signal.SIGKILL)

    later, later_reports = await ready(movers, upload.replace(store_volume="shop.other"))
    third, third_reports = await ready(movers, upload.replace(store_volume="shop.third"))
    for one in (mover, later, third):
        one.order(GO)

    assert [type(await last_of(r)) for r in (reports, later_reports, third_reports)] == [ResultReport] * 3
    assert movers.children.nursery.pid not in {None, dead}


async def test_a_nursery_that_was_lost_is_seen_off_at_the_end(movers, upload):
    await ready(movers, upload)
    lost = movers.children.nursery._process
    movers.children.nursery._lost()

    await movers.close()
    await movers.children.close()

    assert lost.returncode is not None


async def test_a_mover_that_dies_after_its_nursery_is_still_told_to_be_dead(movers, upload):
    mover, reports = await ready(movers, upload)
    os.kill(movers.children.nursery.pid, signal.SIGKILL)
    os.kill(mover.process.pid, signal.SIGKILL)

    last = await last_of(reports)

    assert (last.code, last.message) == ("MoverDied", "the mover ended, and nobody saw how")


async def test_a_mover_that_is_cancelled_before_it_listens_is_cancelled_and_not_dead(movers, upload):
    mover, reports = await begin(movers, upload)
    mover.cancel()

    last = await last_of(reports)

    assert isinstance(last, ErrorReport)
    assert last.code == "WorkCancelled"


async def test_many_at_once_all_end_and_leave_no_process_behind(movers, upload):
    async def one(number):
        mover, reports = await ready(movers, upload.replace(store_volume=f"shop.v{number}"))
        mover.order(GO)
        return type(await last_of(reports)), mover.process.pid

    done = await asyncio.gather(*(one(number) for number in range(12)))

    assert {kind for kind, _ in done} == {ResultReport}
    assert not [pid for _, pid in done if exists(pid)]


def test_a_nursery_ends_with_its_server():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        nursery = subprocess.Popen([sys.executable, "-m", "tidegate", "mover-nursery"], stdin=theirs)
    ours.close()

    assert nursery.wait(timeout=30) == 0


def test_a_nursery_ends_without_a_word_with_a_server_that_was_killed_before_it_had_read_everything():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs, Path(os.devnull).open("r+b") as nothing:
        nursery = subprocess.Popen(
            [sys.executable, "-m", "tidegate", "mover-nursery"], stdin=theirs, stderr=subprocess.PIPE
        )
        socket.send_fds(ours, [ORDERS.encode(Fork(number=1, trade=Trade.MOVER))], [nothing.fileno()] * 3)
    assert select.select([ours], [], [], 30)[0]  # it has answered

    ours.close()

    assert nursery.communicate(timeout=30)[1] == b""
    assert nursery.returncode == 0


async def test_one_that_still_loads_is_ended_with_its_server(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import signal\nsignal.pause()\n")
    nursery = Nursery(lambda: {**os.environ, "PYTHONPATH": str(tmp_path)})
    await nursery._start()
    process = nursery._process

    await nursery.close()

    assert process.returncode == -signal.SIGTERM

"""kill -9 of a mover at random moments: told each time, the source untouched, the store whole, no half of a restore.

In `make test` a few; TIDEGATE_KILLS=100 for many.
"""

import asyncio
import os
import random
import signal
from datetime import UTC, datetime

import pytest

from tidegate.app.processes.child_movers import ChildMovers
from tidegate.app.processes.children import Children
from tidegate.model.transfers.mover_job import (
    DownloadJob,
    ErrorReport,
    ReadyReport,
    ResultReport,
    TargetAccess,
    UploadJob,
)
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.directory import DirectoryObjects
from tidegate.ports.mover_host import Orders
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.sample_data import picture

KILLS = int(os.environ.get("TIDEGATE_KILLS", "8"))
MIB = 1024 * 1024
VOLUME = "shop.db"


@pytest.fixture
async def movers(tmp_path):
    (tmp_path / "store").mkdir()
    movers = ChildMovers(Children(tmp_path / "maps"))
    yield movers
    await movers.close()
    await movers.children.close()


def fill(path, kind, seed):
    """The volume as it is at this moment of its life."""
    chance = random.Random(seed)
    if kind is VolumeKind.IMAGE:
        path.write_bytes(chance.randbytes(9 * MIB + seed))
        return
    path.mkdir(exist_ok=True)
    for number in range(60):
        (path / f"{number:02}").write_bytes(chance.randbytes(chance.choice([10, 5_000, 400_000])))


def seen(path, kind):
    if not path.exists():
        return None
    return path.read_bytes() if kind is VolumeKind.IMAGE else picture(path)


def upload_of(tmp_path, path, kind, number):
    return UploadJob(
        target=TargetAccess(url=f"file://{tmp_path}/store"),
        store_volume=VOLUME,
        store_backup=f"backup-{number:016x}",
        volume_kind=kind,
        path=str(path),
        snapshot_name=f"s{number}",
        started_at=datetime(2026, 1, 1, minute=number // 60 % 60, second=number % 60, tzinfo=UTC),
    )


def download_of(upload, path):
    return DownloadJob(
        target=upload.target,
        store_volume=VOLUME,
        store_backup=upload.store_backup,
        volume_kind=upload.volume_kind,
        path=str(path),
    )


async def run(movers, job, *, kill_after=None):
    """The last words of a mover that is killed so many seconds after it was let go, and how long it took."""
    loop = asyncio.get_running_loop()
    await movers.ensure("m", "node-a", job)
    began, last = loop.time(), None
    async for report in movers.adopt("m"):
        last = report
        if isinstance(report, ReadyReport):
            movers.order("m", Orders(go=True))
            began = loop.time()
            if kill_after is not None:
                loop.call_later(kill_after, kill, movers._movers["m"].process)
    await movers.stop("m")
    return last, loop.time() - began


def kill(process):
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)


def forget_locks(tmp_path):
    """As if the time had passed after which the lock of a dead mover counts no more: others wait for it until then."""
    for lock in (tmp_path / "store").rglob("*.lck"):
        lock.unlink()


def told_honestly(last):
    if isinstance(last, ErrorReport):
        assert (last.code, last.message) == ("MoverDied", "the mover was killed by SIGKILL")
        return False
    assert isinstance(last, ResultReport)  # it was quicker
    return True


@pytest.mark.parametrize("kind", [VolumeKind.IMAGE, VolumeKind.DIRECTORY])
async def test_an_upload_that_is_killed_takes_nothing_with_it_and_can_be_done_again(movers, tmp_path, kind):
    chance, volume, done = random.Random(1), tmp_path / "volume", {}
    fill(volume, kind, 0)
    _, usual = await run(movers, upload_of(tmp_path, volume, kind, 0))
    done[0] = seen(volume, kind)
    for number in range(1, KILLS + 1):
        fill(volume, kind, number)
        before = seen(volume, kind)
        job = upload_of(tmp_path, volume, kind, number)

        last, _ = await run(movers, job, kill_after=chance.uniform(0, usual))

        told_honestly(last)
        assert seen(volume, kind) == before
        forget_locks(tmp_path)
        again, usual = await run(movers, job)
        assert isinstance(again, ResultReport)
        done[number] = before
    bench = MoverBench(DirectoryObjects(str(tmp_path / "store")), volume=VOLUME)
    for number, content in done.items():
        back = tmp_path / f"back-{number}"
        bench.download(back, f"backup-{number:016x}", kind)
        assert seen(back, kind) == content


@pytest.mark.parametrize("kind", [VolumeKind.IMAGE, VolumeKind.DIRECTORY])
async def test_a_restore_that_is_killed_leaves_all_or_nothing_in_its_place(movers, tmp_path, kind):
    chance, volume = random.Random(2), tmp_path / "volume"
    fill(volume, kind, 0)
    upload = upload_of(tmp_path, volume, kind, 0)
    await run(movers, upload)
    whole = seen(volume, kind)
    (tmp_path / "place").mkdir()
    _, usual = await run(movers, download_of(upload, tmp_path / "place" / "first"))
    for number in range(KILLS):
        back = tmp_path / "place" / f"back-{number}"

        last, _ = await run(movers, download_of(upload, back), kill_after=chance.uniform(0, usual))

        forget_locks(tmp_path)
        if told_honestly(last):
            assert seen(back, kind) == whole
            continue
        assert seen(back, kind) in (None, whole)
        if not back.exists():
            again, usual = await run(movers, download_of(upload, back))
            assert isinstance(again, ResultReport)
        assert seen(back, kind) == whole
    assert seen(volume, kind) == whole

"""Snapshots by the file system itself, where there is one with reflinks. Root with xfsprogs gets one for the tests."""

import os
import tempfile
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tidegate.app.processes.child_movers import ChildMovers
from tidegate.app.processes.children import Children
from tidegate.model.transfers.mover_job import ReadyReport, ResultReport, SnapshotWish, TargetAccess, UploadJob
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.memory import MemoryObjects
from tidegate.ports.mover_host import Orders
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench

MIB = 2**20
PAGE = 4096
OLD, NEW = os.urandom(5 * MIB + 17), os.urandom(7 * MIB)


@pytest.fixture
def room(reflinks):
    """A fresh directory on a file system whose files can share blocks."""
    with tempfile.TemporaryDirectory(dir=reflinks) as made:
        yield Path(made)


async def test_what_a_mover_moves_is_what_the_image_was_when_the_mover_became_ready(room, tmp_path):
    (room / "image").write_bytes(OLD)
    (tmp_path / "store").mkdir()
    job = UploadJob(
        target=TargetAccess(url=f"file://{tmp_path}/store"),
        store_volume="shop.db",
        store_backup="backup-1",
        volume_kind=VolumeKind.IMAGE,
        path=str(room / "image"),
        snapshot_name="s",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    movers = ChildMovers(Children(tmp_path / "maps"))
    await movers.ensure("m", "node-a", job)
    last = None
    async for report in movers.adopt("m"):
        last = report
        if isinstance(report, ReadyReport):
            assert report.from_snapshot
            (room / "image").write_bytes(NEW)
            movers.order("m", Orders(go=True))
    await movers.close()
    await movers.children.close()

    assert isinstance(last, ResultReport)
    assert (last.result.snapshot, last.result.warnings) == ("reflink", ())
    MoverBench(DirectoryObjects(str(tmp_path / "store"))).download(tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == OLD
    assert [path.name for path in room.iterdir()] == ["image"]


def test_an_image_that_is_written_to_all_the_time_is_backed_up_as_it_was_at_one_instant(room, tmp_path):
    """Its writer counts: it puts a number into every block, from the first to the last, then the next number."""
    blocks, over = 12, threading.Event()
    (room / "image").write_bytes(bytes(blocks * 2 * MIB))

    def count():
        number = 0
        with (room / "image").open("r+b", buffering=0) as file:
            while not over.is_set():
                number += 1
                for block in range(blocks):
                    os.pwrite(file.fileno(), number.to_bytes(8) * (PAGE // 8), block * 2 * MIB)

    writer = threading.Thread(target=count)
    writer.start()
    bench = MoverBench(MemoryObjects(ManualClock()))
    try:
        results = [bench.upload(room / "image", f"backup-{nth}", snapshot=SnapshotWish.REQUIRED) for nth in range(1, 4)]
    finally:
        over.set()
        writer.join()

    for nth, result in enumerate(results, 1):
        assert (result.snapshot, result.warnings) == ("reflink", ())
        bench.download(tmp_path / f"back-{nth}", f"backup-{nth}")
        content = (tmp_path / f"back-{nth}").read_bytes()
        found = [int.from_bytes(content[place : place + 8]) for place in range(0, len(content), 2 * MIB)]
        assert found == sorted(found, reverse=True), "a later block is newer than an earlier one: a mixture"
        assert found[0] - found[-1] <= 1

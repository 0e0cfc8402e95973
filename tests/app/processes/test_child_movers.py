"""Movers as real child processes: they speak, they stop when asked, and their death is told."""

import asyncio
import os
import signal
from datetime import UTC, datetime

import pytest

from tidegate.app.processes.child_movers import ChildMovers
from tidegate.app.processes.children import Children
from tidegate.model.transfers.mover_job import (
    DownloadJob,
    ErrorReport,
    ProgressReport,
    ReadyReport,
    ResultReport,
    TargetAccess,
    UploadJob,
)
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.ports.mover_host import Orders


@pytest.fixture(params=[True, False], ids=["nursed", "alone"])
async def movers(tmp_path, request):
    movers = ChildMovers(Children(tmp_path / "maps", nursed=request.param))
    yield movers
    await movers.close()
    await movers.children.close()


@pytest.fixture
def upload(tmp_path):
    (tmp_path / "store").mkdir()
    source = tmp_path / "image"
    with source.open("wb") as file:
        for number in range(40):
            file.write(number.to_bytes(4) * (256 * 1024))
    return UploadJob(
        target=TargetAccess(url=f"file://{tmp_path}/store"),
        store_volume="shop.db",
        store_backup="backup-0123456789abcdef",
        volume_kind=VolumeKind.IMAGE,
        path=str(source),
        snapshot_name="s",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


async def begin(movers, job, name="m"):
    """A mover that may move."""
    await movers.ensure(name, "node-a", job)
    movers.order(name, going(job))
    return movers.adopt(name)


def going(job):
    limits = {"upload": job.upload_bytes_per_second, "download": job.download_bytes_per_second}
    return Orders(go=True, **limits)


async def read(reports):
    return [report async for report in reports]


async def told(movers, job, name="m"):
    return await read(await begin(movers, job, name))


@pytest.fixture
def slow_upload(upload):
    """One that moves for as long as nobody ends it."""
    return upload.replace(upload_bytes_per_second=1000)


async def moving(movers, job):
    """Everything that it says after its first word of uploading."""
    reports = await begin(movers, job)
    async for report in reports:
        if isinstance(report, ProgressReport) and report.progress.stage == "uploading":
            return reports
    raise AssertionError("it never uploaded anything")


def process_of(movers, name="m"):
    return movers._movers[name].process


def leftovers(tmp_path):
    return [path.name for path in (tmp_path / "store").rglob("*") if path.suffix in {".cfg", ".lck"}]


async def test_a_mover_reports_progress_and_ends_with_its_result(movers, upload, tmp_path):
    reports = await told(movers, upload)
    back = DownloadJob(
        target=upload.target,
        store_volume=upload.store_volume,
        store_backup=upload.store_backup,
        volume_kind=upload.volume_kind,
        path=f"{tmp_path}/b",
    )
    restored = await told(movers, back, "back")

    assert isinstance(reports[-1], ResultReport)
    assert [type(report) for report in reports].count(ReadyReport) == 1
    assert all(isinstance(report, ReadyReport | ProgressReport) for report in reports[:-1])
    assert isinstance(restored[-1], ResultReport)
    assert (tmp_path / "b").read_bytes() == (tmp_path / "image").read_bytes()


async def test_a_cancelled_mover_says_so_and_leaves_the_store_clean(movers, slow_upload, tmp_path):
    rest = await moving(movers, slow_upload)

    movers.order("m", going(slow_upload).replace(cancel=True))

    last = [report async for report in rest][-1]
    assert isinstance(last, ErrorReport)
    assert last.code == "WorkCancelled"
    assert [name for name in leftovers(tmp_path) if name != "volume.cfg"] == []


async def test_a_mover_that_is_killed_gets_an_obituary(movers, slow_upload):
    rest = await moving(movers, slow_upload)

    os.kill(process_of(movers).pid, signal.SIGKILL)

    last = [report async for report in rest][-1]
    assert isinstance(last, ErrorReport)
    assert last.message.startswith("the mover was killed by SIGKILL")


async def test_a_mover_that_loses_its_server_stops_by_itself_and_leaves_the_store_clean(movers, slow_upload, tmp_path):
    rest = await moving(movers, slow_upload)

    process_of(movers).stdin.close()  # what the end of the server looks like from inside

    last = [report async for report in rest][-1]
    assert isinstance(last, ErrorReport)
    assert last.code == "WorkCancelled"
    assert [name for name in leftovers(tmp_path) if name != "volume.cfg"] == []


async def test_closing_the_host_ends_every_mover(upload, tmp_path):
    movers = ChildMovers(Children(tmp_path / "maps"))
    tasks = [asyncio.create_task(read(await begin(movers, upload, name))) for name in ("a", "b")]
    started = [process_of(movers, name) for name in ("a", "b")]

    await movers.close()
    await movers.children.close()

    assert all(process.returncode is not None for process in started)
    assert [len(await task) > 0 for task in tasks] == [True, True]


async def test_a_job_that_makes_no_sense_is_answered_with_a_sentence(movers, upload):
    (last,) = [r for r in await told(movers, upload.replace(path="/missing")) if not isinstance(r, ProgressReport)]

    assert (last.code, last.message) == ("SourceUnreadable", "/missing does not exist")


async def test_movers_remember_their_uploads_where_the_host_says(movers, upload, tmp_path):
    settled = upload.replace(path=__file__, started_at=datetime.now(UTC))  # noqa: TID251  a file of the machine's past

    await told(movers, settled)

    assert [path.suffix for path in (tmp_path / "maps").iterdir()] == [".json"]

"""A mover's words: progress on the way, exactly one result or error at the end."""

import asyncio
import contextlib
import os
import threading
from dataclasses import replace
from datetime import timedelta
from itertools import groupby

import pytest

from tidegate.datapath.crew import work_through
from tidegate.datapath.progress import Progress
from tidegate.datapath.work import carry_out
from tidegate.errors import InvalidInput, WorkCancelled
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.lock_file import LockFile, LockType
from tidegate.format.cfgs.paths import lock_key, locks_dir
from tidegate.model.transfers.mover_job import ErrorReport, RemoveJob, ResultReport, UploadJob
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.testing.mover_bench import TARGET
from tidegate.volumes.images.image import ImageSource


def stages(bench):
    found = []
    for report in bench.reports[:-1]:
        if not found or found[-1] != report.progress.stage:
            found.append(report.progress.stage)
    return found


def test_an_upload_tells_its_stages_and_its_bytes(bench, image):
    result = bench.upload(image("AB-C"))

    assert stages(bench) == ["scanning", "reading", "uploading", "finalising"]
    last = bench.reports[-2].progress
    assert (last.bytes_done, last.total_bytes) == (3 * BLOCK, 3 * BLOCK)
    assert (result.size, result.url) == (4 * BLOCK, "file:///store?backup=backup-1&volume=shop.db")


def test_an_upload_of_what_the_store_has_only_reads(bench, image):
    bench.upload(image("ABC"))
    bench.reports.clear()
    bench.upload(image("CBA"), "backup-2")

    assert stages(bench) == ["scanning", "reading", "finalising"]


def test_a_download_tells_its_stages(bench, image, tmp_path):
    bench.upload(image("AB"))
    bench.download(tmp_path / "back")

    assert stages(bench) == ["downloading"]


def test_a_bug_is_told_with_its_type_and_text(bench):
    def broken(_):
        raise ZeroDivisionError("by zero")

    reports = []
    job = RemoveJob(target=TARGET, store_volume="vol", store_backups=())
    carry_out(job, replace(bench.shop, open_store=broken), report=reports.append, cancelled=threading.Event())

    assert reports == [ErrorReport(code="InternalError", message="ZeroDivisionError: by zero")]


def test_a_job_cancelled_before_it_began_does_nothing(bench, image):
    bench.cancelled.set()

    with pytest.raises(WorkCancelled):
        bench.upload(image("A"))
    assert list(bench.objects.list_all("")) == []


@pytest.mark.parametrize("name", ["../x", "", "a/b"])
def test_a_name_that_leads_elsewhere_is_refused(bench, name):
    with pytest.raises(InvalidInput):
        bench.do(RemoveJob(target=TARGET, store_volume=name, store_backups=("backup-1",)))


def test_bytes_are_told_at_most_four_times_a_second_and_with_the_rate_of_late(clock):
    reports = []
    progress = Progress(reports.append, clock)
    progress.enter("uploading", total_bytes=10_000)
    for _ in range(100):
        asyncio.run(clock.advance(timedelta(milliseconds=50)))
        progress.add(50)

    assert len(reports) == 21
    assert reports[-1].progress.bytes_done == 5000
    assert reports[-1].progress.bytes_per_second == pytest.approx(1000)


def test_never_more_is_done_than_there_is(clock):
    reports = []
    progress = Progress(reports.append, clock)
    progress.enter("uploading", total_bytes=100)
    asyncio.run(clock.advance(timedelta(seconds=1)))
    progress.add(500)

    assert reports[-1].progress.bytes_done == 100


def test_an_upload_reads_again_once_nothing_was_sent_for_a_while_and_its_stage_does_not_flicker(clock):
    reports = []
    progress = Progress(reports.append, clock)
    progress.enter("reading", total_bytes=10_000)

    def read(seconds, *, sending):
        for _ in range(seconds):
            asyncio.run(clock.advance(timedelta(seconds=1)))
            with progress.sending() if sending else contextlib.nullcontext():
                progress.add(1)

    read(3, sending=False)
    for _ in range(5):
        read(1, sending=True)
        read(10, sending=False)
    read(5, sending=False)
    with progress.sending():  # a store that takes half a minute for one block
        read(30, sending=False)

    told = [(stage, len(list(same))) for stage, same in groupby(report.progress.stage for report in reports)]
    assert told == [("reading", 4), ("uploading", 59), ("reading", 1), ("uploading", 31)]


def test_a_crew_does_every_item_once():
    done = []
    work_through(range(100), done.append, threads=4)

    assert sorted(done) == list(range(100))


@pytest.mark.parametrize("error", [ValueError("x"), StopIteration(), KeyboardInterrupt()])
def test_the_first_error_of_a_crew_is_raised_and_ends_it(error):
    done = []

    def do(item):
        if item == 3:
            raise error
        done.append(item)

    with pytest.raises(type(error)):
        work_through(range(1_000_000), do, threads=2)
    assert len(done) < 1_000_000


def test_an_error_of_the_row_itself_is_raised():
    def row():
        yield 1
        raise OSError("cannot list")

    with pytest.raises(OSError, match="cannot list"):
        work_through(row(), lambda _: None, threads=2)


def copied(source, directory):
    """What a file system with reflinks does without copying."""
    handle = os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o600)
    os.pwrite(handle, os.pread(source, 1 << 30, 0), 0)
    return handle


def carried_out(bench, path, *, on_ready, clone=None):
    def from_clone(job, **_):
        return ImageSource(job.ref, **({"clone": clone} if clone else {}))

    job = UploadJob(
        target=TARGET,
        store_volume="shop.db",
        store_backup="backup-1",
        volume_kind=VolumeKind.IMAGE,
        path=str(path),
        snapshot_name="s",
        started_at=bench.clock.now(),
    )
    reports = []
    shop = replace(bench.shop, open_source=from_clone)
    carry_out(job, shop, report=reports.append, cancelled=bench.cancelled, on_ready=on_ready)
    return reports[-1]


@pytest.mark.parametrize("clone", [None, copied])
def test_who_reads_a_snapshot_has_the_lock_before_it_is_ready_and_who_reads_live_has_not(bench, image, clone):
    ready, path = [], image("AB")

    def on_ready(report):
        ready.append((report.from_snapshot, len(bench.objects.list_level(locks_dir("shop.db")).objects)))
        path.write_bytes(b"X" * 2 * BLOCK)

    assert isinstance(carried_out(bench, path, on_ready=on_ready, clone=clone), ResultReport)

    assert ready == [(True, 1) if clone else (False, 0)]
    assert list(bench.objects.list_level(locks_dir("shop.db")).objects) == []
    back = path.parent / "back"
    bench.download(back)
    assert (back.read_bytes() == b"X" * 2 * BLOCK) is (clone is None)


def test_who_would_read_a_snapshot_is_not_ready_while_another_client_has_the_lock(bench, image):
    lock = LockFile("lock-aaaaaaaaaaaaaaaa", LockType.DELETION, acquired=True)
    bench.objects.put(lock_key("shop.db", lock.name), lock.encode())
    ready = []

    words = carried_out(bench, image("AB"), on_ready=ready.append, clone=copied)

    assert (words.code, ready) == ("StoreLockHeld", [])
    assert words.lock.startswith("lock-aaaaaaaaaaaaaaaa ")

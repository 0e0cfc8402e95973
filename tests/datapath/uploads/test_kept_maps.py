"""A volume that nobody wrote to is not read again; any doubt, and it is."""

import dataclasses
import os
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.format.cfgs.paths import block_key
from tidegate.model.transfers.mover_job import BackupMode
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.volumes.kept_maps import DirectoryKeptMaps

BLOCK = 2 * 1024 * 1024
LATER = timedelta(hours=1)


def remembering(maps, *, ahead=LATER):
    """A bench that keeps maps, whose time is so far ahead of the files' times."""
    clock = ManualClock(datetime.now(UTC) + ahead)  # noqa: TID251  the files have the time of the machine
    bench = MoverBench(MemoryObjects(clock), clock=clock)
    bench.shop = dataclasses.replace(bench.shop, kept_maps=DirectoryKeptMaps(str(maps)))
    return bench


@pytest.fixture
def bench(tmp_path):
    return remembering(tmp_path / "maps")


def cfg_of(bench, backup):
    return StoredVolume(bench.objects, bench.volume).backup_cfg(backup)


def test_an_image_that_nobody_wrote_to_is_taken_over(bench, image, tmp_path):
    path = image("AB-C")
    bench.upload(path)
    bench.upload(path, "backup-2")
    bench.download(tmp_path / "back", "backup-2")

    assert cfg_of(bench, "backup-2").is_incremental
    assert (tmp_path / "back").read_bytes() == path.read_bytes()


def test_an_image_written_shortly_before_its_backup_is_read_again(tmp_path, image):
    bench, path = remembering(tmp_path / "maps", ahead=timedelta(0)), image("AB")
    bench.upload(path)
    bench.upload(path, "backup-2")

    assert not cfg_of(bench, "backup-2").is_incremental


def test_a_block_that_the_store_lost_is_read_and_sent_again(bench, image, tmp_path):
    path = image("AB")
    bench.upload(path)
    bench.objects.delete(block_key(bench.volume, cfg_of(bench, "backup-1").blocks[0].checksum))
    bench.upload(path, "backup-2")
    bench.download(tmp_path / "back", "backup-2")

    assert (tmp_path / "back").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("other", ["full", "between", "damaged"])
def test_anything_odd_reads_everything(bench, image, tmp_path, other):
    path = image("AB")
    bench.upload(path)
    if other == "between":
        bench.shop = dataclasses.replace(bench.shop, kept_maps=None)
        bench.upload(image("XY", "other"), "backup-between")
        bench.shop = dataclasses.replace(bench.shop, kept_maps=DirectoryKeptMaps(str(tmp_path / "maps")))
    if other == "damaged":
        next((tmp_path / "maps").iterdir()).write_bytes(b'{"backup": ')
    bench.upload(path, "backup-2", mode=BackupMode.FULL if other == "full" else BackupMode.INCREMENTAL)

    assert not cfg_of(bench, "backup-2").is_incremental


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(st.tuples(st.integers(0, 2 * BLOCK - 1), st.booleans(), st.booleans()), max_size=3))
def test_no_edit_is_ever_overlooked(tmp_path_factory, image, edits):
    place, path = tmp_path_factory.mktemp("edits"), image("AB")
    bench = remembering(place / "maps")
    bench.upload(path, "backup-0")
    for number, (offset, same_time, same_file) in enumerate(edits, start=1):
        before, content = path.stat(), bytearray(path.read_bytes())
        content[offset] ^= 0xFF
        if not same_file:
            path.unlink()
        with path.open("r+b" if same_file else "wb") as file:
            file.write(content)
        if same_time:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        bench.upload(path, f"backup-{number}")
        bench.download(place / f"back-{number}", f"backup-{number}")
        assert (place / f"back-{number}").read_bytes() == content

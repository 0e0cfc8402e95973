"""Stores that Longhorn's own code wrote, and large ones, through the real readers: a directory and an S3 server."""

import asyncio
import shutil

import pytest

from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.progress import SyncProgress
from tidegate.catalogue.target_sync import SyncOrder, TargetSync
from tidegate.model.stores.catalogue import CatalogueFilter
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.open_reader import open_reader
from tidegate.testing.clock import ManualClock
from tidegate.testing.stores.golden import GOLDEN, WHY_SKIPPED, copy_of_store
from tidegate.testing.stores.rclone_server import RcloneServer, rclone_binary
from tidegate.testing.stores.stored_samples import volume_name, write_volumes

golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason=WHY_SKIPPED)


@pytest.fixture(params=["vfs", "s3"])
def golden_target(request, tmp_path):
    if request.param == "vfs":
        copy_of_store("lz4", tmp_path / "store")
        yield TargetAccess(url=f"vfs://{tmp_path}/store")
        return
    if rclone_binary() is None:
        pytest.skip("rclone is not installed")
    server = RcloneServer(tmp_path / "rclone")
    bucket = server.new_bucket()
    shutil.copytree(GOLDEN / "lz4" / "store", tmp_path / "rclone" / "buckets" / bucket, dirs_exist_ok=True)
    yield TargetAccess(url=f"s3://{bucket}@us-east-1/", credentials=server.start().credentials())
    server.stop()


@golden
async def test_a_store_of_longhorn_is_listed_and_not_read_a_second_time(golden_target, tmp_path):
    catalogue, clock = SqliteCatalogue.open(tmp_path / "catalogue.sqlite"), ManualClock()
    reader = open_reader(golden_target, in_flight=16, pause=asyncio.sleep)
    progress = [SyncProgress(clock.now()) for _ in range(3)]
    for turn, one in enumerate(progress):
        outcome = await TargetSync(SyncOrder(target="far", turn=turn), reader, catalogue, clock, one).run()
        assert outcome.errors == ()
    page = await catalogue.backups(CatalogueFilter())
    volume = await catalogue.volume("far", "pvc-golden-lz4")
    catalogue.close()

    assert sorted(backup.record.name for backup in page.items) == ["backup-a", "backup-b", "backup-c", "backup-d"]
    assert volume.record.size == 20 * 1024 * 1024
    assert volume.record.last_backup_name == "backup-d"
    assert [one.backups_read for one in progress] == [4, 0, 0]
    assert [one.volumes_changed for one in progress] == [1, 0, 0]


async def test_a_volume_with_more_backups_than_a_page_of_s3_has_is_listed_whole(tmp_path):
    """L2, longhorn#1904: the listing of an S3 server ends at a thousand and has to be gone on with."""
    if rclone_binary() is None:
        pytest.skip("rclone is not installed")
    server = RcloneServer(tmp_path / "rclone")
    bucket = server.new_bucket()
    write_volumes(tmp_path / "rclone" / "buckets" / bucket, volumes=1, backups=1001)
    access = TargetAccess(url=f"s3://{bucket}@us-east-1/", credentials=server.start().credentials())
    catalogue, clock = SqliteCatalogue.open(tmp_path / "catalogue.sqlite"), ManualClock()
    try:
        reader = open_reader(access, in_flight=64, pause=asyncio.sleep)
        outcome = await TargetSync(SyncOrder(target="far"), reader, catalogue, clock, SyncProgress(clock.now())).run()
        volume = await catalogue.volume("far", volume_name(0))
    finally:
        catalogue.close()
        server.stop()

    assert (outcome.errors, volume.backups) == ((), 1001)

"""A mover asks which store it has before it writes anything: locks and directories too."""

from dataclasses import replace

import pytest

from tidegate.errors import StoreIdentityChanged, StoreIdentityMissing
from tidegate.format.cfgs.store_identity import STORE_IDENTITY
from tidegate.model.transfers.mover_job import RemoveJob, TargetAccess
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.identity import give_identity, recognise
from tidegate.objects.memory import MemoryObjects
from tidegate.objects.open import open_store
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench


@pytest.fixture
def share(tmp_path):
    path = tmp_path / "share"
    path.mkdir()
    return path


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "disk.img"
    path.write_bytes(b"x" * 5_000_000)
    return path


@pytest.fixture
def bench(share):
    """Of a store that is called `mine`, with one backup in it."""
    bench = MoverBench(give_name(share, "mine"))
    bench.shop = replace(bench.shop, open_store=open_store)
    bench.target = TargetAccess(url=f"file://{share}", identity="mine")
    return bench


def give_name(share, name):
    objects = DirectoryObjects(str(share))
    give_identity(objects, name)
    return objects


def unmount(share):
    """What is left is an empty directory."""
    share.rename(share.with_name("the share"))
    share.mkdir()


def remount(share):
    share.rmdir()
    share.with_name("the share").rename(share)


def everything(bench, image):
    """All that a mover may be told to do."""
    whole = RemoveJob(target=bench.target, store_volume=bench.volume, store_backups=(), whole_volume=True)
    return {
        "upload": lambda: bench.upload(image, "backup-2"),
        "download": lambda: bench.download(image.with_name("restored")),
        "removal": lambda: bench.remove("backup-1"),
        "clearing": lambda: bench.remove("backup-1", only_unfinished=True),
        "removal of the volume": lambda: bench.do(whole),
    }


@pytest.mark.parametrize("work", ["upload", "download", "removal", "clearing", "removal of the volume"])
def test_nothing_is_written_where_a_share_was_mounted(bench, share, image, work):
    bench.upload(image)
    unmount(share)

    with pytest.raises(StoreIdentityMissing):
        everything(bench, image)[work]()

    assert list(share.iterdir()) == []
    assert not image.with_name("restored").exists()
    remount(share)
    assert bench.download(image.with_name("restored")).size == image.stat().st_size


@pytest.mark.parametrize("work", ["upload", "download", "removal", "clearing", "removal of the volume"])
def test_nothing_is_written_to_another_store(bench, share, image, work):
    bench.upload(image)
    unmount(share)
    give_name(share, "other")

    with pytest.raises(StoreIdentityChanged):
        everything(bench, image)[work]()

    assert [path for path in share.rglob("*") if path.is_file()] == [share / STORE_IDENTITY]


@pytest.fixture
def bucket(image):
    """Of a store behind a URL: nothing holds on to it but the URL. It has one backup."""
    bench = MoverBench(MemoryObjects(ManualClock()))
    bench.shop = replace(bench.shop, recognise=recognise)
    bench.target = bench.target.replace(identity="mine")
    give_identity(bench.objects, "mine")
    bench.upload(image)
    return bench


@pytest.mark.parametrize(("there", "error"), [("", StoreIdentityMissing), ("other", StoreIdentityChanged)])
@pytest.mark.parametrize("work", ["upload", "upload of a tree", "download"])
def test_a_mover_that_waited_for_its_turn_asks_again_before_it_writes(bucket, image, there, error, work):
    def replace_the_bucket(_ready):
        for info in list(bucket.objects.list_all("")):
            bucket.objects.delete(info.key)
        if there:
            give_identity(bucket.objects, there)

    bucket.on_ready = replace_the_bucket
    works = {
        "upload": lambda: bucket.upload(image, "backup-2"),
        "upload of a tree": lambda: bucket.upload(image.parent, "backup-2", VolumeKind.DIRECTORY),
        "download": lambda: bucket.download(image.with_name("restored")),
    }

    with pytest.raises(error):
        works[work]()

    assert [info.key for info in bucket.objects.list_all("") if info.key != STORE_IDENTITY] == []
    assert not image.with_name("restored").exists()


def test_a_job_that_knows_no_identity_works_as_it_always_did(bench, share, image):
    (share / STORE_IDENTITY).unlink()
    bench.target = bench.target.replace(identity="")

    bench.upload(image)

    assert bench.download(image.with_name("restored")).size == image.stat().st_size

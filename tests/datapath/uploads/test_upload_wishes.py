"""Mode, compression and block size: what an upload may be asked for, and what a volume keeps."""

import hashlib
from datetime import UTC, datetime

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.format.blocks.compression import Compression
from tidegate.model.transfers.mover_job import BackupMode, CompressionChoice
from tidegate.objects.directory import DirectoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.golden import GOLDEN, WHY_SKIPPED, copy_of_store

MIB = 1024 * 1024


@pytest.mark.parametrize("choice", list(CompressionChoice))
def test_a_new_volume_gets_the_compression_that_was_asked_for(bench, store, image, tmp_path, choice):
    source = image("AB-A")
    bench.upload(source, compression=choice)
    bench.download(tmp_path / "back")

    volume = StoredVolume(store, "shop.db")
    assert volume.volume_cfg().compression is Compression(choice)
    assert (tmp_path / "back").read_bytes() == source.read_bytes()


def test_a_volume_keeps_its_first_compression_and_block_size_whatever_is_asked_later(bench, store, image):
    bench.upload(image("AB"), compression=CompressionChoice.GZIP, block_mib=16)
    bench.upload(image("ABC"), "backup-2", compression=CompressionChoice.NONE, block_mib=2)

    later = StoredVolume(store, "shop.db").backup_cfg("backup-2")
    assert (later.compression, later.block_size) == (Compression.GZIP, 16 * MIB)


def test_blocks_of_16_mib_come_back_byte_for_byte(bench, store, image, tmp_path):
    source = image("ABCDEFGHIJ")
    bench.upload(source, block_mib=16)
    bench.download(tmp_path / "back")

    assert len(StoredVolume(store, "shop.db").backup_cfg("backup-1").blocks) == 2
    assert (tmp_path / "back").read_bytes() == source.read_bytes()


def test_full_mode_sends_everything_again_and_mends_what_the_store_damaged(bench, store, image, tmp_path):
    source = image("ABA")
    bench.upload(source)
    for info in list(store.list_all("")):
        if info.key.endswith(".blk"):
            store.put(info.key, b"rotten")

    bench.upload(source, "backup-2", mode=BackupMode.FULL)
    bench.download(tmp_path / "back", "backup-1")

    cfg = StoredVolume(store, "shop.db").backup_cfg("backup-2")
    assert (tmp_path / "back").read_bytes() == source.read_bytes()
    assert (cfg.newly_uploaded_size, cfg.re_uploaded_size > 0) == (0, True)
    assert cfg.parameters["backup-mode"] == "full"


def test_incremental_mode_sends_nothing_twice(bench, store, image):
    bench.upload(image("ABA"))
    bench.upload(image("ABAC"), "backup-2")

    cfg = StoredVolume(store, "shop.db").backup_cfg("backup-2")
    assert (cfg.re_uploaded_size, cfg.newly_uploaded_size > 0) == (0, True)
    assert sum(info.key.endswith(".blk") for info in store.list_all("")) == 3


@pytest.mark.skipif(not GOLDEN.is_dir(), reason=WHY_SKIPPED)
@pytest.mark.parametrize("case", ["lz4", "gzip"])
def test_a_chain_that_longhorn_began_goes_on_with_its_compression_and_its_backups_still_restore(case, tmp_path, image):
    root = copy_of_store(case, tmp_path / "store")
    volume = f"pvc-golden-{case}"
    later = ManualClock(datetime(2030, 1, 1, tzinfo=UTC))  # than Longhorn wrote them
    bench = MoverBench(DirectoryObjects(str(root)), clock=later, volume=volume)
    source = image("ABCDEFGHIJ")
    bench.download(tmp_path / "before", "backup-c")

    bench.upload(source, "backup-e")
    bench.download(tmp_path / "ours", "backup-e")
    bench.download(tmp_path / "after", "backup-c")

    stored = StoredVolume(DirectoryObjects(str(root)), volume)
    assert (stored.volume_cfg().last_backup_name, stored.backup_cfg("backup-e").compression) == ("backup-e", case)
    assert (tmp_path / "ours").read_bytes() == source.read_bytes()
    digests = [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("before", "after")]
    assert digests[0] == digests[1]

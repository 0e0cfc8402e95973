"""What a job may ask of an upload, and when it is heard."""

from dataclasses import replace

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedBlock
from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.paths import block_key
from tidegate.model.transfers.mover_job import BackupMode, CompressionChoice
from tidegate.objects.directory import DirectoryObjects
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects
from tidegate.testing.stores.golden import GOLDEN, WHY_SKIPPED, copy_of_store

MIB = 1024 * 1024


def cfg_of(bench, backup="backup-1"):
    return StoredVolume(bench.objects, bench.volume).backup_cfg(backup)


def test_a_full_backup_mends_a_damaged_block(bench, store, image, tmp_path):
    bench.upload(image("AB"))
    store.put(block_key(bench.volume, cfg_of(bench).blocks[0].checksum), b"rotten")
    with pytest.raises(DamagedBlock):
        bench.download(tmp_path / "broken")

    bench.upload(image("AB"), "backup-2", mode=BackupMode.FULL)
    bench.download(tmp_path / "whole")

    assert (tmp_path / "whole").read_bytes() == image("AB").read_bytes()


def test_a_full_backup_says_so_and_sends_equal_blocks_once(bench, store, image):
    bench.upload(image("AAB"))
    watched = FaultyObjects(store)
    MoverBench(watched, clock=bench.clock).upload(image("AAB"), "backup-2", mode=BackupMode.FULL)

    cfg = cfg_of(bench, "backup-2")
    assert (cfg.parameters["backup-mode"], cfg.is_incremental, cfg.newly_uploaded_size) == ("full", False, 0)
    assert cfg.re_uploaded_size > 0
    assert sum(call == "put" and key.endswith(".blk") for call, key in watched.calls) == 2


@pytest.mark.parametrize("choice", list(CompressionChoice))
def test_a_new_volume_gets_the_compression_that_is_asked_for_and_keeps_it(bench, image, tmp_path, choice):
    bench.upload(image("AB"), compression=choice)
    bench.upload(image("AC"), "backup-2", compression=CompressionChoice.LZ4)
    bench.download(tmp_path / "back", "backup-2")

    assert cfg_of(bench, "backup-2").compression is Compression(choice)
    assert (tmp_path / "back").read_bytes() == image("AC").read_bytes()


def test_a_new_volume_may_have_blocks_of_16_mib_and_keeps_them(bench, image, tmp_path):
    bench.upload(image("ABCDEFGHIJ"), block_mib=16)
    bench.upload(image("ABCDEFGHIX"), "backup-2", block_mib=2)
    bench.download(tmp_path / "back", "backup-2")

    cfg = cfg_of(bench, "backup-2")
    assert (cfg.block_size, [ref.offset for ref in cfg.blocks]) == (16 * MIB, [0, 16 * MIB])
    assert (tmp_path / "back").read_bytes() == image("ABCDEFGHIX").read_bytes()


@pytest.mark.parametrize("record", [{"last_backup_name": ""}, {"last_backup_name": "backup-9"}])
def test_blocks_stay_as_large_as_in_other_backups_when_the_record_names_no_last_one(bench, image, record):
    """Longhorn leaves such a record when it deletes the last backup while another is in progress."""
    bench.upload(image("ABCDEFGHIJ"), block_mib=16)
    volume = StoredVolume(bench.objects, bench.volume)
    volume.save_volume_cfg(replace(volume.volume_cfg(), **record))

    bench.upload(image("ABCDEFGHIX"), "backup-2", block_mib=2)

    assert cfg_of(bench, "backup-2").block_size == 16 * MIB


def test_a_volume_that_grows_is_whole_in_both_backups(bench, image, tmp_path):
    bench.upload(image("AB"))
    bench.upload(image("AB-D"), "backup-2")
    bench.download(tmp_path / "small", "backup-1")
    bench.download(tmp_path / "large", "backup-2")

    assert (tmp_path / "small").read_bytes() == image("AB").read_bytes()
    assert (tmp_path / "large").read_bytes() == image("AB-D").read_bytes()


@pytest.mark.skipif(not GOLDEN.is_dir(), reason=WHY_SKIPPED)
def test_a_chain_that_longhorn_began_with_gzip_goes_on_with_gzip(image, tmp_path):
    store = DirectoryObjects(str(copy_of_store("gzip", tmp_path / "store")))
    volume = next(iter(sorted(path.parent.name for path in (tmp_path / "store").rglob("volume.cfg"))))
    bench = MoverBench(store, volume=volume)
    bench.upload(image("AB-C"), "backup-ours", compression=CompressionChoice.LZ4)
    bench.download(tmp_path / "back", "backup-ours")

    assert cfg_of(bench, "backup-ours").compression is Compression.GZIP
    assert (tmp_path / "back").read_bytes() == image("AB-C").read_bytes()

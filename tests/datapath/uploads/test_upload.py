"""What an upload writes, and what it leaves alone."""

import json

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedMetadata, SourceUnreadable, StoreUnavailable, WorkCancelled
from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.paths import backup_cfg_key, block_key, blocks_dir, volume_cfg_key
from tidegate.format.cfgs.volume_cfg import VolumeCfg
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects

VOLUME = "shop.db"
CFG = backup_cfg_key(VOLUME, "backup-1")


def block_count(store):
    return sum(1 for _ in store.list_all(blocks_dir(VOLUME)))


def raw_cfg(store, key=CFG):
    return json.loads(store.get(key, at_most=10**6))


def test_the_cfg_is_as_longhorn_needs_it(bench, store, image):
    result = bench.upload(image("AB-A"))

    cfg = raw_cfg(store)
    assert [block["Offset"] for block in cfg.pop("Blocks")] == [0, BLOCK, 3 * BLOCK]
    assert cfg["Parameters"].pop("tidegate.dev/file-mode")
    assert cfg["Parameters"].pop("tidegate.dev/file-owner")
    assert cfg == {
        "Name": "backup-1",
        "VolumeName": VOLUME,
        "SnapshotName": "snapshot-of-backup-1",
        "SnapshotCreatedAt": "2026-01-01T00:00:00Z",
        "CreatedTime": "2026-01-01T00:00:00Z",
        "Size": str(3 * BLOCK),
        "Labels": {"tidegate.dev/volume": "db"},
        "Parameters": {
            "backup-block-size": str(BLOCK),
            "backup-mode": "incremental",
            "tidegate.dev/size": str(4 * BLOCK),
        },
        "IsIncremental": False,
        "CompressionMethod": "lz4",
        "NewlyUploadedDataSize": str(result.new_bytes),
        "ReUploadedDataSize": "0",
        "ProcessingBlocks": {},
        "SingleFile": {"FilePath": ""},
    }


def test_the_volume_is_recorded_with_all_its_fields(bench, store, image):
    bench.upload(image("AB-A"))

    assert raw_cfg(store, volume_cfg_key(VOLUME)) == {
        "Name": VOLUME,
        "Size": str(4 * BLOCK),
        "Labels": {"tidegate.dev/volume": "db"},
        "CreatedTime": "2026-01-01T00:00:00Z",
        "LastBackupName": "backup-1",
        "LastBackupAt": "2026-01-01T00:00:00Z",
        "BlockCount": "2",
        "BackingImageName": '""',
        "BackingImageChecksum": '""',
        "CompressionMethod": '"lz4"',
        "StorageClassName": '""',
        "DataEngine": '"v1"',
    }


def test_equal_blocks_are_stored_once_and_zeros_not_at_all(bench, store, image, tmp_path):
    zeros = tmp_path / "zeros"
    zeros.write_bytes(image("AAAA").read_bytes() + bytes(BLOCK))

    bench.upload(zeros)

    assert block_count(store) == 1
    assert len(raw_cfg(store)["Blocks"]) == 4


def test_only_what_changed_is_stored_again(bench, image):
    first = bench.upload(image("ABCD"), "backup-1")
    second = bench.upload(image("ABXD"), "backup-2")

    assert 0 < second.new_bytes < first.new_bytes / 3


def test_the_same_backup_again_changes_nothing(bench, store, image):
    first = bench.upload(image("AB"))
    again = MoverBench(FaultyObjects(store), clock=bench.clock)

    # How it was read is known only to the one who read it.
    assert again.upload(image("XY")) == first.replace(warnings=(), snapshot=None)
    assert not [call for call in again.objects.calls if call[0] in {"put", "put_if_absent", "delete"}]


def test_a_leftover_of_the_same_name_is_taken_over(bench, store, image, tmp_path):
    store.put(CFG, b'{"Name":"backup-1","VolumeName":"shop.db","CreatedTime":"","CompressionMethod":"lz4"}')

    bench.upload(image("AB"))
    bench.download(tmp_path / "back")

    assert (tmp_path / "back").read_bytes() == (tmp_path / "image").read_bytes()


def test_an_existing_record_keeps_its_compression_and_never_shrinks(bench, store, image):
    record = VolumeCfg(
        name=VOLUME, size=100 * BLOCK, compression=Compression.GZIP, created_time="long ago", data_engine="v2"
    )
    store.put(volume_cfg_key(VOLUME), record.encode())

    bench.upload(image("AB"))

    after = StoredVolume(store, VOLUME).volume_cfg()
    assert (after.size, after.compression, after.created_time, after.data_engine) == (
        100 * BLOCK,
        Compression.GZIP,
        "long ago",
        "v2",
    )
    assert raw_cfg(store)["CompressionMethod"] == "gzip"


def test_a_volume_with_larger_blocks_keeps_them(bench, store, image, tmp_path):
    record = VolumeCfg(name=VOLUME, size=16 * BLOCK, compression=Compression.LZ4, last_backup_name="backup-0")
    store.put(volume_cfg_key(VOLUME), record.encode())
    last = b'{"Name":"backup-0","CreatedTime":"x","Parameters":{"backup-block-size":"16777216"}}'
    store.put(backup_cfg_key(VOLUME, "backup-0"), last)

    bench.upload(image("ABC"))
    bench.download(tmp_path / "back")

    assert raw_cfg(store)["Parameters"]["backup-block-size"] == "16777216"
    assert (tmp_path / "back").read_bytes() == (tmp_path / "image").read_bytes()


def test_a_failed_look_at_the_record_never_makes_a_new_one(bench, store, image):
    bench.upload(image("AB"), "backup-1")
    before = store.get(volume_cfg_key(VOLUME), at_most=10**6)
    faulty = FaultyObjects(store)
    faulty.fail("get", StoreUnavailable("timeout"), times=5)

    with pytest.raises(StoreUnavailable):
        MoverBench(faulty, clock=bench.clock).upload(image("ABX"), "backup-2")
    assert store.get(volume_cfg_key(VOLUME), at_most=10**6) == before


def test_a_damaged_record_is_told_and_not_replaced(bench, store, image):
    store.put(volume_cfg_key(VOLUME), b"{broken")

    with pytest.raises(DamagedMetadata, match=r"volume\.cfg of shop\.db"):
        bench.upload(image("AB"))
    assert store.get(volume_cfg_key(VOLUME), at_most=100) == b"{broken"


def test_a_failed_upload_leaves_no_cfg_and_no_lock(bench, store, image):
    faulty = FaultyObjects(store)
    faulty.fail("put_if_absent", StoreUnavailable("flaky"), times=3)
    store.put(volume_cfg_key(VOLUME), VolumeCfg(name=VOLUME, size=0, compression=Compression.LZ4).encode())

    with pytest.raises(StoreUnavailable, match="flaky"):
        MoverBench(faulty, clock=bench.clock).upload(image("ABCD"))

    assert [info.key for info in store.list_all("") if not info.key.endswith(".blk")] == [volume_cfg_key(VOLUME)]


class CancelledWhileReading(MoverBench):
    def hear(self, report):
        super().hear(report)
        if getattr(report, "progress", None) and report.progress.stage == "reading":
            self.cancelled.set()


def test_a_cancelled_upload_leaves_no_cfg_and_no_lock(store, clock, image):
    with pytest.raises(WorkCancelled):
        CancelledWhileReading(store, clock=clock).upload(image("ABCD"))

    assert [info.key for info in store.list_all("")] == [volume_cfg_key(VOLUME)]


def test_a_source_that_is_not_there_leaves_the_store_untouched(bench, store, tmp_path):
    with pytest.raises(SourceUnreadable):
        bench.upload(tmp_path / "nothing")

    assert list(store.list_all("")) == []


def test_an_empty_block_in_the_store_is_written_again(bench, store, image, tmp_path):
    bench.upload(image("AB"), "backup-1")
    block = block_key(VOLUME, raw_cfg(store)["Blocks"][0]["BlockChecksum"])
    store.put(block, b"")

    bench.upload(image("AB"), "backup-2")
    bench.download(tmp_path / "back", "backup-2")

    assert (tmp_path / "back").read_bytes() == (tmp_path / "image").read_bytes()

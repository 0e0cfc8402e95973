"""A restore gives the right bytes or says what is wrong."""

import json

import pytest

from tidegate.datapath.downloads.download import open_backup
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedBlock, DamagedMetadata, MissingBlock, NotFound, Refused, Unauthenticated
from tidegate.format.blocks.compression import Compression, compress
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.paths import backup_cfg_key, block_key, volume_cfg_key
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects

VOLUME = "shop.db"


@pytest.fixture
def second_block(bench, store, image):
    """The key of the second block of a backup."""
    bench.upload(image("ABC"))
    return block_key(VOLUME, StoredVolume(store, VOLUME).backup_cfg("backup-1").blocks[1].checksum)


def test_a_missing_block_is_named_with_everything_it_belongs_to(bench, store, second_block, tmp_path):
    store.delete(second_block)

    with pytest.raises(MissingBlock, match=f"at {BLOCK} of backup backup-1 of volume shop.db"):
        bench.download(tmp_path / "back")
    assert [path.name for path in tmp_path.iterdir()] == ["image"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"junk",
        compress(b"x" * BLOCK, Compression.LZ4),
        compress(b"short", Compression.LZ4),
        compress(bytes(64 * BLOCK), Compression.LZ4),
        bytes(3 * BLOCK),
    ],
    ids=["empty", "junk", "other", "short", "bomb", "large"],
)
def test_a_damaged_block_is_named_and_never_written(bench, store, second_block, tmp_path, body):
    store.put(second_block, body)

    with pytest.raises(DamagedBlock, match=f"at {BLOCK} of backup backup-1 of volume shop.db"):
        bench.download(tmp_path / "back")
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("number", range(8))
def test_of_many_blocks_that_are_checked_together_the_damaged_one_is_named(bench, store, image, tmp_path, number):
    bench.upload(image("ABCDEFGH"))
    blocks = StoredVolume(store, VOLUME).backup_cfg("backup-1").blocks
    keys = [block_key(VOLUME, ref.checksum) for ref in blocks]
    store.put(keys[number], store.get(keys[number - 1], at_most=BLOCK))

    with pytest.raises(DamagedBlock, match=f"the block at {number * BLOCK} of backup backup-1 .* match its name"):
        bench.download(tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_of_blocks_that_are_read_together_each_is_told_by_itself(bench, store, image):
    content = image("ABCDEFGH").read_bytes()
    bench.upload(image("ABCDEFGH"))
    volume = StoredVolume(store, VOLUME)
    cfg = volume.backup_cfg("backup-1")
    keys = [block_key(VOLUME, ref.checksum) for ref in cfg.blocks]
    store.delete(keys[1])
    store.put(keys[3], b"junk")
    store.put(keys[4], store.get(keys[5], at_most=BLOCK))
    store.put(keys[6], compress(b"short", Compression.LZ4))

    found = volume.read_blocks(cfg.blocks, cfg)

    whole = [content[at : at + BLOCK] for at in range(0, len(content), BLOCK)]
    assert [one if isinstance(one, bytes) else type(one) for one in found] == [
        whole[0],
        MissingBlock,
        whole[2],
        DamagedBlock,
        DamagedBlock,
        whole[5],
        DamagedBlock,
        whole[7],
    ]


def test_a_block_of_another_compression_is_still_good(bench, store, second_block, image, tmp_path):
    content = image("ABC").read_bytes()
    store.put(second_block, compress(content[BLOCK : 2 * BLOCK], Compression.GZIP))

    bench.download(tmp_path / "back")

    assert (tmp_path / "back").read_bytes() == content


def test_a_backup_in_progress_is_refused(bench, store, image, tmp_path):
    bench.upload(image("A"))
    cfg = json.loads(store.get(backup_cfg_key(VOLUME, "backup-1"), at_most=10**6))
    store.put(backup_cfg_key(VOLUME, "backup-2"), json.dumps(cfg | {"CreatedTime": ""}).encode())

    with pytest.raises(Refused, match="still in progress"):
        bench.download(tmp_path / "back", "backup-2")


@pytest.mark.parametrize("body", [b"{", b"", b"[]"])
def test_a_backup_whose_cfg_is_damaged_is_refused_and_nothing_is_written(bench, store, image, tmp_path, body):
    bench.upload(image("AB"), "backup-1")
    store.put(backup_cfg_key(bench.volume, "backup-1"), body)

    with pytest.raises(DamagedMetadata):
        bench.download(tmp_path / "back", "backup-1")
    assert not (tmp_path / "back").exists()


def test_a_backup_that_is_not_there_cannot_be_found(bench, tmp_path):
    with pytest.raises(NotFound, match="cannot find backup backup-9 of volume shop"):
        bench.download(tmp_path / "back", "backup-9")


def test_an_old_backup_keeps_its_size_when_the_volume_grows(bench, image, tmp_path):
    bench.upload(image("AB"), "backup-1")
    bench.upload(image("ABCD"), "backup-2")

    bench.download(tmp_path / "back", "backup-1")

    assert (tmp_path / "back").stat().st_size == 2 * BLOCK


def test_our_backups_restore_even_without_the_volumes_record(bench, store, image, tmp_path):
    bench.upload(image("AB"))
    store.delete(volume_cfg_key(VOLUME))

    bench.download(tmp_path / "back")

    assert (tmp_path / "back").read_bytes() == image("AB").read_bytes()


def test_blocks_behind_the_end_are_damage(bench, store, image, tmp_path):
    bench.upload(image("AB"))
    key = backup_cfg_key(VOLUME, "backup-1")
    store.put(key, store.get(key, at_most=10**6).replace(b'"tidegate.dev/size":"4194304"', b'"tidegate.dev/size":"5"'))

    with pytest.raises(DamagedMetadata, match="behind the end"):
        bench.download(tmp_path / "back")


def test_a_store_that_may_only_be_read_is_good_for_a_restore(bench, store, image, tmp_path):
    bench.upload(image("AB"))
    readonly = FaultyObjects(store)
    readonly.fail("put", Unauthenticated("read-only"), times=9)

    result = MoverBench(readonly, clock=bench.clock).download(tmp_path / "back")

    assert (tmp_path / "back").read_bytes() == image("AB").read_bytes()
    assert "without a lock" in result.warnings[0]


def test_blocks_can_be_read_in_any_order(bench, store, image):
    bench.upload(image("ABCDEFGHIJKL"))
    content = image("ABCDEFGHIJKL").read_bytes()

    with open_backup(StoredVolume(store, VOLUME), "backup-1") as backup:
        for number in [11, 0, 1, 2, 7, 3, 8, 0, 9, 10, 11, 5]:
            offset = number * BLOCK
            assert backup.read_block(offset) == content[offset : offset + BLOCK]


def test_only_a_few_blocks_are_read_ahead(bench, store, image):
    bench.upload(image("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    counting = FaultyObjects(store)

    with open_backup(StoredVolume(counting, VOLUME), "backup-1") as backup:
        backup.read_block(0)

    assert sum(key.endswith(".blk") for _, key in counting.calls) <= 9

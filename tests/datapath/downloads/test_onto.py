"""Restoring onto what an earlier restore left gives the same bytes as restoring anew, and reads less."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate.datapath.downloads.download import open_backup
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedBlock, DestinationUnusable, MissingBlock, Refused
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.paths import backup_cfg_key, block_key
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects
from tidegate.volumes.images.device_sink import write_onto

VOLUME = "shop.db"
BLOCKS = st.text("AB-", min_size=1, max_size=4)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(earlier=BLOCKS, later=BLOCKS, tampered=st.booleans())
def test_onto_an_earlier_restore_equals_a_whole_one(earlier, later, tampered, image, tmp_path):
    bench = MoverBench(MemoryObjects(ManualClock()))
    (tmp_path / "back").unlink(missing_ok=True)
    bench.upload(image(earlier), "backup-1")
    bench.upload(image(later), "backup-2")
    bench.download(tmp_path / "back", "backup-1")
    if tampered:
        os.truncate(tmp_path / "back", 10)

    bench.download(tmp_path / "back", "backup-2", onto="backup-1")

    assert (tmp_path / "back").read_bytes() == image(later).read_bytes()


def test_only_what_differs_is_read_from_the_store(bench, store, image, tmp_path):
    bench.upload(image("ABCDEF"), "backup-1")
    bench.upload(image("ABXDEF"), "backup-2")
    bench.download(tmp_path / "back", "backup-1")
    counting = FaultyObjects(store)

    MoverBench(counting, clock=bench.clock).download(tmp_path / "back", "backup-2", onto="backup-1")

    assert sum(key.endswith(".blk") for call, key in counting.calls if call == "get") == 1


def test_an_image_that_somebody_wrote_to_is_mended_and_that_is_told(bench, image, tmp_path):
    bench.upload(image("AB-"), "backup-1")
    bench.upload(image("AC-"), "backup-2")
    bench.download(tmp_path / "back", "backup-1")
    with (tmp_path / "back").open("r+b") as file:
        file.write(b"oops")
        file.seek(2 * BLOCK)
        file.write(b"oops")

    result = bench.download(tmp_path / "back", "backup-2", onto="backup-1")

    assert (tmp_path / "back").read_bytes() == image("AC-").read_bytes()
    assert "1 blocks that had not to change were mended" in result.warnings[0]


def test_a_failure_leaves_the_earlier_image(bench, store, image, tmp_path):
    bench.upload(image("AB"), "backup-1")
    bench.upload(image("AC"), "backup-2")
    bench.download(tmp_path / "back", "backup-1")
    store.delete(block_key(VOLUME, StoredVolume(store, VOLUME).backup_cfg("backup-2").blocks[1].checksum))

    with pytest.raises(MissingBlock):
        bench.download(tmp_path / "back", "backup-2", onto="backup-1")
    assert (tmp_path / "back").read_bytes() == image("AB").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "image"]


def test_blocks_of_another_size_cannot_be_built_upon(bench, store, image, tmp_path):
    bench.upload(image("A-"), "backup-1")
    bench.upload(image("A-"), "backup-2")
    bench.download(tmp_path / "back", "backup-1")
    key = backup_cfg_key(VOLUME, "backup-1")
    body = store.get(key, at_most=10**6)
    store.put(key, body.replace(b'"backup-block-size":"2097152"', b'"backup-block-size":"1048576"'))

    with pytest.raises(Refused, match="one cannot be restored onto the other"):
        bench.download(tmp_path / "back", "backup-2", onto="backup-1")


def test_nothing_is_restored_onto_an_image_that_is_not_there(bench, image, tmp_path):
    bench.upload(image("A"))

    with pytest.raises(DestinationUnusable, match="does not hold backup backup-1"):
        bench.download(tmp_path / "back", onto="backup-1")


def test_a_lost_block_is_told_with_the_newest_backup_that_is_whole_there(bench, store, image, tmp_path):
    for number, blocks in enumerate(["AX", "AY", "AZ", "AZ"], start=1):
        bench.upload(image(blocks), f"backup-{number}")
    stored = StoredVolume(store, VOLUME)
    store.put(block_key(VOLUME, stored.backup_cfg("backup-4").blocks[1].checksum), b"junk")

    with pytest.raises(DamagedBlock, match=f"at {BLOCK} of backup backup-4 .*whole block there is backup-2, taken"):
        bench.download(tmp_path / "back", "backup-4")


def test_a_block_that_is_lost_everywhere_is_told_so(bench, store, image, tmp_path):
    bench.upload(image("A"))
    store.delete(block_key(VOLUME, StoredVolume(store, VOLUME).backup_cfg("backup-1").blocks[0].checksum))

    with pytest.raises(MissingBlock, match="no other backup of the volume has a whole block there"):
        bench.download(tmp_path / "back")


def test_a_restored_image_is_sparse_unless_told_otherwise(bench, image, tmp_path):
    bench.upload(image("-A--"))

    bench.download(tmp_path / "sparse")
    bench.download(tmp_path / "whole", sparse=False)

    assert (tmp_path / "sparse").read_bytes() == (tmp_path / "whole").read_bytes() == image("-A--").read_bytes()
    assert (tmp_path / "sparse").stat().st_blocks * 512 <= BLOCK + 65536
    assert (tmp_path / "whole").stat().st_blocks * 512 >= 4 * BLOCK


def test_a_device_is_written_whole_and_its_rest_left_alone(bench, store, image, tmp_path):
    bench.upload(image("-A-"))
    disk = tmp_path / "disk"
    disk.write_bytes(b"x" * 4 * BLOCK)

    with disk.open("r+b") as file, open_backup(StoredVolume(store, VOLUME), "backup-1") as content:
        write_onto(file.fileno(), content, on_bytes=lambda _: None, path="disk")

    assert disk.read_bytes() == image("-A-").read_bytes() + b"x" * BLOCK


def test_a_device_that_is_too_small_is_refused_untouched(bench, store, image, tmp_path):
    bench.upload(image("AB"))
    disk = tmp_path / "disk"
    disk.write_bytes(b"x" * BLOCK)

    with (
        disk.open("r+b") as file,
        open_backup(StoredVolume(store, VOLUME), "backup-1") as content,
        pytest.raises(DestinationUnusable, match="the backup needs"),
    ):
        write_onto(file.fileno(), content, on_bytes=lambda _: None, path="disk")
    assert disk.read_bytes() == b"x" * BLOCK

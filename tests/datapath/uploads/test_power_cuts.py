"""When a backup's cfg survives a power cut, so do its blocks."""

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects
from tidegate.testing.stores.power_cut import RecordedObjects


@pytest.fixture
def recorded(clock):
    return RecordedObjects(clock)


def assert_whole(store: MemoryObjects, volume: str) -> int:
    """How many finished backups there are; each of them has all its blocks."""
    stored = StoredVolume(store, volume)
    finished = [cfg for name in stored.backup_names() if not (cfg := stored.backup_cfg(name)).in_progress]
    for cfg in finished:
        for ref in cfg.blocks:
            stored.read_block(ref, cfg)
    return len(finished)


def test_no_power_cut_leaves_a_backup_without_its_blocks(recorded, clock, image):
    bench = MoverBench(recorded, clock=clock)
    bench.upload(image("ABC"), "backup-1")
    bench.upload(image("AXYC"), "backup-2")

    counts = [assert_whole(store, bench.volume) for store in recorded.after_power_cuts(clock)]

    assert (counts[0], counts[-1], counts == sorted(counts)) == (0, 2, True)


def test_blocks_that_a_dead_upload_left_are_made_durable_by_who_uses_them(recorded, clock, image):
    dying = MoverBench(FaultyObjects(recorded, dies_after_writes=6), clock=clock)
    with pytest.raises(RuntimeError, match="ProcessDied"):
        dying.upload(image("ABCD"), "backup-1")
    bench = MoverBench(recorded, clock=clock)
    bench.upload(image("ABCD"), "backup-2")

    counts = [assert_whole(store, bench.volume) for store in recorded.after_power_cuts(clock)]

    assert counts[-1] == 1

"""The ways in which Longhorn's stores lost data, by name; none of them works here."""

import random

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import TidegateError
from tidegate.format.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.paths import volume_cfg_key
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.faulty_objects import FaultyObjects
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.weather import Trouble, Weather

VOLUME = "shop.db"
RECORD = volume_cfg_key(VOLUME)


@pytest.fixture
def bench(tmp_path):
    """backup-1 and backup-2 share a block."""
    clock = ManualClock()
    bench = MoverBench(MemoryObjects(clock), clock=clock)
    for name, seeds in {"backup-1": (1, 2), "backup-2": (2, 3)}.items():
        (tmp_path / name).write_bytes(b"".join(random.Random(seed).randbytes(BLOCK) for seed in seeds))
        bench.upload(tmp_path / name, name)
    return bench


def in_weather(bench, *troubles):
    return MoverBench(FaultyObjects(bench.objects, weather=Weather(1, one_in=1, troubles=troubles)), clock=bench.clock)


@pytest.mark.parametrize("trouble", [Trouble.BROKEN_LISTING, Trouble.STALE_LISTING])
def test_a_failed_or_empty_listing_of_backups_deletes_no_block_longhorn_9784(bench, tmp_path, trouble):
    with pytest.raises(TidegateError):
        in_weather(bench, trouble).remove("backup-1")
    bench.download(tmp_path / "back", "backup-2")

    assert (tmp_path / "back").read_bytes() == (tmp_path / "backup-2").read_bytes()


@pytest.mark.parametrize(
    "trouble", [Trouble.AWAY, Trouble.REFUSED, Trouble.THROTTLED, Trouble.TIMEOUT, Trouble.TRUNCATED]
)
def test_a_failed_look_at_the_volumes_record_never_makes_a_blank_one_longhorn_7687(bench, tmp_path, trouble):
    before = bench.objects.get(RECORD, at_most=10**6)

    with pytest.raises(TidegateError):
        in_weather(bench, trouble).upload(tmp_path / "backup-1", "backup-3")
    assert bench.objects.get(RECORD, at_most=10**6) == before


def test_several_backups_are_removed_in_one_pass(bench):
    watched = FaultyObjects(bench.objects)
    MoverBench(watched, clock=bench.clock).remove("backup-1", "backup-2")

    listings = [prefix for method, prefix in watched.calls if method == "list_all" and prefix.endswith("/blocks")]
    assert len(listings) == 1
    assert not list(StoredVolume(bench.objects, VOLUME).block_sizes())

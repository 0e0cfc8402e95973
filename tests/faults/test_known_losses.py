"""The ways in which Longhorn's stores lost data, by name; none of them works here."""

import asyncio
import contextlib
import random

import pytest

from tidegate.datapath.inspection.verify import Verification
from tidegate.datapath.maintenance.gc import collect_garbage
from tidegate.datapath.progress import Progress
from tidegate.datapath.stored_volume import StoredVolume, volume_names
from tidegate.errors import DamageError, StoreUnavailable, TidegateError
from tidegate.format.blocks.compression import Compression, compress
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.lock_file import EXPIRY
from tidegate.format.cfgs.paths import backup_cfg_key, block_key, volume_cfg_key
from tidegate.objects.memory import MemoryObjects
from tidegate.ports.object_store import Listing
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects
from tidegate.testing.stores.weather import WRITES, Trouble, Weather

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
@pytest.mark.parametrize(("removed", "left"), [("backup-1", "backup-2"), ("backup-2", "backup-1")])
def test_a_failed_or_empty_listing_of_backups_deletes_no_block_longhorn_9784(bench, tmp_path, removed, left, trouble):
    with pytest.raises(TidegateError):
        in_weather(bench, trouble).remove(removed)
    bench.download(tmp_path / "back", left)

    assert (tmp_path / "back").read_bytes() == (tmp_path / left).read_bytes()


class LooksOnce(FaultyObjects):
    """One of the looks at the volume's record fails, and everything else works."""

    def __init__(self, inner, number):
        super().__init__(inner)
        self._left = number

    def get(self, key, *, at_most):
        self._left -= key == RECORD
        if key == RECORD and self._left == -1:
            raise StoreUnavailable("away for a moment")
        return super().get(key, at_most=at_most)


@pytest.mark.parametrize("number", range(4))
def test_whichever_look_at_the_volumes_record_fails_it_keeps_what_it_knew_longhorn_7687(bench, tmp_path, number):
    before = StoredVolume(bench.objects, VOLUME).volume_cfg()
    (tmp_path / "small").write_bytes(b"1" * BLOCK)
    asyncio.run(bench.clock.advance(EXPIRY))

    with contextlib.suppress(StoreUnavailable):
        MoverBench(LooksOnce(bench.objects, number), clock=bench.clock).upload(tmp_path / "small", "backup-3")
    after = StoredVolume(bench.objects, VOLUME).volume_cfg()

    assert (after.created_time, after.size) == (before.created_time, before.size)
    assert after.last_backup_name in {"backup-2", "backup-3"}


class Hiding(FaultyObjects):
    """The first listings of backups do not show some of them."""

    def __init__(self, inner, *names, listings=99):
        super().__init__(inner)
        self._hidden, self._left = {backup_cfg_key(VOLUME, name) for name in names}, listings

    def list_level(self, prefix):
        listing = super().list_level(prefix)
        if not prefix.endswith("/backups") or self._left == 0:
            return listing
        self._left -= 1
        return Listing(tuple(info for info in listing.objects if info.key not in self._hidden), listing.prefixes)


def test_a_listing_without_the_last_backup_is_not_believed(bench, tmp_path):
    with pytest.raises(StoreUnavailable, match="does not list it"):
        MoverBench(Hiding(bench.objects, "backup-2"), clock=bench.clock).remove("backup-1")
    bench.download(tmp_path / "back", "backup-2")

    assert (tmp_path / "back").read_bytes() == (tmp_path / "backup-2").read_bytes()


def test_a_backup_that_is_not_listed_is_not_removed_because_others_may_be_hidden_too(bench, tmp_path):
    with pytest.raises(StoreUnavailable, match="does not list it"):
        MoverBench(Hiding(bench.objects, "backup-1", "backup-2"), clock=bench.clock).remove("backup-2")
    for name in ("backup-1", "backup-2"):
        bench.download(tmp_path / f"back-{name}", name)
        assert (tmp_path / f"back-{name}").read_bytes() == (tmp_path / name).read_bytes()


def test_a_backup_that_shows_up_before_the_deletion_stops_it(bench, tmp_path):
    with pytest.raises(StoreUnavailable, match="changed while they were looked at"):
        MoverBench(Hiding(bench.objects, "backup-1", listings=2), clock=bench.clock).remove("backup-3")
    bench.download(tmp_path / "back", "backup-1")

    assert (tmp_path / "back").read_bytes() == (tmp_path / "backup-1").read_bytes()


def test_a_volume_without_record_and_without_listed_backups_keeps_its_blocks(bench):
    bench.objects.delete(RECORD)
    MoverBench(Hiding(bench.objects, "backup-1", "backup-2"), clock=bench.clock).remove("backup-3")

    assert len(set(StoredVolume(bench.objects, VOLUME).block_sizes())) == 3


def test_a_finished_backup_of_which_the_answer_was_lost_is_not_taken_back(bench, tmp_path):
    """Who asks for it again is told that it is done, and nobody has to send it twice."""

    class LosesAnswer(FaultyObjects):
        def put(self, key, body, *, lazily=False):
            super().put(key, body, lazily=lazily)
            if "/backups/" in key:
                raise StoreUnavailable("no answer")

    with pytest.raises(StoreUnavailable):
        MoverBench(LosesAnswer(bench.objects), clock=bench.clock).upload(tmp_path / "backup-1", "backup-3")
    bench.download(tmp_path / "back", "backup-3")

    assert (tmp_path / "back").read_bytes() == (tmp_path / "backup-1").read_bytes()


@pytest.mark.parametrize(
    "trouble", [Trouble.AWAY, Trouble.REFUSED, Trouble.THROTTLED, Trouble.TIMEOUT, Trouble.TRUNCATED]
)
def test_a_failed_look_at_the_volumes_record_never_makes_a_blank_one_longhorn_7687(bench, tmp_path, trouble):
    before = bench.objects.get(RECORD, at_most=10**6)

    with pytest.raises(TidegateError):
        in_weather(bench, trouble).upload(tmp_path / "backup-1", "backup-3")
    assert bench.objects.get(RECORD, at_most=10**6) == before


@pytest.mark.parametrize("trouble", [Trouble.BROKEN_LISTING, Trouble.AWAY, Trouble.TIMEOUT])
def test_a_failed_listing_is_an_empty_one_for_nobody_who_looks(bench, trouble):
    volume = StoredVolume(in_weather(bench, trouble).objects, VOLUME)

    for look in (
        volume.backup_names,
        lambda: list(volume.block_sizes()),
        lambda: list(volume_names(volume.objects)),
        lambda: Verification(percent=0, now=bench.clock.now()).volume(volume),
        lambda: collect_garbage(volume, progress=Progress(bench.hear, bench.clock)),
    ):
        with pytest.raises(StoreUnavailable):
            look()


class HalfOf(FaultyObjects):
    """One object is read by half."""

    def __init__(self, inner, key):
        super().__init__(inner)
        self._key = key

    def get(self, key, *, at_most):
        body = super().get(key, at_most=at_most)
        return body[: len(body) // 2] if key == self._key else body


def test_a_cfg_that_was_read_by_half_keeps_all_blocks(bench, tmp_path):
    half = HalfOf(bench.objects, backup_cfg_key(VOLUME, "backup-2"))

    result = MoverBench(half, clock=bench.clock).remove("backup-1")
    bench.download(tmp_path / "back", "backup-2")

    assert (tmp_path / "back").read_bytes() == (tmp_path / "backup-2").read_bytes()
    assert "no blocks were deleted" in result.warnings[0]


def test_no_block_is_deleted_while_a_backup_is_in_progress_not_even_one_that_nobody_names(bench, tmp_path):
    (tmp_path / "new").write_bytes(random.Random(9).randbytes(BLOCK))
    dying = MoverBench(FaultyObjects(bench.objects, dies_after_writes=4), clock=bench.clock)
    with pytest.raises(RuntimeError, match="ProcessDied"):
        dying.upload(tmp_path / "new", "backup-3")
    asyncio.run(bench.clock.advance(EXPIRY * 2))
    before = set(StoredVolume(bench.objects, VOLUME).block_sizes())

    bench.remove("backup-1")

    assert len(before) == 4
    assert set(StoredVolume(bench.objects, VOLUME).block_sizes()) == before


def block_of(bench, backup, number=0):
    ref = StoredVolume(bench.objects, VOLUME).backup_cfg(backup).blocks[number]
    return block_key(VOLUME, ref.checksum)


DAMAGES = {
    "gone": lambda store, key: store.delete(key),
    "empty": lambda store, key: store.put(key, b""),
    "half": lambda store, key: store.put(key, store.get(key, at_most=3 * BLOCK)[:99]),
    "another block": lambda store, key: store.put(key, compress(b"x" * BLOCK, Compression.LZ4)),
    "a short block": lambda store, key: store.put(key, compress(b"x", Compression.LZ4)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_block_is_told_and_never_restored_longhorn_12713(bench, tmp_path, damage):
    DAMAGES[damage](bench.objects, block_of(bench, "backup-1"))

    with pytest.raises(DamageError):
        bench.download(tmp_path / "back", "backup-1")
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("damage", ["gone", "empty"])
def test_a_block_that_the_store_lost_is_sent_again_by_the_next_upload_longhorn_9784(bench, tmp_path, damage):
    DAMAGES[damage](bench.objects, block_of(bench, "backup-1"))

    bench.upload(tmp_path / "backup-1", "backup-3")
    bench.download(tmp_path / "back", "backup-1")

    assert (tmp_path / "back").read_bytes() == (tmp_path / "backup-1").read_bytes()


def test_a_backup_that_is_settled_late_is_not_taken_for_the_last(bench, tmp_path):
    """Its upload died before volume.cfg; when it is asked for again, a newer one is there."""
    writes = len(writes_of(bench, tmp_path, "backup-3"))
    dying = MoverBench(FaultyObjects(bench.objects, dies_after_writes=writes - 2), clock=bench.clock)
    with pytest.raises(RuntimeError, match="ProcessDied"):
        dying.upload(tmp_path / "backup-1", "backup-4")
    assert not StoredVolume(bench.objects, VOLUME).backup_cfg("backup-4").in_progress
    asyncio.run(bench.clock.advance(EXPIRY * 2))
    bench.upload(tmp_path / "backup-1", "backup-5")

    bench.upload(tmp_path / "backup-1", "backup-4")

    assert StoredVolume(bench.objects, VOLUME).volume_cfg().last_backup_name == "backup-5"


def writes_of(bench, tmp_path, name):
    asyncio.run(bench.clock.advance(EXPIRY))
    watched = FaultyObjects(bench.objects)
    MoverBench(watched, clock=bench.clock).upload(tmp_path / "backup-1", name)
    return [call for call in watched.calls if call[0] in WRITES]


def test_several_backups_are_removed_in_one_pass(bench):
    watched = FaultyObjects(bench.objects)
    MoverBench(watched, clock=bench.clock).remove("backup-1", "backup-2")

    listings = [prefix for method, prefix in watched.calls if method == "list_all" and prefix.endswith("/blocks")]
    assert len(listings) == 1
    assert not list(StoredVolume(bench.objects, VOLUME).block_sizes())

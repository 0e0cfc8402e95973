"""Removing backups never takes a block that somebody needs."""

import asyncio
import contextlib

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import NotFound, StoreUnavailable
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.lock_file import EXPIRY
from tidegate.format.cfgs.paths import backup_cfg_key, volume_cfg_key
from tidegate.ports.object_store import Listing
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects

VOLUME = "shop.db"


@pytest.fixture
def volume(store):
    return StoredVolume(store, VOLUME)


@pytest.fixture
def two_backups(bench, image, clock, volume):
    """backup-1 of blocks A and B, backup-2 of blocks B and C."""
    bench.upload(image("AB"), "backup-1")
    bench.upload(image("BC"), "backup-2")
    assert count_blocks(volume) == 3
    return bench


def count_blocks(volume):
    return sum(1 for _ in volume.block_sizes())


def test_shared_blocks_stay_and_the_others_go(two_backups, volume, image, tmp_path):
    two_backups.remove("backup-1")

    two_backups.download(tmp_path / "back", "backup-2")
    assert (tmp_path / "back").read_bytes() == image("BC").read_bytes()
    assert count_blocks(volume) == 2
    with pytest.raises(NotFound):
        volume.backup_cfg("backup-1")


def test_the_volume_points_to_the_newest_backup_that_is_left(two_backups, volume):
    two_backups.remove("backup-2")

    cfg = volume.volume_cfg()
    assert (cfg.last_backup_name, cfg.last_backup_at, cfg.block_count) == ("backup-1", "2026-01-01T00:00:00Z", 2)


def test_the_last_backup_leaves_an_empty_volume(two_backups, volume):
    two_backups.remove("backup-1", "backup-2")

    cfg = volume.volume_cfg()
    assert (cfg.last_backup_name, cfg.block_count, count_blocks(volume)) == ("", 0, 0)
    assert cfg.size == 2 * BLOCK


def test_removing_twice_or_nothing_is_harmless(two_backups, volume):
    two_backups.remove("backup-1")
    two_backups.remove("backup-1", "backup-9")

    assert volume.backup_names() == {"backup-2"}
    assert count_blocks(volume) == 2


@pytest.mark.parametrize("body", [b"{", b"", b'{"Name":"\xff"}', b"[]"])
def test_a_backup_whose_cfg_is_damaged_can_be_removed_and_the_others_restore(two_backups, store, image, tmp_path, body):
    """L6: what nobody can read is the first thing that people want to be rid of."""
    store.put(backup_cfg_key(VOLUME, "backup-1"), body)

    two_backups.remove("backup-1")

    with pytest.raises(NotFound):
        store.head(backup_cfg_key(VOLUME, "backup-1"))
    two_backups.download(tmp_path / "back", "backup-2")
    assert (tmp_path / "back").read_bytes() == image("BC").read_bytes()


def test_a_volume_that_is_not_there_is_removed_already(bench, store):
    bench.remove("backup-1")

    assert list(store.list_all("")) == []


def test_finished_backups_stay_if_only_leftovers_are_to_go(two_backups, store, volume):
    leftover = b'{"Name":"backup-3","VolumeName":"shop.db","CreatedTime":""}'
    store.put(backup_cfg_key(VOLUME, "backup-3"), leftover)

    two_backups.remove("backup-1", "backup-3", only_unfinished=True)

    assert volume.backup_names() == {"backup-1", "backup-2"}


@pytest.mark.parametrize("other", [b'{"Name":"backup-3","CreatedTime":""}', b"{broken"])
def test_a_cfg_that_cannot_say_what_it_needs_keeps_all_blocks(two_backups, store, volume, other):
    store.put(backup_cfg_key(VOLUME, "backup-3"), other)

    result = two_backups.remove("backup-1")

    assert volume.backup_names() == {"backup-2", "backup-3"}
    assert count_blocks(volume) == 3
    assert "no blocks were deleted" in result.warnings[0]


@pytest.mark.parametrize("method", ["list_level", "list_all", "get"])
@pytest.mark.parametrize("calls_before", range(8))
def test_no_failed_look_ever_deletes_a_block(two_backups, volume, method, calls_before):
    faulty = FailsLater(volume.objects, method, calls_before)

    try:
        MoverBench(faulty, clock=two_backups.clock).remove("backup-1")
    except StoreUnavailable:
        assert count_blocks(volume) == 3
    two_backups.remove("backup-1")
    assert count_blocks(volume) == 2


class FailsLater(FaultyObjects):
    """The n-th call of a method fails, and all later ones."""

    def __init__(self, inner, method, calls_before):
        super().__init__(inner)
        self._failing, self._calls_before = method, calls_before

    def _enter(self, method, key, *, writes=False):
        super()._enter(method, key, writes=writes)
        if method == self._failing:
            self._calls_before -= 1
            if self._calls_before < 0:
                raise StoreUnavailable("the store is away")


class HidesBackups(FaultyObjects):
    """A store that shows an empty directory where the backups are: a share that is not mounted, a stale handle."""

    def list_level(self, prefix):
        return Listing((), ()) if prefix.endswith("/backups") else super().list_level(prefix)


def test_a_listing_that_is_wrongly_empty_deletes_nothing(two_backups, volume):
    before = sorted(info.key for info in volume.objects.list_all(""))

    with pytest.raises(StoreUnavailable, match="does not list it"):
        MoverBench(HidesBackups(volume.objects), clock=two_backups.clock).remove("backup-1")
    assert sorted(info.key for info in volume.objects.list_all("")) == before


def test_a_wrongly_empty_listing_deletes_nothing_even_if_nothing_is_to_be_removed(two_backups, volume):
    with pytest.raises(StoreUnavailable, match="does not list it"):
        MoverBench(HidesBackups(volume.objects), clock=two_backups.clock).remove("backup-9")
    assert count_blocks(volume) == 3


def test_without_record_or_listing_nothing_proves_that_blocks_are_unneeded(two_backups, store, volume):
    store.delete(volume_cfg_key(VOLUME))

    MoverBench(HidesBackups(store), clock=two_backups.clock).remove("backup-9")

    assert count_blocks(volume) == 3


@pytest.mark.parametrize("writes", range(7))
def test_a_removal_killed_anywhere_can_be_repeated(two_backups, volume, image, tmp_path, writes):
    with contextlib.suppress(RuntimeError):
        MoverBench(FaultyObjects(volume.objects, dies_after_writes=writes), clock=two_backups.clock).remove("backup-1")
    asyncio.run(two_backups.clock.advance(EXPIRY * 2))  # the dead one's lock
    two_backups.download(tmp_path / "meanwhile", "backup-2")
    two_backups.remove("backup-1")

    two_backups.download(tmp_path / "back", "backup-2")
    assert (tmp_path / "back").read_bytes() == image("BC").read_bytes()
    assert count_blocks(volume) == volume.volume_cfg().block_count == 2

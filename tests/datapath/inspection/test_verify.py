"""A verification finds each kind of damage, tells whose it is, and changes nothing."""

from dataclasses import replace

import pytest

from tidegate.datapath.inspection.verify import Verification, problems_of
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import NotFound
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.paths import backup_cfg_key, block_key, volume_cfg_key
from tidegate.testing.stores.faulty_objects import FaultyObjects

VOLUME = "shop.db"


@pytest.fixture
def stored(bench, store, image):
    """A volume with the backups AB and AC."""
    bench.upload(image("AB"), "backup-1")
    bench.upload(image("AC"), "backup-2")
    return StoredVolume(store, VOLUME)


@pytest.fixture
def look(stored, clock):
    def verify(percent=0, only=""):
        return Verification(percent=percent, now=clock.now()).volume(stored, only=only)

    return verify


def block(stored, backup, number):
    return block_key(VOLUME, stored.backup_cfg(backup).blocks[number].checksum)


def states(verdict):
    return {backup.backup: backup.whole for backup in verdict.backups}


def test_a_whole_volume_is_whole_and_nobody_wrote(look, store, stored, clock):
    counting = FaultyObjects(store)

    verdict = Verification(percent=100, now=clock.now()).volume(StoredVolume(counting, VOLUME))

    assert (verdict.whole, verdict.notes, verdict.blocks, verdict.blocks_read) == (True, [], 3, 3)
    assert {call for call, _ in counting.calls} <= {"get", "head", "list_level", "list_all"}


def test_a_missing_block_is_blamed_on_the_backups_that_name_it(look, store, stored):
    store.delete(block(stored, "backup-2", 1))

    verdict = look()

    assert states(verdict) == {"backup-1": True, "backup-2": False}
    assert f"backup backup-2 of volume shop.db: the block at {BLOCK} is missing" in next(problems_of(verdict))


def test_a_damaged_block_is_found_only_by_reading(look, store, stored):
    store.put(block(stored, "backup-1", 0), b"junk")

    assert look(percent=0).whole
    assert states(look(percent=100)) == {"backup-1": False, "backup-2": False}


def test_an_empty_block_is_found_without_reading(look, store, stored):
    store.put(block(stored, "backup-1", 1), b"")

    assert states(look()) == {"backup-1": False, "backup-2": True}


def test_the_sample_is_the_same_each_time(look):
    assert look(percent=50).blocks_read == look(percent=50).blocks_read <= look(percent=100).blocks_read


def test_a_cfg_that_cannot_be_read_is_damage_and_hides_no_orphans(look, store):
    store.put(backup_cfg_key(VOLUME, "backup-2"), b"{")

    verdict = look()

    assert states(verdict) == {"backup-1": True, "backup-2": False}
    assert verdict.orphans == 0


def test_a_cfg_under_another_name_is_damage(look, store, stored):
    store.put(backup_cfg_key(VOLUME, "backup-3"), stored.backup_cfg("backup-1").encode())

    assert states(look()) == {"backup-1": True, "backup-2": True, "backup-3": False}


def test_blocks_that_nobody_names_are_only_a_note(look, store):
    store.put(block_key(VOLUME, "ab" * 32), b"12345")

    verdict = look()

    assert (verdict.whole, verdict.orphans, verdict.orphan_bytes) == (True, 1, 5)
    assert "belong to no finished backup" in verdict.notes[0]


def test_a_leftover_is_told_with_its_age(look, store, stored):
    stored.save_backup_cfg(replace(stored.backup_cfg("backup-1"), name="backup-9", created_time="", blocks=()))

    verdict = look()

    assert verdict.whole
    assert "backup backup-9 is in progress, or its writer died: begun 0.0 hours ago" in verdict.notes[0]


def test_a_record_that_counts_wrongly_or_points_nowhere_is_told(look, stored):
    stored.save_volume_cfg(replace(stored.volume_cfg(), block_count=7, last_backup_name="backup-8"))

    notes = look().notes

    assert notes[0].startswith("volume.cfg counts 7 blocks")
    assert "names backup-8 as the last backup, which is not there" in notes[1]


@pytest.mark.parametrize("body", [None, b"{"])
def test_a_record_that_is_lost_or_broken_is_damage(look, store, body):
    if body is None:
        store.delete(volume_cfg_key(VOLUME))
    else:
        store.put(volume_cfg_key(VOLUME), body)

    verdict = look()

    assert states(verdict) == {"backup-1": True, "backup-2": True}
    assert "mend it with: store repair-index" in verdict.problems[0]


def test_one_backup_alone_can_be_looked_at(look, store, stored):
    store.delete(block(stored, "backup-2", 1))

    assert states(look(only="backup-1")) == {"backup-1": True}
    with pytest.raises(NotFound, match="cannot find backup backup-7"):
        look(only="backup-7")

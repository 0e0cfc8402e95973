"""A volume's record is made anew from its backups, or not at all when they leave something in doubt."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tidegate.datapath.maintenance.repair import plan_repair
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import NotFound, Refused
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.paths import backup_cfg_key, volume_cfg_key

VOLUME = "shop.db"


@pytest.fixture
async def stored(bench, store, image, clock):
    bench.upload(image("AB"), "backup-1")
    await clock.advance(timedelta(hours=1))
    bench.upload(image("ACD"), "backup-2")
    return StoredVolume(store, VOLUME)


def without_size(stored, backup):
    """As Longhorn writes it."""
    cfg = stored.backup_cfg(backup)
    parameters = {name: value for name, value in cfg.parameters.items() if name != "tidegate.dev/size"}
    stored.save_backup_cfg(replace(cfg, parameters=parameters))


def test_a_good_record_needs_nothing(stored):
    assert plan_repair(stored).why == ()


@pytest.mark.parametrize("body", [None, b"{"])
def test_a_lost_or_broken_record_comes_back_as_it_was(store, stored, body):
    before = stored.volume_cfg()
    if body is None:
        store.delete(volume_cfg_key(VOLUME))
    else:
        store.put(volume_cfg_key(VOLUME), body)

    repair = plan_repair(stored)

    assert repair.after == before
    assert repair.why


def test_a_wrong_record_is_corrected_and_each_correction_told(stored):
    good = stored.volume_cfg()
    stored.save_volume_cfg(replace(good, block_count=9, last_backup_name="backup-1", size=BLOCK))

    repair = plan_repair(stored)

    assert repair.after == replace(good, labels=repair.after.labels)
    assert repair.why == (
        f"Size is {BLOCK}, should be {3 * BLOCK}",
        "LastBackupName is backup-1, should be backup-2",
        "BlockCount is 9, should be 4",
    )


def test_what_backups_do_not_tell_stays_as_it_was(stored):
    stored.save_volume_cfg(replace(stored.volume_cfg(), storage_class_name="fast", block_count=1))

    assert plan_repair(stored).after.storage_class_name == "fast"


def test_a_size_that_nobody_tells_must_be_given(store, stored):
    without_size(stored, "backup-1")
    store.delete(volume_cfg_key(VOLUME))

    with pytest.raises(Refused, match="nobody tells the size"):
        plan_repair(stored)
    with pytest.raises(Refused, match="at least"):
        plan_repair(stored, size=BLOCK)
    assert plan_repair(stored, size=8 * BLOCK).after.size == 8 * BLOCK


def test_a_backup_that_cannot_be_read_leaves_it_in_doubt(store, stored):
    store.put(backup_cfg_key(VOLUME, "backup-2"), b"{")

    with pytest.raises(Refused, match="may be the newest"):
        plan_repair(stored)


def test_nothing_is_made_of_nothing(store):
    with pytest.raises(NotFound, match="cannot find volume"):
        plan_repair(StoredVolume(store, "nosuch"))

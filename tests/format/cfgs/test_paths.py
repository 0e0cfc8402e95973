import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import InvalidInput
from tidegate.format.blocks.checksum import checksum
from tidegate.format.cfgs.paths import (
    backup_cfg_key,
    backup_name_of,
    block_checksum_of,
    block_key,
    is_name,
    lock_key,
    lock_name_of,
    store_backup_name,
    store_volume_name,
    volume_cfg_key,
    volume_dir,
    volume_name_of,
)


def test_a_volume_lies_where_longhorn_puts_it():
    assert volume_cfg_key("pvc-golden-lz4") == "backupstore/volumes/c1/be/pvc-golden-lz4/volume.cfg"


def test_names_come_back_out_of_their_keys():
    block = checksum(b"block")

    assert backup_name_of(backup_cfg_key("vol", "backup-1")) == "backup-1"
    assert block_checksum_of(block_key("vol", block)) == block
    assert lock_name_of(lock_key("vol", "lock-0123456789abcdef")) == "lock-0123456789abcdef"
    assert volume_name_of(volume_dir("vol")) == "vol"


@pytest.mark.parametrize(
    "name",
    [
        "backup_backup-1.cfg.tmp.1763245678000000000",
        "backup_.cfg",
        "backup_-x.cfg",
        "backup_a.cfg",
        "backup-1.cfg",
        ".DS_Store",
        "backup_x.tmp.1.cfg",
    ],
)
def test_foreign_and_temporary_files_are_no_backups(name):
    assert backup_name_of(f"backupstore/volumes/aa/bb/vol/backups/{name}") is None


def test_a_volume_directory_in_the_wrong_place_is_no_volume():
    assert volume_name_of("backupstore/volumes/00/00/vol") is None


@pytest.mark.parametrize("name", ["..", ".", "", "a", "../../etc", "a/b", "a\\b", "a\0b", "-a", "a b", "ä1", "x" * 201])
def test_what_could_lead_out_of_its_directory_is_no_name(name):
    assert not is_name(name)
    with pytest.raises(InvalidInput):
        backup_cfg_key("vol", name)
    with pytest.raises(InvalidInput):
        volume_dir(name)
    with pytest.raises(InvalidInput):
        block_key("vol", name)


@given(st.text())
def test_every_key_stays_in_its_directory_whatever_the_name(name):
    if is_name(name):
        assert backup_cfg_key("vol", name).rpartition("/")[0] == volume_dir("vol") + "/backups"


def test_a_store_name_tells_namespace_and_volume():
    assert store_volume_name("shop", "db") == "shop.db"


def test_long_store_names_are_cut_but_stay_different():
    one, other = (store_volume_name("n" * 63, "v" * 100 + end) for end in "ab")

    assert len(one) == len(other) == 64
    assert one != other
    assert is_name(one)


def test_a_backup_name_is_the_same_for_the_same_seed():
    assert store_backup_name("uid-1/shop/db") == store_backup_name("uid-1/shop/db")
    assert store_backup_name("uid-1/shop/db") != store_backup_name("uid-2/shop/db")
    assert len(store_backup_name("")) == len("backup-") + 16

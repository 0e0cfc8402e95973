"""Stores that Longhorn wrote are listed and restored as Longhorn does it, and can be added to."""

import hashlib

import pytest

from tidegate.datapath.stored_volume import StoredVolume, volume_names
from tidegate.objects.directory import DirectoryObjects
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.golden import GOLDEN, WHY_SKIPPED, copy_of_store, golden_backups

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason=WHY_SKIPPED)
CASES = sorted({(case, volume) for case, volume, _, _ in golden_backups()})


@pytest.mark.parametrize(("case", "volume"), CASES)
def test_a_store_of_longhorn_is_listed(case, volume):
    objects = DirectoryObjects(str(GOLDEN / case / "store"))

    assert list(volume_names(objects)) == [volume]
    assert StoredVolume(objects, volume).backup_names() == {"backup-a", "backup-b", "backup-c", "backup-d"}


@pytest.mark.parametrize(("case", "volume", "backup", "sha256"), golden_backups())
def test_a_backup_of_longhorn_restores_to_the_same_bytes(tmp_path, case, volume, backup, sha256):
    objects = DirectoryObjects(str(copy_of_store(case, tmp_path / "store")))

    MoverBench(objects, volume=volume).download(tmp_path / "image", backup)

    assert hashlib.sha256((tmp_path / "image").read_bytes()).hexdigest() == sha256


@pytest.mark.parametrize(("case", "volume"), CASES)
def test_a_backup_added_to_a_volume_of_longhorn_reuses_its_blocks_and_keeps_its_record(tmp_path, case, volume):
    objects = DirectoryObjects(str(copy_of_store(case, tmp_path / "store")))
    bench = MoverBench(objects, volume=volume)
    bench.download(tmp_path / "image", "backup-b")
    before = StoredVolume(objects, volume).volume_cfg()

    result = bench.upload(tmp_path / "image", "backup-e")

    after = StoredVolume(objects, volume).volume_cfg()
    assert result.new_bytes == 0
    assert (after.compression, after.created_time, after.size, after.storage_class_name, after.block_count) == (
        before.compression,
        before.created_time,
        before.size,
        before.storage_class_name,
        before.block_count,
    )


@pytest.mark.parametrize(("case", "volume"), CASES)
def test_removing_three_backups_of_longhorn_leaves_the_fourth_whole(tmp_path, case, volume):
    objects = DirectoryObjects(str(copy_of_store(case, tmp_path / "store")))
    bench = MoverBench(objects, volume=volume)
    sha256 = {backup: digest for _, one, backup, digest in golden_backups() if one == volume}

    bench.remove("backup-a", "backup-c", "backup-d")
    bench.download(tmp_path / "image", "backup-b")

    assert hashlib.sha256((tmp_path / "image").read_bytes()).hexdigest() == sha256["backup-b"]
    assert StoredVolume(objects, volume).volume_cfg().last_backup_name == "backup-b"

"""System backups in real stores."""

import pytest

from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.app.machine.system_archives import StoreArchives
from tidegate.errors import StoreIdentityMissing, StoreUnavailable, WrongKey
from tidegate.model.system.system import VolumeBackupPolicy
from tidegate.model.system_archive import ArchiveMetadata, SystemArchive
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.testing.resources.builders import THEN, a_volume

ARCHIVE = SystemArchive(
    "weekly",
    ArchiveMetadata(
        version="v1", created_at=THEN, system_backup_uid="u", volume_backup_policy=VolumeBackupPolicy.ALWAYS
    ),
    (a_volume("shop", "db"),),
    (),
)


@pytest.fixture
def archives():
    return StoreArchives(ThreadedStoreProbe())


async def tour(archives, access):
    """Everything that is done with a system backup, once."""
    stored = await archives.write(access, "v1", ARCHIVE)
    again = await archives.write(access, "v1", ARCHIVE)
    found = await archives.found(access)
    read = await archives.read(access, found[0])
    looked = await archives.look(access, found[0])
    await archives.remove(access, found[0])
    assert (again, looked, [one.name for one in read.definitions]) == (stored, stored, ["db"])
    assert (found, await archives.found(access)) == ([stored.place], [])


async def test_a_directory_holds_system_backups(archives, tmp_path):
    await tour(archives, TargetAccess(url=f"file://{tmp_path}"))


async def test_an_encrypted_directory_holds_system_backups_that_only_the_key_opens(archives, tmp_path):
    (tmp_path / "key").write_text("ab" * 32)
    store = tmp_path / "store"
    store.mkdir()
    access = TargetAccess(url=f"file://{store}", credentials={"TIDEGATE_ENCRYPTION_KEY_FILE": str(tmp_path / "key")})
    await tour(archives, access)
    stored = await archives.write(access, "v1", ARCHIVE)

    assert stored.encryption.startswith("aes-256-gcm-v1:")
    with pytest.raises(WrongKey, match="and no key was given"):
        await archives.read(TargetAccess(url=access.url), stored.place)


async def test_a_bucket_holds_system_backups(archives, rclone, bucket):
    await tour(archives, TargetAccess(url=f"s3://{bucket}@us-east-1/x/", credentials=rclone.credentials()))


async def test_a_store_that_is_not_there_is_away_and_not_empty(archives, tmp_path):
    with pytest.raises(StoreUnavailable):
        await archives.found(TargetAccess(url=f"file://{tmp_path}/missing"))


async def test_no_system_backup_is_written_read_or_removed_where_another_store_is(archives, tmp_path):
    access = TargetAccess(url=f"file://{tmp_path}", identity="mine")
    place = (await archives.write(access.replace(identity=""), "v1", ARCHIVE)).place
    before = sorted(tmp_path.rglob("*"))

    for work in (
        lambda: archives.write(access, "v2", ARCHIVE),
        lambda: archives.found(access),
        lambda: archives.look(access, place),
        lambda: archives.read(access, place),
        lambda: archives.remove(access, place),
    ):
        with pytest.raises(StoreIdentityMissing):
            await work()
    assert sorted(tmp_path.rglob("*")) == before

"""System backups in real stores, and looks at real volumes."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from tidegate.app.machine.surroundings import LocalSurroundings
from tidegate.app.machine.system_archives import StoreArchives, newest_change
from tidegate.errors import StoreIdentityMissing, StoreUnavailable, WrongKey
from tidegate.model.system.system import VolumeBackupPolicy
from tidegate.model.system_archive import ArchiveMetadata, SystemArchive
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.model.volumes.volume import VolumeSpec
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
    return StoreArchives(LocalSurroundings())


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


def settled(path):
    """A moment after the last change of anything at the path, and before the next one that the clock can tell."""
    return datetime.fromtimestamp(newest_change(str(path)), UTC) + timedelta(microseconds=10)


def until_the_clock_shows_it(path, change):
    """File systems keep time in steps of some milliseconds: change until one is over."""
    before = newest_change(str(path))
    while newest_change(str(path)) <= before:
        change()


async def test_a_tree_has_changed_when_a_file_was_touched_or_removed(archives, tmp_path):
    (tmp_path / "deep").mkdir()
    file = tmp_path / "deep" / "file"
    file.write_text("1")
    volume, before = VolumeSpec(directory=str(tmp_path)), settled(tmp_path)

    assert not await archives.changed_since(volume, before)
    until_the_clock_shows_it(tmp_path, lambda: os.utime(file, (0, 0)))  # who sets the time back has changed it too
    assert await archives.changed_since(volume, before)

    before = settled(tmp_path)
    until_the_clock_shows_it(tmp_path, lambda: (file.touch(), file.unlink()))
    assert await archives.changed_since(volume, before)


async def test_an_image_tells_by_its_times_and_what_cannot_be_told_counts_as_changed(archives, tmp_path):
    image = tmp_path / "disk.img"
    image.write_bytes(b"1")
    volume, before = VolumeSpec(image=str(image)), settled(image)

    assert not await archives.changed_since(volume, before)
    until_the_clock_shows_it(image, lambda: image.write_bytes(b"2"))
    assert await archives.changed_since(volume, before)
    assert await archives.changed_since(VolumeSpec(image=str(tmp_path / "missing")), before)
    assert await archives.changed_since(VolumeSpec(device="/dev/null"), before + timedelta(days=9999))


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

"""System backups in a store: the archive first, the cfg second, nothing ever overwritten."""

import json
from contextlib import suppress
from hashlib import sha256

import pytest

from tidegate.datapath.leftovers import BEGUN_DEAD_AFTER
from tidegate.datapath.system_archives import (
    Written,
    list_system_backups,
    read_archive,
    read_stored,
    remove_archive,
    write_archive,
)
from tidegate.errors import AlreadyExists, DamagedMetadata, NotFound, StoreUnavailable, WrongKey
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.cfgs.sealed_archive import open_archive
from tidegate.format.cfgs.system_archive import encode_archive
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace
from tidegate.model.system.system import VolumeBackupPolicy
from tidegate.model.system_archive import ArchiveMetadata, SystemArchive
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.resources.builders import THEN, a_volume
from tidegate.testing.stores.faulty_objects import FaultyObjects, ProcessDied
from tidegate.testing.stores.recorded_writes import grow_old


@pytest.fixture
def objects():
    return MemoryObjects(ManualClock())


def an_archive(name, *volumes, maker="me"):
    metadata = ArchiveMetadata(
        version="v1", created_at=THEN, system_backup_uid=maker, volume_backup_policy=VolumeBackupPolicy.DISABLED
    )
    return SystemArchive(name, metadata, tuple(a_volume("shop", volume) for volume in volumes), ())


def write(objects, name, *volumes, maker="me", version="v1", key=None):
    body = encode_archive(an_archive(name, *volumes, maker=maker))
    return write_archive(objects, ArchivePlace(name, version), Written(body, maker, "file:///s", THEN), key=key)


@pytest.mark.parametrize(("age", "left"), [(BEGUN_DEAD_AFTER * 2, 0), (BEGUN_DEAD_AFTER / 2, 1)])
def test_the_next_system_backup_clears_away_the_half_ones_of_the_dead(tmp_path, age, left):
    objects = DirectoryObjects(str(tmp_path))
    place = write(objects, "weekly", "db").place
    half = tmp_path / f"{ArchivePlace('gone', 'v1').zip_key}.tmp.0123456789abcdef"
    half.parent.mkdir()
    half.write_bytes(b"half")
    grow_old(half.parent, seconds=age.total_seconds())

    write(objects, "daily", "db")

    assert len(list(tmp_path.rglob("*.tmp.*"))) == left
    assert names(objects) == ["daily", place.name]


def names(objects):
    return [place.name for place in list_system_backups(objects)]


def test_what_was_written_is_found_and_read_again_by_anyone(objects):
    stored = write(objects, "weekly", "db")

    (place,) = list_system_backups(objects)
    body = objects.get(place.zip_key, at_most=10**6)
    assert (read_stored(objects, place), stored.checksum) == (stored, sha256(body).hexdigest())
    assert [volume.name for volume in read_archive(objects, place).definitions] == ["db"]


def test_the_cfg_names_a_url_that_longhorn_opens_too(objects):
    """Its driver for directories is vfs; file is a word of ours."""
    write(objects, "weekly")

    (place,) = list_system_backups(objects)
    assert json.loads(objects.get(place.cfg_key, at_most=10**6))["BackupTargetURL"] == "vfs:///s"


def test_the_cfg_comes_second_so_half_a_system_backup_is_none(objects):
    dying = FaultyObjects(objects, dies_after_writes=1)
    with pytest.raises(ProcessDied):
        write(dying, "weekly", "db")

    assert [info.key.rpartition("/")[2] for info in objects.list_all("")] == ["system-backup.zip"]
    assert names(objects) == []


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_writer_that_died_anywhere_goes_on_with_what_is_in_the_store(objects, writes):
    dying = FaultyObjects(objects, dies_after_writes=writes)
    with suppress(ProcessDied):
        write(dying, "weekly", "db")

    stored = write(objects, "weekly", "db", "made-meanwhile")

    archive = read_archive(objects, stored.place)
    assert [one.name for one in archive.definitions] == (["db", "made-meanwhile"] if writes == 0 else ["db"])


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_name_that_exists_is_never_overwritten_under_any_version(objects, version):
    write(objects, "weekly", "db")
    before = {info.key: objects.get(info.key, at_most=10**6) for info in objects.list_all("")}

    with pytest.raises(AlreadyExists, match="weekly"):
        write(objects, "weekly", "other", maker="somebody-else", version=version)

    assert {info.key: objects.get(info.key, at_most=10**6) for info in objects.list_all("")} == before


def test_names_that_begin_the_same_do_not_know_of_each_other(objects):
    for name in ("aa", "aaa", "aaaa"):
        write(objects, name, name)

    remove_archive(objects, ArchivePlace("aa", "v1"))
    remove_archive(objects, ArchivePlace("aa", "v1"))

    assert names(objects) == ["aaa", "aaaa"]
    assert read_archive(objects, ArchivePlace("aaa", "v1")).definitions[0].name == "aaa"


def test_one_that_never_became_ready_removes_only_what_it_wrote_itself(objects):
    write(objects, "weekly", "db", maker="somebody-else")

    remove_archive(objects, ArchivePlace("weekly", "v1"), only_of="me")

    assert names(objects) == ["weekly"]
    remove_archive(objects, ArchivePlace("weekly", "v1"), only_of="somebody-else")
    assert list(objects.list_all("")) == []


def test_an_archive_that_was_changed_or_lost_is_told_and_not_restored(objects):
    place = write(objects, "weekly", "db").place
    objects.put(place.zip_key, encode_archive(an_archive("weekly", "other")))
    with pytest.raises(DamagedMetadata, match="checksum"):
        read_archive(objects, place)

    objects.delete(place.zip_key)
    with pytest.raises(DamagedMetadata, match="missing"):
        read_archive(objects, place)
    with pytest.raises(NotFound):
        read_archive(objects, ArchivePlace("nobody", "v1"))


def test_a_listing_that_fails_is_not_an_empty_store(objects):
    write(objects, "weekly", "db")
    faulty = FaultyObjects(objects)
    faulty.fail("list_all", StoreUnavailable("no answer"))

    with pytest.raises(StoreUnavailable):
        list_system_backups(faulty)


def test_what_else_lies_there_is_passed_over(objects):
    write(objects, "weekly", "db")
    for key in ("v1/UPPER/system-backup.cfg", "v1/half/system-backup.zip", "v1/stray.txt", "system-backup.cfg"):
        objects.put(f"backupstore/system-backups/{key}", b"junk")

    assert names(objects) == ["weekly"]


KEY, ANOTHER = EncryptionKey(bytes(32)), EncryptionKey(bytes([1]) * 32)


def test_with_a_key_nothing_of_the_archive_can_be_read_in_the_store(objects):
    stored = write(objects, "weekly", "secret-volume", key=KEY)

    everything = b"".join(objects.get(info.key, at_most=10**6) for info in objects.list_all(""))
    assert b"secret-volume" not in everything
    assert b"yamls" not in everything
    assert stored.encryption == f"aes-256-gcm-v1:{KEY.id}" == read_stored(objects, stored.place).encryption
    assert [one.name for one in read_archive(objects, stored.place, key=KEY).definitions] == ["secret-volume"]


@pytest.mark.parametrize("key", [None, ANOTHER])
def test_a_key_that_is_missing_or_wrong_is_one_sentence(objects, key):
    stored = write(objects, "weekly", "db", key=KEY)

    with pytest.raises(WrongKey, match=f"system backup weekly is encrypted with key {KEY.id}, and"):
        read_archive(objects, stored.place, key=key)


def test_an_archive_that_was_written_without_a_key_is_read_with_one(objects):
    stored = write(objects, "weekly", "db")

    assert (stored.encryption, read_archive(objects, stored.place, key=KEY).name) == ("", "weekly")


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_writer_of_a_sealed_archive_that_died_anywhere_goes_on(objects, writes):
    with suppress(ProcessDied):
        write(FaultyObjects(objects, dies_after_writes=writes), "weekly", "db", key=KEY)
    stored = write(objects, "weekly", "db", "new-meanwhile", key=KEY)

    count = 2 if writes == 0 else 1
    assert len(read_archive(objects, stored.place, key=KEY).definitions) == count


def test_a_sealed_archive_cannot_be_moved_changed_or_taken_over(objects):
    stored = write(objects, "weekly", "db", key=KEY)
    body = objects.get(stored.place.zip_key, at_most=10**6)
    with pytest.raises(DamagedMetadata, match="for another place"):
        open_archive(body, ArchivePlace("daily", "v1"), KEY)
    with pytest.raises(DamagedMetadata, match="it was changed"):
        open_archive(body[:-1] + bytes([body[-1] ^ 1]), stored.place, KEY)
    for maker, key in (("somebody", KEY), ("me", ANOTHER), ("me", None)):
        with pytest.raises(AlreadyExists):
            write(objects, "weekly", "db", maker=maker, key=key)

    assert objects.get(stored.place.zip_key, at_most=10**6) == body


def test_who_never_became_ready_removes_its_own_sealed_archive_only_with_the_key(objects):
    with suppress(ProcessDied):
        write(FaultyObjects(objects, dies_after_writes=1), "weekly", "db", key=KEY)
    place = ArchivePlace("weekly", "v1")
    remove_archive(objects, place, only_of="me", key=None)
    remove_archive(objects, place, only_of="somebody", key=KEY)
    left = [info.key for info in objects.list_all("")]
    remove_archive(objects, place, only_of="me", key=KEY)

    assert (left, list(objects.list_all(""))) == ([place.zip_key], [])

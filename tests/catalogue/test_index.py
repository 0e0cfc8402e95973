"""The index object of a volume: of use where the listing bears it out, and never more than that."""

import gzip
import json

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.datapath.uploads.index_keeping import keep_index
from tidegate.errors import DamagedMetadata, StoreUnavailable
from tidegate.format.cfgs.paths import backup_cfg_key, backup_name_of
from tidegate.format.cfgs.volume_index import decode_index, encode_index, index_key
from tidegate.testing.stores.faulty_objects import FaultyObjects

BACKUPS = tuple(f"backup-{number}" for number in range(6))


@pytest.fixture
def indexed(far):
    tree = {"tidegate.dev/content": "tree", "tidegate.dev/tree-bytes": "11"}
    far.put("vol-a", *BACKUPS[:3], labels={"app": "shop"}, parameters=tree)
    far.put("vol-a", *BACKUPS[3:], labels={"app": "shop"})
    assert keep_index(StoredVolume(far.store, "vol-a"), far.clock) == []
    return far


def backups_read(far):
    return [name for key in far.reader.cfgs_read() if (name := backup_name_of(key))]


async def test_a_cold_sync_with_an_index_reads_no_cfg_of_a_backup(indexed):
    await indexed.sync()
    assert backups_read(indexed) == []
    with_index = await everything(indexed, "far")

    indexed.store.delete(index_key("vol-a"))
    await indexed.sync(target="read")

    assert sorted(backups_read(indexed)) == sorted(BACKUPS)
    assert await everything(indexed, "read") == with_index


async def everything(far, target):
    found = [await far.catalogue.backup(target, "vol-a", name) for name in BACKUPS]
    return [(backup.record, backup.subject, backup.volume_size) for backup in found]


async def test_cfgs_that_changed_since_the_index_was_written_are_read(indexed):
    indexed.put("vol-a", "backup-2", labels={"app": "other"})
    indexed.put("vol-a", "backup-9")

    await indexed.sync()

    assert sorted(backups_read(indexed)) == ["backup-2", "backup-9"]
    assert (await indexed.catalogue.backup("far", "vol-a", "backup-2")).record.labels == {"app": "other"}


async def test_a_backup_that_is_only_in_the_index_does_not_exist(indexed):
    indexed.store.delete(backup_cfg_key("vol-a", "backup-3"))

    await indexed.sync()

    assert "backup-3" not in await indexed.names()


def document(**changes):
    row = {"name": "backup-1", "snapshot": "", "compression": "lz4", "size": 1, "new": 0, "repeated": 0,
           "volumeSize": 0, "dataSize": None, "created": 1, "snapshotCreated": 1, "labels": 0, "parameters": 0,
           "messages": 0, "mark": 1, "incremental": False}  # fmt: skip
    columns = {name: [changes.pop(name, value)] for name, value in row.items()}
    return {"version": 3, "volume": "vol-a", "maps": [{}], **columns, **changes}


def packed(document):
    return gzip.compress(json.dumps(document).encode())


BAD = {
    "empty": b"",
    "no gzip": b"{}",
    "cut": encode_index("vol-a", {})[:-5],
    "a list": packed([]),
    "another volume": packed(document(volume="vol-b")),
    "another version": packed(document(version=2)),
    "no backups": packed({"version": 3, "volume": "vol-a"}),
    "a name that leads elsewhere": packed(document(name="../../x")),
    "a name that is a number": packed(document(name=1)),
    "a size that is text": packed(document(size="1")),
    "a size that is a truth": packed(document(size=True)),
    "a size without end": packed(document(size=1 << 80)),
    "a size of data that is text": packed(document(dataSize="1")),
    "a size of data below nothing": packed(document(dataSize=-1)),
    "a size below nothing": packed(document(size=-1)),
    "a time without end": packed(document(created=1 << 60)),
    "labels that are none": packed(document(maps=[{"a": 1}])),
    "labels that are a list": packed(document(maps=[["a"]])),
    "labels that are not there": packed(document(labels=1)),
    "labels before the first": packed(document(labels=-1)),
    "columns of different lengths": packed({**document(), "size": [1, 2]}),
    "a column that is a text": packed({**document(), "name": "backup-1"}),
    "half a character": packed(document(snapshot="\ud800")),
    "half a character as bytes": gzip.compress(
        json.dumps(document(snapshot="?")).encode().replace(b"?", b"\xed\xa0\x80")
    ),
    "a bomb": gzip.compress(bytes(300 * 1024 * 1024), 1),
}


def test_what_is_wrong_with_them_is_the_one_thing():
    assert decode_index(packed(document()), volume="vol-a").keys() == {"backup-1"}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
async def test_a_bad_index_is_ignored_and_the_cfgs_are_read(indexed, body):
    with pytest.raises(DamagedMetadata):
        decode_index(body, volume="vol-a")
    indexed.store.put(index_key("vol-a"), body)

    outcome = await indexed.sync()

    assert outcome.errors == ()
    assert sorted(backups_read(indexed)) == sorted(BACKUPS)
    assert keep_index(StoredVolume(indexed.store, "vol-a"), indexed.clock) == []
    assert decode_index(indexed.store.get(index_key("vol-a"), at_most=10_000), volume="vol-a").keys() == set(BACKUPS)


def test_two_writers_at_once_leave_an_index_that_lacks_something_but_lies_about_nothing(indexed):
    slow = FaultyObjects(indexed.store)

    def meanwhile():
        indexed.put("vol-a", "backup-8")
        keep_index(StoredVolume(indexed.store, "vol-a"), indexed.clock)

    indexed.put("vol-a", "backup-7")
    slow.interrupt(before_call=2, meanwhile=meanwhile)  # after the listing, before the write
    keep_index(StoredVolume(slow, "vol-a"), indexed.clock)

    entries = decode_index(indexed.store.get(index_key("vol-a"), at_most=10_000), volume="vol-a")
    assert entries.keys() == {*BACKUPS, "backup-7"}


def test_an_index_that_cannot_be_written_is_a_warning(indexed):
    faulty = FaultyObjects(indexed.store)
    indexed.put("vol-a", "backup-7")
    faulty.fail("put", StoreUnavailable("no answer"))

    assert "next sync takes longer: no answer" in keep_index(StoredVolume(faulty, "vol-a"), indexed.clock)[0]


def test_a_volume_with_few_backups_needs_no_index_and_keeps_none(indexed):
    for name in BACKUPS[2:]:
        indexed.store.delete(backup_cfg_key("vol-a", name))

    keep_index(StoredVolume(indexed.store, "vol-a"), indexed.clock)

    assert index_key("vol-a") not in {info.key for info in indexed.store.list_all("")}

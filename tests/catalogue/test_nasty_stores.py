"""Longhorn's own cases of broken stores, and stores that were made to hurt: named in messages, never fatal."""

import json
import os

import pytest

from tidegate.errors import DamagedMetadata, StoreUnavailable, Unauthenticated
from tidegate.format.cfgs.paths import VOLUMES, backup_cfg_key, backups_dir, volume_cfg_key, volume_dir
from tidegate.model.stores.catalogue import BackupState, CatalogueFilter
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.memory import MemoryObjects
from tidegate.objects.reading import ThreadedReader
from tidegate.ports.object_store import Listing, ObjectInfo
from tidegate.testing.stores.store_readers import CountingReader
from tidegate.testing.stores.stored_samples import write_volume

GIB = 1024**3


def junk_cfg(far):
    far.store.put(f"{backups_dir('vol-a')}/backup_1234@failure.cfg", b"junk")


def renamed_volume_cfg(far):
    body = far.store.get(volume_cfg_key("vol-a"), at_most=10_000)
    far.store.delete(volume_cfg_key("vol-a"))
    far.store.put(f"{volume_dir('vol-a')}/volume.cfg.old", body)


def renamed_cfg(far):
    far.store.delete(backup_cfg_key("vol-a", "backup-1"))
    far.store.put(f"{backups_dir('vol-a')}/backup_backup-1.cfg.old", b"{}")


def corrupt(body):
    def spoil(far):
        far.store.put(backup_cfg_key("vol-a", "backup-1"), body)

    return spoil


def corrupt_volume(body):
    def spoil(far):
        far.store.put(volume_cfg_key("vol-a"), body)

    return spoil


def saying(**fields):
    """A cfg that is whole but for these fields."""
    known = {"Name": "backup-1", "VolumeName": "vol-a", "CreatedTime": "2026-01-01T00:00:00Z", "Labels": {}}
    known |= {"Size": "2097152", "CompressionMethod": "lz4", "Blocks": []}
    return corrupt(json.dumps(known | fields).encode())


def volume_saying(**fields):
    known = {"Name": "vol-a", "Size": "8388608", "CreatedTime": "2026-01-01T00:00:00Z", "CompressionMethod": '"lz4"'}
    return corrupt_volume(json.dumps(known | fields).encode())


def stray(*keys):
    def spoil(far):
        for key in keys:
            far.store.put(key, b"x")

    return spoil


ERROR, WHOLE = {"backup-1": BackupState.ERROR}, {"backup-1": BackupState.COMPLETED}
GONE: dict[str, BackupState] = {}
# What happens to volume a, what is then known of its backup, and a word that its own or its backup's messages have.
CASES = {
    "L4 a junk file among the cfgs": (junk_cfg, WHOLE, ""),
    "L5 volume.cfg renamed": (renamed_volume_cfg, WHOLE, "cannot find"),
    "L6 a corrupt cfg": (corrupt(b"{"), ERROR, "not valid JSON"),
    "L7 a renamed cfg": (renamed_cfg, GONE, ""),
    "an empty cfg": (corrupt(b""), ERROR, "not valid JSON"),
    "a cfg that is a list": (corrupt(b"[]"), ERROR, "JSON object"),
    "a cfg that is a bomb": (corrupt(b'{"a":' * 5000), ERROR, "not valid JSON"),
    "a large cfg that is a bomb": (corrupt(b'{"a":' * 100_000), ERROR, "neither at its beginning nor at its end"),
    "a large cfg without sense": (corrupt(b'{"Name":"x",' + b'"a":"b",' * 300_000), ERROR, "neither at its beginning"),
    "broken UTF-8": (corrupt(b'{"Name":"\xff\xfe","CreatedTime":"\xff"}'), WHOLE, "calls itself"),
    "a block size without end": (corrupt(b'{"Parameters":{"backup-block-size":"99999999Mi"}}'), ERROR, "block size"),
    "a corrupt volume.cfg": (corrupt_volume(b'{"Size":7}'), WHOLE, "Size should be"),
    "a volume.cfg that is too large": (corrupt_volume(b" " * (5 * 1024 * 1024)), WHOLE, "5242880 bytes"),
    "a volume.cfg of another volume": (corrupt_volume(b'{"Name":"../../etc"}'), WHOLE, "calls itself"),
    "directories that are no volumes": (
        stray(
            f"{VOLUMES}/zz/00/x/volume.cfg",
            f"{VOLUMES}/00/11/..x/volume.cfg",
            f"{VOLUMES}/00/11/wrong-place/volume.cfg",
        ),
        WHOLE,
        "",
    ),
    "L17 the place of Longhorn's locks for backing images": (
        stray(f"{volume_dir('BACKINGIMAGE')}/locks/lock-1.lck"),
        WHOLE,
        "",
    ),
    "created in the future": (saying(CreatedTime="9999-12-31T23:59:59-23:59"), WHOLE, "created in the future"),
    "created before there were clocks": (saying(CreatedTime="0001-01-01T00:00:00+23:59"), WHOLE, ""),
    "a snapshot of the future": (saying(SnapshotCreatedAt="9999-12-31T23:59:59-23:59"), WHOLE, ""),
    "a time that nobody understands": (saying(CreatedTime="soon"), WHOLE, "no time of creation"),
    "half a character in a label": (saying(Labels={"a\ud800": "\udfff"}), WHOLE, ""),
    "a snapshot called by half a character": (saying(SnapshotName="\ud800"), WHOLE, ""),
    "a name of half a character": (saying(Name="\ud800"), WHOLE, "calls itself"),
    "a label with a zero byte": (saying(Labels={"a\x00b": "\x00"}), WHOLE, ""),
    "a bomb in the label of Kubernetes": (saying(Labels={"KubernetesStatus": "[" * 60_000}), WHOLE, ""),
    "a deep bomb in the label of Kubernetes": (
        saying(Labels={"KubernetesStatus": '{"workloadsStatus":' * 3000 + "1" + "}" * 3000}),
        WHOLE,
        "",
    ),
    "half a character in the label of Kubernetes": (
        saying(Labels={"KubernetesStatus": '{"namespace":"\\ud800","pvcName":7}'}),
        WHOLE,
        "",
    ),
    "labels without end": (saying(Labels={f"l{number}": "x" * 1000 for number in range(80)}), ERROR, "of labels"),
    "labels that are a tree": (saying(Labels={"a": {"b": "c"}}), ERROR, "Labels"),
    "a size beyond every number": (saying(Size="9" * 40), ERROR, "Size"),
    "an upload beyond every number": (saying(NewlyUploadedDataSize="9" * 40), ERROR, "NewlyUploaded"),
    "a size that is not one": (saying(TrueSize="-1", Size="-5"), ERROR, "Size"),
    "a volume of the future": (volume_saying(LastBackupAt="9999-12-31T23:59:59-23:59"), WHOLE, ""),
    "a volume beyond every number": (volume_saying(Size="9" * 40), WHOLE, "Size"),
    "more blocks than every number": (volume_saying(BlockCount=10**30), WHOLE, "BlockCount"),
    "a volume with half a character": (
        volume_saying(BackingImageName='"\\ud800"', Labels={"\ud800": "\ud800"}),
        WHOLE,
        "",
    ),
    "a volume whose last backup is half a character": (
        volume_saying(LastBackupName="\ud800"),
        WHOLE,
        "cannot be the name",
    ),
    "a volume.cfg that is a bomb": (corrupt_volume(b'{"a":' * 200_000), WHOLE, "not valid JSON"),
    "objects where directories should be": (stray(f"{VOLUMES}/file", f"{VOLUMES}/00/file"), WHOLE, ""),
}


@pytest.mark.parametrize(("spoil", "known", "word"), CASES.values(), ids=CASES)
async def test_what_is_broken_is_told_and_hides_nothing_else(far, spoil, known, word):
    for name in ("vol-a", "vol-b", "vol-c"):
        far.put(name, "backup-1")
    spoil(far)

    for _ in range(2):  # also when it is seen again
        outcome = await far.sync()
        assert outcome.held_back is None

    assert outcome.errors == ()
    assert await far.volumes() == ["vol-a", "vol-b", "vol-c"]
    page = await far.catalogue.backups(_of("vol-a"))
    assert {one.record.name: one.record.state for one in page.items} == known
    messages = [*(await far.catalogue.volume("far", "vol-a")).messages.values()]
    messages += [text for one in page.items for text in one.record.messages.values()]
    assert word in " ".join(messages)
    assert bool(messages) == bool(word)
    assert await far.names(volume="vol-b") == ["backup-1"]
    assert all(key.startswith("backupstore/volumes") for _, key in far.reader.asked)


def _of(volume):
    return CatalogueFilter(target="far", volume=volume)


async def test_more_than_a_thousand_backups_of_a_volume_are_all_listed(far):
    """L2: Longhorn once stopped at the first page."""
    far.put("vol-a", *(f"backup-{number:04}" for number in range(1001)))

    await far.sync()

    assert (await far.catalogue.volume("far", "vol-a")).backups == 1001


async def test_large_volumes_are_listed_by_the_beginnings_of_their_cfgs(far):
    """L3: 210 GiB of data in one, and two backups of 200 GiB."""
    far.put("vol-a", "backup-1", blocks=210 * 512)
    far.put("vol-b", "backup-2", "backup-3", blocks=200 * 512)

    outcome = await far.sync()

    assert outcome.errors == ()
    sizes = {name: (await far.catalogue.backup("far", volume, name)).record.size // GIB for volume, name in
             (("vol-a", "backup-1"), ("vol-b", "backup-2"), ("vol-b", "backup-3"))}  # fmt: skip
    assert sizes == {"backup-1": 210, "backup-2": 200, "backup-3": 200}
    assert far.reader.bytes_read < 200_000


async def test_lists_follow_the_store_that_a_target_names_now(far):
    """L13: from one store to another and back; nothing is held back, for another place is no loss."""
    far.put("vol-a", "backup-1")
    far.put("vol-b", "backup-2")
    await far.sync()
    first = far.reader
    other = MemoryObjects(far.clock)
    other.put(volume_cfg_key("vol-c"), first._store.get(volume_cfg_key("vol-a"), at_most=10_000))
    far.reader = CountingReader(other)

    moved = await far.sync(moved=True)
    assert (moved.held_back, await far.volumes()) == (None, ["vol-c"])

    far.reader = first
    await far.sync(moved=True)
    assert (await far.volumes(), sorted(await far.names())) == (["vol-a", "vol-b"], ["backup-1", "backup-2"])


class Liar(CountingReader):
    """Lists names that no store should have."""

    lies = ("..", "../../../etc/passwd", "x" * 10_000, "\udcff\udcfe", "a\x00b", "BACKINGIMAGE")

    async def list_level(self, prefix):
        listing = await super().list_level(prefix)
        depth = prefix.count("/") - VOLUMES.count("/")
        objects = tuple(
            ObjectInfo(f"{prefix}/backup_{lie}.cfg", 1, self.moment) for lie in self.lies if prefix.endswith("backups")
        )
        prefixes = tuple(f"{prefix}/{lie}" for lie in self.lies) if depth <= 2 else ()
        return Listing((*listing.objects, *objects), (*listing.prefixes, *prefixes))


async def test_names_that_lead_elsewhere_are_never_followed(far):
    far.put("vol-a", "backup-1")
    far.reader = Liar(far.store)
    far.reader.moment = far.clock.now()

    outcome = await far.sync()

    assert await far.names() == ["backup-1"]
    assert "cannot be volumes" in outcome.ignored
    assert len(outcome.ignored) < 500
    asked = [key for _, key in far.reader.asked]
    assert [key for key in asked if ".." in key or len(key) > 300 or "\x00" in key or "etc" in key] == []


class Huge(CountingReader):
    """A store whose cfg is said to have a gibibyte, of which nobody could hold the whole."""

    async def list_level(self, prefix):
        listing = await super().list_level(prefix)
        objects = [
            ObjectInfo(one.key, GIB if "backup_" in one.key else one.size, one.modified_at) for one in listing.objects
        ]
        return Listing(tuple(objects), listing.prefixes)

    async def read_part(self, key, *, start, length):
        part = await super().read_part(key, start=start, length=length)
        assert length <= 5 * 1024 * 1024
        if "backup_" not in key:
            return part
        body = part.body.replace(b'"Blocks":[', b'"Blocks":[' + b" " * (length - len(part.body)))[:length]
        return type(part)(body if start == 0 else b" " * length, ObjectInfo(key, GIB, part.info.modified_at))


async def test_of_a_cfg_of_a_gibibyte_only_the_beginning_is_read(far):
    far.put("vol-a", "backup-1", labels={"app": "shop"})
    far.reader = Huge(far.store)

    await far.sync()

    record = (await far.catalogue.backup("far", "vol-a", "backup-1")).record
    assert (record.state, record.labels) == (BackupState.COMPLETED, {"app": "shop"})
    assert len([key for key in far.reader.cfgs_read() if "backup_" in key]) == 1


async def test_a_volume_that_cannot_be_listed_hides_no_other(far):
    for name in ("vol-a", "vol-b"):
        far.put(name, "backup-1")
    await far.sync()
    far.put("vol-b", "backup-2")

    def away(verb, key):
        if key.startswith(volume_dir("vol-a")):
            raise StoreUnavailable("no answer")

    far.reader.trouble = away
    outcome = await far.sync()

    assert outcome.errors == ("volume vol-a: no answer",)
    assert sorted(await far.names()) == ["backup-1", "backup-1", "backup-2"]


async def test_a_volume_that_cannot_be_listed_is_listed_with_its_error_until_it_is_mended(far):
    for name in ("vol-a", "vol-b"):
        far.put(name, "backup-1")
    await far.sync(volume="vol-b")
    synced = (await far.catalogue.volume("far", "vol-b")).last_synced_at

    def broken(verb, key):
        if key.endswith("/backups"):
            raise DamagedMetadata("backups is a symbolic link")

    far.reader.trouble = broken
    await far.sync()

    told = {one.name: one.messages for one in (await far.catalogue.volumes(CatalogueFilter())).items}
    why = {"error": "backups is a symbolic link"}
    assert told == {"vol-a": why, "vol-b": why}
    kept = await far.catalogue.volume("far", "vol-b")
    assert (kept.backups, kept.record.last_backup_name, kept.last_synced_at) == (1, "backup-1", synced)

    far.reader.trouble = lambda _verb, _key: None
    await far.sync()
    assert [one.messages for one in (await far.catalogue.volumes(CatalogueFilter())).items] == [{}, {}]
    assert await far.names() == ["backup-1", "backup-1"]


async def test_a_cfg_that_may_not_be_read_is_listed_with_its_error_and_hides_nothing(far):
    far.put("vol-a", "backup-1", "backup-2")
    far.put("vol-b", "backup-3")

    def refused(verb, key):
        if key == backup_cfg_key("vol-a", "backup-1"):
            raise Unauthenticated("not allowed to read it")

    far.reader.trouble = refused
    for _ in range(2):
        assert (await far.sync()).error_count == 1
        assert sorted(await far.names(state=BackupState.COMPLETED)) == ["backup-2", "backup-3"]
        record = (await far.catalogue.backup("far", "vol-a", "backup-1")).record
        assert (record.state, record.messages) == (BackupState.ERROR, {"error": "not allowed to read it"})

    far.reader.trouble = lambda _verb, _key: None
    await far.sync()
    assert len(await far.names(state=BackupState.COMPLETED)) == 3


async def test_a_volume_of_which_nothing_may_be_read_ends_no_sync_and_is_not_asked_for_each_cfg(far):
    far.put("closed", *(f"backup-{number}" for number in range(300)))
    for number in range(20):
        far.put(f"vol-{number}", "backup-1")

    def refused(verb, key):
        if verb == "read" and "/closed/" in key:
            raise Unauthenticated("not allowed to read it")

    far.reader.trouble = refused
    await far.sync()

    assert len(await far.names(state=BackupState.COMPLETED)) == 20
    assert (await far.catalogue.volume("far", "closed")).messages == {"error": "not allowed to read it"}
    assert sum(verb == "read" and "/closed/" in key for verb, key in far.reader.asked) < 60


async def test_links_and_pipes_in_a_directory_are_told_of_and_end_no_sync(far, tmp_path):
    root = tmp_path / "store"
    for number in range(12):
        write_volume(root, f"vol-{number:02}", backups=2, blocks=False)
        backups = root / backups_dir(f"vol-{number:02}")
        backups.rename(backups.with_name("elsewhere"))
        backups.symlink_to("elsewhere")
    write_volume(root, "whole", backups=2, blocks=False)
    os.mkfifo(root / backup_cfg_key("whole", "pipe"))
    far.reader = ThreadedReader(DirectoryObjects(root))
    far.reader.asked = []

    await far.sync()

    volumes = (await far.catalogue.volumes(CatalogueFilter())).items
    assert len(volumes) == 13
    assert sum("Not a directory" in one.messages.get("error", "") for one in volumes) == 12
    assert len(await far.names(state=BackupState.COMPLETED)) == 2
    assert await far.names(state=BackupState.ERROR) == ["pipe"]

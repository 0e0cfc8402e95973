"""The seed's algorithm over a store that counts what it is asked."""

import asyncio
from datetime import timedelta

import pytest

from tidegate.catalogue.progress import SyncProgress, SyncStage
from tidegate.catalogue.target_sync import SyncOrder, TargetSync
from tidegate.errors import NotFound, StoreUnavailable, Unauthenticated
from tidegate.format.cfgs.paths import backup_cfg_key, backups_dir, volume_cfg_key, volume_dir
from tidegate.model.stores.catalogue import BackupState, CatalogueFilter
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.stores.store_readers import CountingReader


async def test_what_is_in_the_store_is_in_the_catalogue_after_one_sync(far):
    far.put("vol-a", "backup-1", "backup-2", labels={"app": "shop"})
    far.put("vol-b", "backup-3")

    outcome = await far.sync()

    assert outcome.errors == ()
    assert await far.volumes() == ["vol-a", "vol-b"]
    assert await far.names() == ["backup-3", "backup-2", "backup-1"]
    found = await far.catalogue.backup("far", "vol-a", "backup-2")
    assert found.record.labels == {"app": "shop"}
    assert (found.record.size, found.volume_size, found.record.state) == (2 << 20, 8 << 20, BackupState.COMPLETED)
    volume = await far.catalogue.volume("far", "vol-a")
    assert (volume.record.last_backup_name, volume.backups, volume.messages) == ("backup-2", 2, {})
    assert volume.last_synced_at == outcome.started_at
    assert far.progress.stage is SyncStage.DONE


async def test_a_tree_has_the_size_of_its_files_and_an_image_all_of_its_bytes(far):
    """Whole blocks are what a store holds of a volume, and no size that a person gave to anything."""
    far.put("tree", "backup-1", parameters={"tidegate.dev/content": "tree", "tidegate.dev/tree-bytes": "9"})
    far.put("tree", "backup-2", parameters={"tidegate.dev/content": "tree", "tidegate.dev/tree-bytes": "11"})
    far.put("image", "backup-3")
    far.put("longhorn", "backup-4", parameters={"tidegate.dev/size": ""})

    await far.sync()

    backups = (await far.catalogue.backups(CatalogueFilter())).items
    assert [one.record.data_size for one in backups] == [None, 8 << 20, 11, 9]
    volumes = (await far.catalogue.volumes(CatalogueFilter())).items
    assert {one.name: one.data_size for one in volumes} == {"tree": 11, "image": 8 << 20, "longhorn": None}
    assert (await far.catalogue.volume("far", "tree")).data_size == 11


async def test_each_cfg_is_read_once_and_a_sync_without_news_reads_none(far):
    for number in range(12):
        far.put(f"vol-{number}", "backup-1", "backup-2")
    await far.sync()
    assert sorted(set(far.reader.cfgs_read())) == sorted(far.reader.cfgs_read())

    for _ in range(4):
        await far.sync()
        assert [verb for verb, _ in far.reader.asked if verb == "read"] == []


async def test_only_what_is_new_is_read(far):
    far.put("vol-a", "backup-1", "backup-2")
    far.put("vol-b", "backup-3")
    await far.sync()

    far.put("vol-a", "backup-4")
    await far.sync()

    assert sorted(far.reader.cfgs_read()) == sorted([backup_cfg_key("vol-a", "backup-4"), volume_cfg_key("vol-a")])
    assert await far.names() == ["backup-4", "backup-3", "backup-2", "backup-1"]


async def test_what_was_deleted_in_the_store_is_gone_and_the_store_is_as_it_was(far):
    far.put("vol-a", "backup-1", "backup-2")
    far.put("vol-b", "backup-3")
    far.put("vol-c", "backup-4")
    await far.sync()
    far.store.delete(backup_cfg_key("vol-a", "backup-1"))
    far.delete_volume("vol-c")
    before = {info.key for info in far.store.list_all("")}

    await far.sync()

    assert await far.names() == ["backup-3", "backup-2"]
    assert await far.volumes() == ["vol-a", "vol-b"]
    assert {info.key for info in far.store.list_all("")} == before


async def test_an_empty_listing_is_held_back_until_exactly_that_is_confirmed(far):
    for name in ("vol-a", "vol-b", "vol-c"):
        far.put(name, "backup-1")
    await far.sync()
    for name in ("vol-a", "vol-b"):
        far.delete_volume(name)

    outcome = await far.sync()

    assert outcome.held_back.names == ("vol-a", "vol-b")
    assert outcome.held_back.mark in outcome.held_back.message
    assert await far.volumes() == ["vol-a", "vol-b", "vol-c"]

    far.delete_volume("vol-c")
    assert (await far.sync(confirmed=outcome.held_back.mark)).held_back.of == 3
    confirmed = (await far.sync()).held_back.mark
    assert (await far.sync(confirmed=confirmed)).held_back is None
    assert await far.volumes() == []


async def test_a_listing_that_fails_in_the_middle_drops_nothing(far):
    for number in range(30):
        far.put(f"vol-{number}", "backup-1")
    await far.sync()
    lost = volume_dir("vol-7").rpartition("/")[0]

    def away(verb, key):
        if key == lost:
            raise StoreUnavailable("no answer")

    far.reader.trouble = away
    outcome = await far.sync()

    assert outcome.error_count == 1
    assert len(await far.volumes()) == 30


async def test_a_listing_that_hides_a_backup_which_is_there_is_not_believed(far):
    far.put("vol-a", "backup-1")
    far.put("vol-b", "backup-2")
    await far.sync()

    class Hiding(type(far.reader)):
        async def list_level(self, prefix):
            listing = await super().list_level(prefix)
            return type(listing)((), ()) if prefix == backups_dir("vol-a") else listing

    far.reader = Hiding(far.store)
    outcome = await far.sync()

    assert "does not list it" in outcome.errors[0]
    assert await far.names() == ["backup-2", "backup-1"]


async def test_a_store_that_stops_answering_is_not_asked_for_the_rest(far):
    for number in range(200):
        far.put(f"vol-{number}", "backup-1")
    await far.sync()

    def down(verb, key):
        if "/backups" in key:
            raise StoreUnavailable("no answer")

    far.reader.trouble = down
    with pytest.raises(StoreUnavailable, match="no answer"):
        await far.sync()

    assert sum("/backups" in key for _, key in far.reader.asked) < 40
    assert len(await far.names()) == 200


async def test_refused_credentials_end_the_sync_and_keep_the_catalogue(far):
    far.put("vol-a", "backup-1")
    await far.sync()

    def refused(verb, key):
        raise Unauthenticated("wrong key")

    far.reader.trouble = refused
    with pytest.raises(Unauthenticated):
        await far.sync()
    assert await far.names() == ["backup-1"]


async def test_a_store_that_begins_to_refuse_everything_is_not_asked_for_the_rest(far):
    for number in range(200):
        far.put(f"vol-{number}", "backup-1")
    await far.sync()

    def refused(verb, key):
        if "/backups" in key:
            raise Unauthenticated("the key has expired")

    far.reader.trouble = refused
    with pytest.raises(Unauthenticated):
        await far.sync()

    assert sum("/backups" in key for _, key in far.reader.asked) < 60
    assert len(await far.names()) == 200


async def test_a_volume_cfg_that_vanishes_is_told_and_found_again(far):
    """Longhorn's own case: rename volume.cfg, then rename it back."""
    for name in ("vol-a", "vol-b", "vol-c"):
        far.put(name, "backup-1")
    await far.sync()
    body = far.store.get(volume_cfg_key("vol-a"), at_most=10_000)
    far.store.delete(volume_cfg_key("vol-a"))

    await far.sync(forced=True)
    assert "cannot find" in (await far.catalogue.volume("far", "vol-a")).messages["error"]
    assert (await far.catalogue.volume("far", "vol-b")).messages == {}

    far.store.put(volume_cfg_key("vol-a"), body)
    await far.sync()
    assert (await far.catalogue.volume("far", "vol-a")).messages == {}


async def test_a_missing_volume_cfg_is_noticed_within_three_syncs_without_being_forced(far):
    for name in ("vol-a", "vol-b", "vol-c"):
        far.put(name, "backup-1")
    await far.sync()
    await far.sync()
    far.store.delete(volume_cfg_key("vol-a"))

    for _ in range(3):
        await far.sync()

    assert "cannot find" in (await far.catalogue.volume("far", "vol-a")).messages["error"]


async def test_one_volume_can_be_synced_alone(far):
    far.put("vol-a", "backup-1")
    far.put("vol-b", "backup-2")

    await far.sync(volume="vol-b")

    assert await far.names() == ["backup-2"]
    far.delete_volume("vol-b")
    await far.sync(volume="vol-b")
    assert await far.names() == []


async def test_a_volume_is_not_taken_for_gone_where_the_whole_store_seems_to_be(far):
    far.put("vol-a", "backup-1")
    far.put("vol-b", "backup-2")
    await far.sync()
    full, far.reader = far.reader, CountingReader(MemoryObjects(far.clock))

    with pytest.raises(StoreUnavailable, match="lists no volume at all, but had 2"):
        await far.sync(volume="vol-a")
    assert await far.volumes() == ["vol-a", "vol-b"]

    await far.catalogue.hide("far", "vol-b")  # somebody wants the other gone: then this may be the last one
    await far.sync(volume="vol-a")
    await far.catalogue.unhide("far", "vol-b")
    assert await far.volumes() == ["vol-b"]

    far.reader = full
    await far.sync(volume="vol-a")
    assert await far.volumes() == ["vol-a", "vol-b"]


async def test_a_backup_in_progress_becomes_complete_when_it_is(far):
    far.put("vol-a", "backup-1")
    key = backup_cfg_key("vol-a", "backup-2")
    far.store.put(key, b'{"Name":"backup-2","VolumeName":"vol-a","CompressionMethod":"lz4","CreatedTime":""}')
    await far.sync()
    assert await far.names(state=BackupState.IN_PROGRESS) == ["backup-2"]

    far.put("vol-a", "backup-2")
    await far.sync()

    assert await far.names(state=BackupState.IN_PROGRESS) == []
    assert await far.names(state=BackupState.COMPLETED) == ["backup-2", "backup-1"]


async def test_two_targets_do_not_know_of_each_other(far):
    far.put("vol-a", "backup-1")
    await far.sync()
    await far.sync(target="other")

    assert await far.names(target="other") == ["backup-1"]
    assert len(await far.names()) == 2

    await far.catalogue.forget_target("other")
    assert await far.names() == ["backup-1"]
    with pytest.raises(NotFound):
        await far.catalogue.volume("other", "vol-a")


async def test_a_sync_that_was_cut_short_goes_on_where_it_was(far):
    far.put("vol-a", *(f"backup-{number}" for number in range(1200)))
    reads = []

    def cut(verb, key):
        if verb == "read" and "backup_" in key:
            reads.append(key)
            if len(reads) > 900:
                raise RuntimeError("out of memory")

    far.reader.trouble = cut
    with pytest.raises(RuntimeError):
        await far.sync()
    far.reader.trouble = lambda _verb, _key: None
    kept = len(await far.names())
    assert kept >= 500

    await far.sync()

    assert len(far.reader.cfgs_read()) == 1200 - kept + 1
    assert (await far.catalogue.volume("far", "vol-a")).backups == 1200


async def test_the_expected_end_counts_the_parts_of_all_volumes_that_are_read_at_once(far):
    for name in ("vol-a", "vol-b", "vol-c", "vol-d"):
        far.put(name, *(f"backup-{number}" for number in range(100)))
    expected, seen = [], []

    def pass_time(verb, key):
        if verb == "read" and "backup_" in key:
            far.clock._now += timedelta(seconds=1)
            seen.append(far.progress.backups)
            expected.append(far.progress.expected_end(far.clock.now()))

    far.reader.trouble = pass_time
    await far.sync()
    end = far.clock.now()

    known = [one for one in expected if one is not None]
    assert len(known) > 350  # long before the first volume is whole
    assert all(abs(one - end) < timedelta(seconds=120) for one in known[100:])
    assert seen == sorted(seen)
    assert (far.progress.backups, far.progress.parts) == (400, {})


class ListsLate(CountingReader):
    """Lists where one volume lies only after something was read of another."""

    def __init__(self, store, volume):
        super().__init__(store)
        self._late = volume_dir(volume).rpartition("/")[0]
        self._has_read = asyncio.Event()

    async def list_level(self, prefix):
        if prefix == self._late:
            async with asyncio.timeout(30):
                await self._has_read.wait()
        return await super().list_level(prefix)

    async def read_part(self, key, *, start, length):
        self._has_read.set()
        return await super().read_part(key, start=start, length=length)


async def test_new_volumes_are_read_while_others_are_still_being_listed(far):
    far.put("vol-a", "backup-1")
    far.put("vol-b", "backup-2")
    far.reader = ListsLate(far.store, "vol-b")

    outcome = await far.sync()

    assert outcome.errors == ()
    assert await far.volumes() == ["vol-a", "vol-b"]
    assert (far.progress.done, far.progress.total) == (2, 2)


async def test_a_volume_that_is_made_while_others_are_listed_is_not_taken_for_one_that_is_gone(far):
    far.put("vol-a", "backup-1")
    far.put("vol-b", "backup-2")
    await far.sync()
    beside = CountingReader(far.store)

    class MakesOne(CountingReader):
        async def list_level(self, prefix):
            listing = await super().list_level(prefix)
            if prefix == volume_dir("vol-a").rpartition("/")[0]:
                far.put("vol-c", "backup-3")
                order = SyncOrder(target="far", volume="vol-c")
                await TargetSync(order, beside, far.catalogue, far.clock, SyncProgress(far.clock.now())).run()
            return listing

    far.reader = MakesOne(far.store)

    await far.sync()

    assert await far.volumes() == ["vol-a", "vol-b", "vol-c"]


async def test_a_listing_that_fails_in_the_end_leaves_what_was_read_before_it(far):
    far.put("vol-a", "backup-1")
    far.put("vol-b", "backup-2")
    far.reader = ListsLate(far.store, "vol-b")
    broken = volume_dir("vol-b").rpartition("/")[0]

    def trouble(verb, key):
        if key == broken:
            raise StoreUnavailable("no answer")

    far.reader.trouble = trouble

    outcome = await far.sync()

    assert await far.volumes() == ["vol-a"]
    assert "no answer" in outcome.errors[0]


def test_the_expected_end_goes_by_the_time_of_reading_and_not_of_listing(far):
    began = far.clock.now()
    progress = SyncProgress(began)
    progress.enter(SyncStage.LISTING, total=9)
    progress.volume_begun(began + timedelta(seconds=16))
    progress.enter(SyncStage.READING, total=4)
    progress.volume_begun(began + timedelta(seconds=17))
    progress.volume_done("vol-a")

    assert progress.expected_end(began + timedelta(seconds=18)) == began + timedelta(seconds=24)

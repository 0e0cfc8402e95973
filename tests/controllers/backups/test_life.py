"""The life of a backup, step by step, as the store tells it."""

from datetime import timedelta

import pytest

from tidegate.errors import NotFound
from tidegate.model.backups.backup import UNMATCHED_ANNOTATION, Backup
from tidegate.model.backups.byte_progress import JobBytes
from tidegate.model.resource import Metadata, Ref
from tidegate.model.restores.restore import Restore, RestoreSpec
from tidegate.model.transfers.mover_job import RemoveJob, UploadJob
from tidegate.model.transfers.transfer import DataUpload, PodVolumeBackup
from tidegate.model.volumes.volume import Volume
from tidegate.testing.resources.builders import a_backup


def with_finalizer(backup):
    return backup.with_metadata(finalizers=("tidegate.dev/backup",))


async def test_a_backup_goes_through_all_its_steps_and_every_volume_is_moved(world):
    await world.volumes("shop/db", "shop/files")
    events = world.store.watch(Backup, since=(await world.store.list(Backup)).resource_version)
    await world.store.create(a_backup("nightly", "shop"))
    await world.settle()
    world.movers.started[0].finish(size=10)
    await world.settle()
    world.movers.started[1].finish(size=20)
    await world.settle()

    seen = []
    while not seen or seen[-1] != "Completed":
        phase = str((await anext(events)).resource.status.phase)
        seen += [phase] if phase not in seen else []
    assert seen == ["New", "Queued", "ReadyToStart", "InProgress", "Finalizing", "Completed"]
    assert [m.job.path for m in world.movers.started] == ["/data/shop/db", "/data/shop/files"]
    done = await world.store.get(Backup, "nightly")
    assert (done.status.progress.items_backed_up, done.status.progress.total_items) == (2, 2)


async def finish(world, *sizes):
    """The mover that was started last, and those that its end lets begin."""
    for size in sizes:
        world.movers.started[-1].finish(size=size)
        await world.settle()


async def test_a_backup_knows_how_many_bytes_are_before_it_as_soon_as_it_begins(world):
    await world.volumes("shop/db", "shop/files")
    await world.store.create(a_backup("first", "shop"))
    await world.settle()
    await finish(world, 100, 1000)
    await world.volumes("shop/new")
    await world.store.create(a_backup("nightly", "shop"))
    await world.settle()

    begun = await world.store.get(Backup, "nightly")
    await finish(world, 120, 1000, 5)

    ended = await world.store.get(Backup, "nightly")
    assert begun.status.bytes == JobBytes(done=0, total=1100, volumes_not_measured=1)
    assert ended.status.bytes == JobBytes(done=1125, total=1125, percent=100)


async def test_a_restore_knows_how_many_bytes_are_before_it_and_what_it_brought_back(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("nightly", "shop"))
    await world.settle()
    world.movers.started[0].finish(size=100)
    await world.settle()
    wish = RestoreSpec(backup_name="nightly", destination="/back")

    await world.store.create(Restore(metadata=Metadata(name="back"), spec=wish))
    await world.settle()
    begun = await world.store.get(Restore, "back")
    world.movers.started[-1].finish(size=100)
    await world.settle()

    assert begun.status.bytes == JobBytes(done=0, total=100, percent=0)
    assert (await world.store.get(Restore, "back")).status.bytes == JobBytes(done=100, total=100, percent=100)


async def test_a_backup_tells_its_life_in_events(world):
    await world.volumes("shop/db")
    world.movers.obliging = True

    await world.store.create(a_backup("nightly", "shop"))
    await world.settle()

    done = await world.store.get(Backup, "nightly")
    assert [event.reason for event in done.status.events] == ["Queued", "LeftQueue", "Started", "Completed"]


async def test_a_volume_knows_its_last_backup(world):
    await world.volumes("shop/db")
    world.movers.obliging = True

    await world.store.create(a_backup("nightly", "shop"))
    await world.settle()

    volume = await world.store.get(Volume, "db", "shop")
    assert (volume.status.last_backup, volume.status.last_backup_url) == ("nightly", "file:///s")


async def test_progress_of_the_mover_is_seen_on_the_transfer(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("nightly", "shop"))
    await world.settle()

    await world.passes(seconds=1)
    world.movers.started[0].progress(5, 10)
    await world.settle()

    (upload,) = await world.all(PodVolumeBackup)
    assert (upload.status.progress.bytes_done, upload.status.progress.total_bytes) == (5, 10)


async def test_a_failed_volume_makes_the_backup_partially_failed_and_names_it(world):
    await world.volumes("shop/db", "shop/files")
    await world.store.create(a_backup("nightly", "shop"))
    await world.settle()
    world.movers.started[0].fail("SourceUnreadable", "/data/shop/db is gone")
    await world.settle()
    world.movers.started[1].finish()
    await world.settle()

    backup = await world.store.get(Backup, "nightly")
    assert str(backup.status.phase) == "PartiallyFailed"
    assert backup.status.failure_reason == "shop/db: /data/shop/db is gone"


async def test_a_volume_tells_what_failed_since_its_last_good_backup(world):
    await world.volumes("shop/db")
    for name, ending in (("first", "fail"), ("second", "finish")):
        await world.store.create(a_backup(name, "shop"))
        await world.settle()
        mover = world.movers.started[-1]
        if ending == "fail":
            mover.fail("SourceUnreadable", "/data/shop/db is gone")
        else:
            mover.finish()
        await world.settle()
        status = (await world.store.get(Volume, "db", "shop")).status
        told = (status.last_backup, status.last_failed_backup, status.last_failure)
        assert told == ((None, "first", "/data/shop/db is gone") if ending == "fail" else ("second", None, None))
        await world.passes(seconds=1)


async def test_files_that_could_not_be_read_make_the_backup_partially_failed_and_are_named(world):
    await world.volumes("shop/files")
    await world.store.create(a_backup("nightly", "shop"))
    await world.settle()
    world.movers.started[0].finish(left_out=("secret",), warnings=("secret: could not be read",))
    await world.settle()

    status = (await world.store.get(Backup, "nightly")).status
    assert (str(status.phase), status.errors, status.warnings) == ("PartiallyFailed", 1, 1)
    assert status.failure_reason == "shop/files: could not be read and is not in the backup: secret"


async def test_a_backup_that_matches_nothing_is_partially_failed_and_says_so_everywhere(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("empty", "shpo"))
    await world.settle()

    status = (await world.store.get(Backup, "empty")).status
    why = "nothing was backed up: no volume is in namespace shpo (did you mean shop?)"
    assert (str(status.phase), status.errors, status.warnings) == ("PartiallyFailed", 1, 0)
    assert (status.condition("Empty").reason, status.condition("Empty").message) == ("NothingMatched", why)
    assert status.failure_reason == f"NothingMatched: {why}"
    assert (status.events[-1].type, status.events[-1].reason, status.events[-1].message) == (
        "Warning",
        "NothingMatched",
        why,
    )


async def test_a_backup_that_may_be_empty_completes_and_says_that_it_holds_nothing(world):
    await world.store.create(a_backup("empty", "nowhere").with_spec(allow_empty=True))
    await world.settle()

    status = (await world.store.get(Backup, "empty")).status
    assert (str(status.phase), status.errors, status.warnings) == ("Completed", 0, 0)
    assert (status.events[-1].type, status.events[-1].message) == (
        "Normal",
        "nothing matched, as allowed; it holds nothing",
    )


async def test_a_name_that_matches_nothing_beside_one_that_does_is_a_warning(world):
    await world.volumes("shop/db", "blog/posts")
    world.movers.obliging = True
    await world.store.create(a_backup("half", "shop", "blgo"))
    await world.settle()

    status = (await world.store.get(Backup, "half")).status
    assert (str(status.phase), status.warnings) == ("Completed", 1)
    told = [event.message for event in status.events if event.reason == "NothingMatched"]
    assert told == ["no volume is in namespace blgo (did you mean blog?)"] == list(status.unmatched)


async def test_what_matched_nothing_when_it_was_made_is_told_while_it_waits(world):
    await world.volumes("shop/db")
    await world.setting("backup-queue-paused", "true")
    said = {UNMATCHED_ANNOTATION: "no volume is in namespace blgo\nno volume is in namespace x"}
    await world.store.create(a_backup("half", "shop", "blgo", "x").with_metadata(annotations=said))
    await world.settle()

    status = (await world.store.get(Backup, "half")).status
    assert (str(status.phase), status.unmatched) == ("Queued", tuple(said[UNMATCHED_ANNOTATION].split("\n")))


async def test_two_backups_of_one_namespace_run_one_after_the_other(world):
    await world.setting("concurrent-backups", "5")
    await world.volumes("shop/db")
    await world.store.create(a_backup("first", "shop"))
    await world.settle()
    await world.store.create(a_backup("second", "shop"))
    await world.settle()

    waiting = (await world.store.get(Backup, "second")).status.condition("Waiting")
    assert (waiting.reason, waiting.message) == (
        "NamespaceOverlapRunning",
        "backup first is running and shares namespace shop",
    )
    world.movers.started[0].finish()
    await world.settle()
    assert [await world.phase(Backup, name) for name in ("first", "second")] == ["Completed", "InProgress"]


async def test_a_node_moves_one_transfer_at_a_time_by_default(world):
    await world.setting("item-block-worker-count", "3")
    await world.volumes("a/one", "a/two", "a/three")
    await world.store.create(a_backup("all", "a"))
    await world.settle()

    assert len(world.movers.started) == 1
    reasons = [
        t.status.condition("Waiting").reason for t in await world.all(PodVolumeBackup) if t.status.condition("Waiting")
    ]
    assert reasons == ["NodeLoad", "NodeLoad"]


async def test_raising_the_limit_takes_effect_at_once(world):
    await world.setting("item-block-worker-count", "3")
    await world.volumes("a/one", "a/two", "a/three")
    await world.store.create(a_backup("all", "a"))
    await world.settle()

    await world.setting("load-concurrency", '{"globalConfig": 3}')

    assert len(world.movers.started) == 3


async def test_a_store_that_is_down_holds_the_queue_and_lets_it_go_when_it_is_back(world):
    world.store_probe.down = True
    await world.passes(seconds=31)
    await world.volumes("shop/db")
    await world.store.create(a_backup("patient", "shop"))
    await world.settle()
    held = await world.store.get(Backup, "patient")
    assert (str(held.status.phase), held.status.condition("Waiting").reason) == ("Queued", "TargetUnavailable")

    world.store_probe.down = False
    await world.passes(seconds=6)

    assert await world.phase(Backup, "patient") == "InProgress"


async def test_a_transfer_that_takes_too_long_is_stopped_and_says_so(world):
    await world.volumes("shop/db")
    await world.movers_may_be_silent()
    await world.store.create(a_backup("slow", "shop"))
    await world.settle()

    await world.passes(hours=5)

    assert world.movers.started[0].cancelled
    backup = await world.store.get(Backup, "slow")
    assert (str(backup.status.phase), backup.status.failure_reason) == ("Failed", "shop/db: took longer than 4h")


async def test_deleting_a_backup_removes_its_data_from_the_store_and_then_the_record(world):
    await world.volumes("shop/db")
    world.movers.obliging = True
    await world.store.create(with_finalizer(a_backup("old", "shop")))
    await world.settle()

    await world.store.delete(Ref("Backup", "old"))
    await world.settle()

    upload, removal = (mover.job for mover in world.movers.started)
    assert isinstance(upload, UploadJob)
    assert isinstance(removal, RemoveJob)
    assert removal.store_backups == (upload.store_backup,)
    assert await world.all(PodVolumeBackup) == []
    with pytest.raises(NotFound):
        await world.store.get(Backup, "old")


async def test_deleting_a_running_backup_stops_its_mover_first(world):
    await world.volumes("shop/db")
    await world.store.create(with_finalizer(a_backup("running", "shop")))
    await world.settle()

    await world.store.delete(Ref("Backup", "running"))
    await world.settle()
    assert world.movers.started[0].cancelled
    assert await world.phase(Backup, "running") == "Deleting"
    world.movers.started[1].finish()
    await world.settle()

    assert await world.all(Backup) == []


async def test_a_removal_that_fails_is_tried_again_and_the_record_stays(world):
    await world.volumes("shop/db")
    await world.store.create(with_finalizer(a_backup("old", "shop")))
    await world.settle()
    world.movers.started[0].finish()
    await world.settle()
    await world.store.delete(Ref("Backup", "old"))
    await world.settle()
    world.movers.started[1].fail("StoreUnavailable", "no answer")
    await world.settle()
    assert "no answer" in (await world.all(PodVolumeBackup))[0].status.message

    await world.passes(seconds=6)
    world.movers.started[2].finish()
    await world.settle()

    assert await world.all(Backup) == []


async def test_a_queued_backup_can_be_deleted(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("first", "shop"))
    await world.store.create(with_finalizer(a_backup("second", "shop")))
    await world.settle()

    await world.store.delete(Ref("Backup", "second"))
    await world.settle()

    assert [backup.name for backup in await world.all(Backup)] == ["first"]


async def test_cancelling_a_transfer_in_progress_ends_as_canceled(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("b", "shop"))
    await world.settle()
    (upload,) = await world.all(PodVolumeBackup)

    await world.store.cancel(upload.ref)
    await world.settle()

    assert await world.phase(PodVolumeBackup, upload.name) == "Canceled"
    assert await world.phase(Backup, "b") == "Canceled"
    assert await world.all(DataUpload) == []


async def test_a_backup_whose_time_is_over_is_deleted_with_its_data(world):
    await world.volumes("shop/db")
    world.movers.obliging = True
    await world.store.create(with_finalizer(a_backup("old", "shop").with_spec(ttl=timedelta(hours=1))))
    await world.settle()
    await world.passes(minutes=59)
    assert await world.phase(Backup, "old") == "Completed"

    await world.passes(minutes=1)

    assert await world.all(Backup) == []
    assert isinstance(world.movers.started[-1].job, RemoveJob)


async def test_a_backup_does_not_expire_while_a_restore_reads_it(world):
    await world.volumes("shop/db")
    await world.movers_may_be_silent()
    world.movers.obliging = True
    await world.store.create(with_finalizer(a_backup("old", "shop").with_spec(ttl=timedelta(hours=1))))
    await world.settle()
    world.movers.obliging = False
    await world.store.create(Restore(metadata=Metadata(name="reader"), spec=RestoreSpec(backup_name="old")))
    await world.settle()
    await world.passes(hours=2)
    assert await world.phase(Backup, "old") == "Completed"

    world.movers.started[-1].finish()
    world.movers.obliging = True
    await world.settle()
    await world.passes(minutes=1)

    assert await world.all(Backup) == []

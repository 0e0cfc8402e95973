"""The life of a restore."""

from tidegate.decide.transfers.restore_limit import ASKED_ANNOTATION
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.resource import Condition, Metadata, Ref
from tidegate.model.restores.restore import Restore, RestoreSpec, RestoreStatus
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.transfer import ALL_REMOVED, DATA_REMOVED, PodVolumeBackup, PodVolumeRestore
from tidegate.model.volumes.volume import Volume
from tidegate.testing.resources.builders import a_backup, a_target
from tidegate.testing.resources.put import put


def a_restore(name="r", **spec):
    metadata = Metadata(name=name, finalizers=("tidegate.dev/restore",))
    return Restore(metadata=metadata, spec=RestoreSpec(backup_name="b", **spec))


async def finish_all(world):
    while not all(r.status.phase.final for r in await world.all(Restore)):
        world.movers.started[-1].finish()
        await world.settle()


async def test_every_volume_of_the_backup_is_brought_back_where_it_came_from(backed_up):
    await backed_up.store.create(a_restore())
    await backed_up.settle()
    await finish_all(backed_up)

    assert await backed_up.phase(Restore, "r") == "Completed"
    assert {m.job.path for m in backed_up.movers.started} == {"/data/blog/posts", "/data/shop/db"}


async def test_a_volume_that_was_deleted_from_the_store_is_named_as_missing_and_the_others_come_back(backed_up):
    upload = next(one for one in await backed_up.all(PodVolumeBackup) if one.spec.volume_name == "db")
    removed = Condition(type=DATA_REMOVED, status="True", reason=ALL_REMOVED)
    await backed_up.store.update_status(upload.replace(status=upload.status.with_condition(removed)))
    await backed_up.store.create(a_restore())
    await backed_up.settle()
    await finish_all(backed_up)

    restore = await backed_up.store.get(Restore, "r")
    assert str(restore.status.phase) == "PartiallyFailed"
    assert restore.status.failure_reason.startswith("shop/db: its volume backup was deleted from the store since")
    assert {m.job.path for m in backed_up.movers.started} == {"/data/blog/posts"}


async def test_a_destination_gets_a_place_per_namespace_and_volume(backed_up):
    await backed_up.store.create(a_restore(destination="/back/", existing_data=ExistingData.OVERWRITE))
    await backed_up.settle()
    await finish_all(backed_up)

    jobs = [mover.job for mover in backed_up.movers.started]
    assert {job.path for job in jobs} == {"/back/blog/posts", "/back/shop/db"}
    assert {job.existing_data for job in jobs} == {ExistingData.OVERWRITE}


async def test_only_the_namespaces_that_were_asked_for_come_back(backed_up):
    await backed_up.store.create(a_restore(included_namespaces=("shop",)))
    await backed_up.settle()
    await finish_all(backed_up)

    assert [m.job.path for m in backed_up.movers.started] == ["/data/shop/db"]


async def test_a_volume_that_moved_is_restored_to_where_it_is_today(backed_up):
    volume = await backed_up.store.get(Volume, "db", "shop")
    await backed_up.store.update(volume.with_spec(directory="/new/place"))
    await backed_up.store.create(a_restore(included_namespaces=("shop",)))
    await backed_up.settle()

    assert backed_up.movers.started[0].job.path == "/new/place"


async def test_one_volume_that_fails_does_not_stop_the_other_and_is_named(backed_up):
    await backed_up.store.create(a_restore())
    await backed_up.settle()
    first = backed_up.movers.started[0]
    first.fail("DestinationUnusable", "it is not empty")
    await backed_up.settle()
    backed_up.movers.started[1].finish()
    await backed_up.settle()

    restore = await backed_up.store.get(Restore, "r")
    assert str(restore.status.phase) == "PartiallyFailed"
    assert restore.status.failure_reason == f"{first.job.path.removeprefix('/data/')}: it is not empty"


async def test_a_restore_of_a_backup_that_vanished_is_refused_with_a_sentence(world):
    await world.store.create(a_restore())
    await world.settle()

    restore = await world.store.get(Restore, "r")
    assert (str(restore.status.phase), restore.status.validation_errors) == (
        "FailedValidation",
        ("there is no backup b",),
    )


async def test_a_paused_restore_limit_holds_restores_and_says_so(backed_up):
    await backed_up.setting("concurrent-backup-restore-limit", "0")
    await backed_up.store.create(a_restore())
    await backed_up.settle()

    restore = await backed_up.store.get(Restore, "r")
    assert (str(restore.status.phase), restore.status.condition("Waiting").reason) == ("New", "RestoresDisabled")
    assert await backed_up.all(PodVolumeRestore) == []
    await backed_up.store.delete(Ref("Setting", "concurrent-backup-restore-limit"))
    await backed_up.settle()
    assert await backed_up.phase(Restore, "r") == "InProgress"


async def test_a_restore_whose_volumes_all_wait_says_for_what(backed_up):
    target = await backed_up.store.get(BackupTarget, "store")
    backed_up.store_probe.down = True
    await backed_up.store.update_status(target.with_status(available=False))
    await backed_up.store.create(a_restore())
    await backed_up.settle()
    await backed_up.passes(seconds=1)

    assert (await backed_up.store.get(Restore, "r")).status.condition("Waiting").reason == "TargetUnavailable"


async def test_a_restore_tells_the_words_of_its_next_volume_and_follows_them(backed_up):
    await backed_up.setting("concurrent-backup-restore-limit", "1")
    await backed_up.store.create(a_restore("first", included_namespaces=("shop",), destination="/one"))
    await backed_up.settle()
    await backed_up.store.create(a_restore("second", destination="/two"))
    await backed_up.settle()
    await backed_up.passes(seconds=1)

    assert await words(backed_up, "first") is None
    assert await words(backed_up, "second") == "RestoreLimit 1/1, position 1 (blog/posts, the next of 2 volumes)"
    events = (await backed_up.store.get(Restore, "second")).status.events
    assert [event.message for event in events if event.reason == "Waiting"] == [
        "RestoreLimit: 1/1, position 1 (blog/posts, the next of 2 volumes)"
    ]


async def test_a_restore_that_is_ready_and_waits_for_its_node_says_so_until_it_moves(backed_up):
    await backed_up.store.create(a_restore("first", included_namespaces=("shop",), destination="/one"))
    await backed_up.settle()
    await backed_up.store.create(a_restore("second", included_namespaces=("blog",), destination="/two"))
    await backed_up.settle()
    await backed_up.passes(seconds=1)

    assert await words(backed_up, "second") == "NodeLoad node-a 1/1"
    backed_up.movers.started[0].finish()
    await backed_up.settle()
    await backed_up.passes(seconds=1)
    assert (await backed_up.phase(Restore, "second"), await words(backed_up, "second")) == ("InProgress", None)


async def words(world, name):
    waiting = (await world.store.get(Restore, name)).status.condition("Waiting")
    return f"{waiting.reason} {waiting.message}" if waiting else None


async def test_paths_and_force_reach_the_mover(backed_up):
    await backed_up.store.create(a_restore(included_paths=("etc/**",), force=True, included_namespaces=("shop",)))
    await backed_up.settle()

    job = backed_up.movers.started[0].job
    assert (job.includes, job.force) == (("etc/**",), True)


async def test_the_mover_of_a_restore_keeps_out_of_the_stores_of_all_targets(backed_up):
    await backed_up.store.create(a_target("usb", url="file:///mnt/usb"))
    await backed_up.store.create(a_target("far", url="s3://bucket@region/"))
    await backed_up.store.create(a_restore(included_namespaces=("shop",)))
    await backed_up.settle()

    kept = {place.path: place.what for place in backed_up.movers.started[0].job.keep_out}
    assert kept == {"/somewhere": "the store of target store", "/mnt/usb": "the store of target usb"}


async def test_downloads_carry_when_they_were_asked_for_in_the_order_that_was_given(backed_up):
    await backed_up.store.create(a_restore(volume_order=("shop/db",)))
    await backed_up.settle()

    restore = await backed_up.store.get(Restore, "r")
    downloads = {d.spec.volume_namespace: d.metadata for d in await backed_up.all(PodVolumeRestore)}
    asked = [int(downloads[name].annotations[ASKED_ANNOTATION]) for name in ("shop", "blog")]
    assert asked[0] == int(restore.metadata.creation_timestamp.timestamp()) * 10**9
    assert asked[1] == asked[0] + 1


async def test_a_mapped_namespace_that_has_no_such_volume_is_refused(backed_up):
    await backed_up.store.create(a_restore(namespace_mapping={"shop": "copy"}, included_namespaces=("shop",)))
    await backed_up.settle()

    restore = await backed_up.store.get(Restore, "r")
    assert str(restore.status.phase) == "FailedValidation"
    assert "there is no volume copy/db" in restore.status.validation_errors[0]


async def test_one_volume_without_a_place_fails_and_the_others_come_back(backed_up):
    await backed_up.store.create(a_restore(namespace_mapping={"shop": "copy"}))
    await backed_up.settle()
    backed_up.movers.started[-1].finish()
    await backed_up.settle()

    restore = await backed_up.store.get(Restore, "r")
    assert str(restore.status.phase) == "PartiallyFailed"
    assert "there is no volume copy/db" in restore.status.failure_reason
    assert [m.job.path for m in backed_up.movers.started] == ["/data/blog/posts"]


async def test_a_restore_of_an_earlier_version_reads_what_its_status_says(backed_up):
    (upload, _) = sorted(await backed_up.all(PodVolumeBackup), key=lambda one: one.spec.volume_name)
    spec = RestoreSpec(backup_url="file:///somewhere")
    await put(
        backed_up.store,
        Restore(metadata=Metadata(name="r"), spec=spec, status=RestoreStatus(source=upload.as_source)),
    )
    await backed_up.settle()

    (download,) = await backed_up.all(PodVolumeRestore)
    assert download.spec.store_backup == upload.spec.store_backup


async def test_the_newest_completed_backup_of_a_schedule_is_taken(backed_up):
    old = await backed_up.store.get(Backup, "b")
    labelled = old.with_metadata(labels={"tidegate.dev/schedule": "nightly"})
    await backed_up.store.update(labelled)
    await put(
        backed_up.store,
        a_backup("newer", phase=BackupPhase.PARTIALLY_FAILED).with_metadata(labels=labelled.metadata.labels),
    )
    await backed_up.store.create(Restore(metadata=Metadata(name="r"), spec=RestoreSpec(schedule_name="nightly")))
    await backed_up.settle()

    restore = await backed_up.store.get(Restore, "r")
    assert (str(restore.status.phase), restore.status.backup_name) == ("InProgress", "b")


async def test_its_life_is_told_in_events(backed_up):
    await backed_up.store.create(a_restore())
    await backed_up.settle()
    await finish_all(backed_up)

    reasons = [event.reason for event in (await backed_up.store.get(Restore, "r")).status.events]
    assert [reason for reason in reasons if reason != "Waiting"] == ["Settled", "Started", "Completed"]


async def test_deleting_a_running_restore_stops_it_and_leaves_the_backup_alone(backed_up):
    await backed_up.store.create(a_restore())
    await backed_up.settle()

    await backed_up.store.delete(Ref("Restore", "r"))
    await backed_up.settle()

    assert backed_up.movers.started[0].cancelled
    assert len(backed_up.movers.started) == 1
    assert await backed_up.all(Restore) == []
    assert await backed_up.phase(Backup, "b") == "Completed"

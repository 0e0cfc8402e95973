"""Deletes from the wish to the end: gone from lists at once, one worker for a volume, nothing forgotten."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from tidegate.controllers.stores.deletion_desk import DeletionDesk
from tidegate.decide.stores.deletions import retried_now
from tidegate.errors import InvalidInput, NotFound, Refused
from tidegate.model.backups.backup import BACKUP_FINALIZER, Backup
from tidegate.model.resource import Metadata, Ref
from tidegate.model.restores.restore import Restore, RestoreSpec
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.stores.deletion import STORE_VOLUME_LABEL, Deletion, DeletionPhase, store_volume_mark
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.mover_job import RemoveJob
from tidegate.model.transfers.transfer import DATA_REMOVED, DataDownload, DataUpload, PodVolumeBackup, TransferPhase
from tidegate.model.volumes.volume import Volume
from tidegate.testing.resources.builders import a_backup, a_transfer
from tidegate.testing.resources.put import put
from tidegate.views.backups.backup import BACKUPS
from tidegate.views.reader import Reader

VOL = "shop.db"


@dataclass
class Lists:
    """What a catalogue hides, and when it has looked: the part of it that deletes talk to."""

    names: set = field(default_factory=set)
    asked: list = field(default_factory=list)
    looked_at: datetime | None = None

    async def hide(self, target, volume, *backups):
        self.names |= {(target, volume, name) for name in backups or [""]}

    async def unhide(self, target, volume, *backups):
        self.names -= {(target, volume, name) for name in backups or [""]}

    async def hidden(self, target):
        return [(volume, name) for place, volume, name in self.names if place == target]

    def request(self, target, volume):
        self.asked.append((target, volume))

    async def looked_since(self, _target, _volume, moment):
        return self.looked_at is not None and self.looked_at >= moment


@pytest.fixture
def lists():
    return Lists()


@pytest.fixture
async def desk(world, lists):
    """The desk of a world whose server knows these lists."""
    await begin_again(world, lists)
    return DeletionDesk(world.store, lists)


async def begin_again(world, lists):
    await world.runtime.stop()
    await world.supervisor.close()
    world.movers.started.clear()
    world._build()
    desk = world.work.desk
    desk.catalogue = lists
    deletions = next(one for one in world.runtime.reconcilers if one.name == "deletion")
    deletions.lists = lists
    await desk.hide_all()
    world.runtime.start()
    await world.settle()


async def state(world, name):
    return (await world.store.get(Deletion, name)).status


def jobs(world):
    return [mover.job for mover in world.movers.started if isinstance(mover.job, RemoveJob)]


def of_store(transfer, volume=VOL):
    """The transfer with the label that leads from a volume of the store to it."""
    labels = {**transfer.metadata.labels, STORE_VOLUME_LABEL: store_volume_mark(transfer.spec.target, volume)}
    return transfer.with_metadata(labels=labels, uid="").with_spec(store_volume=volume)


async def test_a_delete_is_hidden_at_once_done_by_a_worker_and_shown_when_it_is_done(world, desk, lists):
    asked = await desk.ask("store", VOL, ["backup-1", "backup-2"])
    assert lists.names == {("store", VOL, "backup-1"), ("store", VOL, "backup-2")}
    await world.settle()
    assert (await state(world, asked.name)).phase is DeletionPhase.RUNNING

    world.movers.started[0].finish()
    await world.settle()

    (job,) = jobs(world)
    assert (job.store_volume, job.store_backups, job.whole_volume) == (VOL, ("backup-1", "backup-2"), False)
    assert (await state(world, asked.name)).phase is DeletionPhase.DONE


async def test_what_is_done_stays_hidden_until_the_catalogue_has_looked_since(world, desk, lists):
    world.movers.obliging = True
    asked = await desk.ask("store", VOL, ["backup-1"])
    await world.settle()
    await world.passes(minutes=10)
    assert lists.names == {("store", VOL, "backup-1")}
    assert lists.asked == [("store", VOL)]

    lists.looked_at = world.clock.now()
    await world.passes(minutes=2)

    assert lists.names == set()
    assert (await state(world, asked.name)).settled


async def test_a_whole_volume_goes_with_one_job(world, desk, lists):
    world.movers.obliging = True
    await desk.ask("store", VOL)
    await world.settle()

    assert lists.names == {("store", VOL, "")}
    assert [job.whole_volume for job in jobs(world)] == [True]


async def test_many_deletes_of_one_volume_are_carried_out_together(world, desk):
    first = await desk.ask("store", VOL, ["backup-0"])
    await world.settle()
    for number in range(1, 50):
        await desk.ask("store", VOL, [f"backup-{number}"])
    await world.settle()
    assert len(jobs(world)) == 1
    world.movers.started[0].finish()
    await world.settle()

    assert [len(job.store_backups) for job in jobs(world)] == [1, 49]
    assert (await state(world, first.name)).phase is DeletionPhase.DONE


async def test_asking_twice_is_one_deletion_and_asking_after_the_end_is_another(world, desk):
    first = await desk.ask("store", VOL, ["backup-2", "backup-1"])
    again = await desk.ask("store", VOL, ["backup-1", "backup-2", "backup-1"])
    assert again.metadata.uid == first.metadata.uid
    await world.settle()
    world.movers.started[0].finish()
    await world.settle()

    third = await desk.ask("store", VOL, ["backup-1", "backup-2"])

    assert third.metadata.uid != first.metadata.uid
    assert third.status.phase is DeletionPhase.WAITING


async def test_a_failed_delete_is_tried_again_later_and_later_and_says_why(world, desk, lists):
    asked = await desk.ask("store", VOL, ["backup-1"])
    await world.settle()
    for tries, wait in enumerate([5, 10, 20], start=1):
        world.movers.started[-1].fail("StoreUnavailable", "no answer")
        await world.settle()
        found = await state(world, asked.name)
        assert (found.phase, found.message, found.attempts) == (DeletionPhase.RETRYING, "no answer", tries)
        assert found.retry_at == world.clock.now() + timedelta(seconds=wait)
        await world.passes(seconds=wait - 1)
        assert len(jobs(world)) == tries
        await world.passes(seconds=1)
        assert len(jobs(world)) == tries + 1
    world.movers.started[-1].finish()
    await world.settle()

    assert (await state(world, asked.name)).phase is DeletionPhase.DONE
    assert lists.names == {("store", VOL, "backup-1")}


async def test_a_failed_delete_is_tried_at_once_when_somebody_says_so_and_only_once(world, desk):
    asked = await desk.ask("store", VOL, ["backup-1"])
    await world.settle()
    world.movers.started[-1].fail("StoreUnavailable", "no answer")
    await world.settle()
    assert len(jobs(world)) == 1

    (retried,) = retried_now(await world.store.get(Deletion, asked.name), await desk.list())
    await world.store.update(retried)
    await world.settle()
    assert len(jobs(world)) == 2
    world.movers.started[-1].fail("StoreUnavailable", "no answer")
    await world.settle()

    assert len(jobs(world)) == 2
    assert (await state(world, asked.name)).retry_at == world.clock.now() + timedelta(seconds=10)


async def test_an_unreachable_target_is_waited_for_without_a_single_worker(world, desk, lists):
    await world.passes(minutes=1)
    world.store_probe.down = True
    await world.passes(minutes=2)

    asked = await desk.ask("store", VOL, ["backup-1"])
    await world.passes(hours=5)
    found = await state(world, asked.name)
    assert (found.phase, jobs(world)) == (DeletionPhase.WAITING, [])
    assert found.condition("Waiting").reason == "TargetUnavailable"
    assert lists.names == {("store", VOL, "backup-1")}

    world.store_probe.down = False
    await world.passes(minutes=2)
    assert len(jobs(world)) == 1


async def test_a_deletion_waits_for_the_right_store_also_if_only_its_worker_noticed(world, desk):
    asked = await desk.ask("store", VOL, ["backup-1"])
    await world.settle()
    world.store_probe.identity = ""
    world.movers.started[-1].fail("StoreIdentityMissing", "what is there has no name")
    await world.passes(minutes=2)
    waiting = await state(world, asked.name)
    assert (waiting.phase, waiting.condition("Waiting").reason) == (DeletionPhase.WAITING, "StoreIdentityMissing")

    world.store_probe.identity = "store-1"
    await world.passes(minutes=2)
    assert [job.target.identity for job in jobs(world)] == ["store-1", "store-1"]


async def test_a_restart_and_a_catalogue_made_anew_bring_nothing_back(world, desk):
    asked = await desk.ask("store", VOL, ["backup-1"])
    whole = await desk.ask("store", "shop.web")
    await world.settle()
    assert len(jobs(world)) == 2
    anew = Lists(names={("store", "shop.cache", "backup-9")})

    await begin_again(world, anew)

    assert anew.names == {("store", VOL, "backup-1"), ("store", "shop.web", "")}
    assert len(jobs(world)) == 2  # what was half done is done again
    for mover in world.movers.started:
        mover.finish()
    await world.settle()
    assert (await state(world, asked.name)).phase is DeletionPhase.DONE
    assert (await state(world, whole.name)).phase is DeletionPhase.DONE


async def test_a_delete_that_has_not_begun_can_be_cancelled_and_is_in_the_lists_at_once(world, desk, lists):
    world.store_probe.down = True
    await world.passes(minutes=2)
    asked = await desk.ask("store", VOL, ["backup-1", "backup-2"])
    other = await desk.ask("store", VOL, ["backup-2"])
    await world.settle()

    await desk.cancel(asked.name)

    assert lists.names == {("store", VOL, "backup-2")}
    await world.settle()
    assert (await state(world, asked.name)).phase is DeletionPhase.CANCELED
    assert (await state(world, other.name)).phase is DeletionPhase.WAITING
    with pytest.raises(Refused, match="cancelled already"):
        await desk.cancel(asked.name)


async def test_a_delete_that_runs_cannot_be_cancelled(world, desk):
    asked = await desk.ask("store", VOL, ["backup-1"])
    await world.settle()

    with pytest.raises(Refused, match="has begun"):
        await desk.cancel(asked.name)


async def test_what_a_restore_reads_cannot_be_deleted_and_the_reason_is_told(world, desk, lists):
    reading = of_store(a_transfer("reads", kind=DataDownload))
    await world.store.create(reading)

    with pytest.raises(Refused, match=r"reads backup-0123456789abcdef of volume .*; nothing was deleted"):
        await desk.ask("store", VOL, ["backup-0123456789abcdef"])
    with pytest.raises(Refused):
        await desk.ask("store", VOL)
    assert lists.names == set()
    await desk.ask("store", VOL, ["backup-2"])


async def test_a_restore_that_begins_later_is_waited_for(world, desk):
    world.store_probe.down = True
    await world.passes(minutes=2)
    asked = await desk.ask("store", VOL, ["backup-0123456789abcdef"])
    await world.store.create(of_store(a_transfer("reads", kind=DataDownload)))
    world.store_probe.down = False
    await world.passes(minutes=2)
    found = await state(world, asked.name)
    assert (found.phase, jobs(world)) == (DeletionPhase.WAITING, [])
    assert "reads it" in found.message

    reading = await world.store.get(DataDownload, "reads")
    await world.store.cancel(reading.ref)
    await world.settle()

    assert len(jobs(world)) == 1


async def test_a_volume_with_a_newer_backup_is_not_deleted_and_is_in_the_lists_again(world, desk, lists):
    world.store_probe.down = True
    await world.passes(minutes=2)
    asked = await desk.ask("store", VOL)
    await world.passes(seconds=1)
    await put(world.store, of_store(a_transfer("newer", TransferPhase.COMPLETED, kind=DataUpload)))
    await world.settle()

    found = await state(world, asked.name)
    assert (found.phase, jobs(world), lists.names) == (DeletionPhase.REFUSED, [], set())
    assert "begun after its deletion was asked for" in found.message


async def test_a_target_that_was_pointed_elsewhere_loses_nothing(world, desk, lists):
    world.store_probe.down = True
    await world.passes(minutes=2)
    asked = await desk.ask("store", VOL)
    target = await world.store.get(BackupTarget, "store")
    await world.store.update(target.with_spec(url="file:///elsewhere"))
    world.store_probe.down = False
    await world.passes(minutes=2)

    assert (await state(world, asked.name)).phase is DeletionPhase.REFUSED
    assert (jobs(world), lists.names) == ([], set())


async def test_never_more_workers_than_may_run_and_everybody_gets_their_turn(world, desk):
    asked = [await desk.ask("store", f"volume-{number}", ["backup-1"]) for number in range(20)]
    await world.settle()
    done = 0
    while done < len(asked):
        assert len(world.movers.started) - done == min(4, len(asked) - done)
        world.movers.started[done].finish()
        done += 1
        await world.settle()

    assert {(await state(world, one.name)).phase for one in asked} == {DeletionPhase.DONE}


async def test_more_or_fewer_workers_are_a_setting_that_holds_at_once(world, desk):
    for number in range(12):
        await desk.ask("store", f"volume-{number}", ["backup-1"])
    await world.settle()
    assert len(world.movers.started) == 4

    workers = Setting(metadata=Metadata(name="concurrent-deletions"), spec=SettingSpec(value="6"))
    stored = await world.store.create(workers)
    await world.settle()
    assert len(world.movers.started) == 6

    stored = await world.store.update(stored.replace(spec=SettingSpec(value="1")))
    for mover in world.movers.started[:5]:
        mover.finish()
        await world.settle()
    assert len(world.movers.started) == 6  # those that ran have ended, and nobody came in their place

    await world.store.delete(stored.ref)
    await world.settle()
    assert len(world.movers.started) == 5 + 4


async def test_what_ended_is_kept_for_a_day_and_then_forgotten(world, desk, lists):
    world.movers.obliging = True
    asked = await desk.ask("store", VOL, ["backup-1"])
    await world.settle()
    lists.looked_at = world.clock.now()
    await world.passes(hours=23)
    assert (await state(world, asked.name)).settled

    await world.passes(hours=2)

    with pytest.raises(NotFound):
        await state(world, asked.name)


async def test_a_backup_whose_data_was_deleted_says_so_and_is_not_restored_from(backed_up):
    world = backed_up
    (upload,) = [one for one in await world.all(PodVolumeBackup) if one.spec.volume_name == "db"]
    desk = DeletionDesk(world.store)
    world.movers.obliging = True
    await desk.ask("store", upload.spec.store_volume, [upload.spec.store_backup])
    await world.settle()

    backup = await world.store.get(Backup, "b")
    told = backup.status.condition(DATA_REMOVED)
    assert told.message == "1 of its 2 volume backups were deleted from the store since: shop/db"
    assert BACKUPS.row(backup, Reader(now=world.clock.now()), wide=False)[1].text == "Completed, data removed"
    assert (await world.store.get(Volume, "db", "shop")).status.last_backup is None
    await world.store.create(Restore(metadata=Metadata(name="r"), spec=RestoreSpec(backup_name="b")))
    await world.settle()
    assert {mover.job.path for mover in world.movers.started if not isinstance(mover.job, RemoveJob)} == {
        "/data/blog/posts"
    }


async def test_backups_of_one_volume_that_expire_together_collect_garbage_together(world):
    await world.volumes("shop/db")
    world.movers.obliging = True
    for number in range(10):
        await world.store.create(with_finalizer(number))
        await world.settle()
    world.movers.obliging = False
    world.movers.started.clear()
    for number in range(10):
        await world.store.delete(Ref("Backup", f"b{number}"))
    await world.settle()
    for mover in world.movers.started:  # grows while it is walked
        mover.finish()
        await world.settle()

    assert await world.all(Backup) == []
    assert sum(len(job.store_backups) for job in jobs(world)) == 10
    assert len(jobs(world)) <= 2


def with_finalizer(number):
    return a_backup(f"b{number}", "shop").with_metadata(finalizers=(BACKUP_FINALIZER,))


async def test_what_belongs_to_a_deleted_backup_cannot_be_cancelled(world):
    await world.volumes("shop/db")
    world.movers.obliging = True
    await world.store.create(with_finalizer(1))
    await world.settle()
    world.store_probe.down = True
    await world.passes(minutes=2)
    await world.store.delete(Ref("Backup", "b1"))
    await world.settle()
    (deletion,) = await world.all(Deletion)

    with pytest.raises(Refused, match="which is being deleted itself"):
        await DeletionDesk(world.store).cancel(deletion.name)


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "a\0b", "ab\udcff", "x" * 10_000, "ä" * 3, "a b"])
async def test_what_cannot_be_a_name_is_never_stored(world, desk, lists, name):
    with pytest.raises(InvalidInput):
        await desk.ask("store", name)
    with pytest.raises(InvalidInput):
        await desk.ask("store", VOL, ["backup-1", name])

    assert (await world.all(Deletion), lists.names) == ([], set())


async def test_no_names_at_all_are_no_wish_and_never_mean_everything(desk):
    with pytest.raises(InvalidInput, match="no backup is named"):
        await desk.ask("store", VOL, [])
    with pytest.raises(NotFound):
        await desk.ask("nowhere", VOL)

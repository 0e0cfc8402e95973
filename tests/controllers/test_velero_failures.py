"""What went wrong in the queue that ours follows, each by its number: what it did, and that ours does not."""

import pytest

from tidegate.controllers.queue.backup_queue import KEY
from tidegate.decide.transfers.takeover import INTERRUPTED
from tidegate.errors import NotFound, StoreUnavailable
from tidegate.model.backups.backup import BACKUP_FINALIZER, Backup, BackupPhase, OnInterruption
from tidegate.model.resource import Ref
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.transfer import PodVolumeBackup
from tidegate.resources.memory import MemoryStore
from tidegate.testing.resources.builders import a_backup
from tidegate.testing.resources.put import put

QUEUED, READY, RUNNING = BackupPhase.QUEUED, BackupPhase.READY_TO_START, BackupPhase.IN_PROGRESS


async def ask(world, name, *namespaces, **options):
    """A backup, and everything that follows from it without any time passing."""
    backup = await put(world.store, a_backup(name, *namespaces, **options))
    await world.settle()
    return backup


async def change(world, name, **status):
    """As if the owner of the next step wrote this."""
    await world.store.update_status((await world.store.get(Backup, name)).with_status(**status))
    await world.settle()


async def phases(world, *names):
    return [await world.phase(Backup, name) for name in names]


@pytest.fixture
async def shop(world):
    await world.volumes("shop/db", "blog/db")
    return world


@pytest.mark.parametrize("number", ["R1, velero#10519", "R2, velero#9493"])
async def test_a_backup_that_fails_validation_at_once_gives_its_slot_back(shop, number):
    """Velero counted beside the stored phases, and wrongly: with limit 1 its queue was dead until a restart."""
    await ask(shop, "bad", "shop")
    await ask(shop, "good", "blog")

    await change(shop, "bad", phase=BackupPhase.FAILED_VALIDATION)

    assert await phases(shop, "bad", "good") == ["FailedValidation", "InProgress"]


@pytest.mark.parametrize("finalizers", [(), (BACKUP_FINALIZER,)])
@pytest.mark.parametrize("phase", [READY, RUNNING])
async def test_r3_a_backup_deleted_with_its_slot_gives_it_back(shop, phase, finalizers):
    """Velero lost one slot for ever when a ReadyToStart backup was deleted before the worker took it."""
    await shop.runtime.stop()
    await put(shop.store, a_backup("gone", "shop", phase=phase, ticket=1).with_metadata(finalizers=finalizers))
    await put(shop.store, a_backup("next", "shop", phase=QUEUED, ticket=2))
    await shop.store.delete(Ref("Backup", "gone"))
    shop.runtime.start()
    await shop.settle()

    assert await phases(shop, "next") == ["InProgress"]


async def test_r4_two_that_come_at_once_never_share_a_place_and_never_run_together(shop):
    """Velero gave both the same position from a stale cache; neither was then earlier, so neither saw the overlap."""
    await shop.setting("concurrent-backups", "5")
    await shop.store.create(a_backup("one", "shop"))
    await shop.store.create(a_backup("other", "shop"))
    await shop.settle()

    tickets = {backup.status.queue_ticket for backup in await shop.all(Backup)}
    assert len(tickets) == 2
    assert await phases(shop, "one", "other") == ["InProgress", "Queued"]


async def test_r5_a_queued_backup_without_a_place_is_still_checked_for_overlap(shop):
    """Velero checked nothing for a backup whose position an outsider had left at 0."""
    await shop.setting("concurrent-backups", "5")
    await ask(shop, "runs", "shop")
    await ask(shop, "stranger", "shop", phase=QUEUED)

    assert await phases(shop, "runs", "stranger") == ["InProgress", "Queued"]


async def test_r6_and_r7_when_one_leaves_the_next_starts_without_any_time_passing(shop):
    """Velero saw the one that left as still there, or the slot as still taken, and waited for a timer of 60 s."""
    for name in ("first", "second", "third"):
        await ask(shop, name, "shop")
    before = shop.clock.now()
    for started, name in enumerate(("first", "second", "third")):
        assert await phases(shop, name) == ["InProgress"]
        shop.movers.started[started].finish()
        await shop.settle()

    assert await phases(shop, "first", "second", "third") == ["Completed"] * 3
    assert shop.clock.now() == before


class FailingOnce(MemoryStore):
    """Refuses the writes that the test names, once each."""

    refused: set

    async def update_status(self, resource):
        if (resource.name, str(getattr(resource.status, "phase", ""))) in self.refused:
            self.refused.discard((resource.name, str(resource.status.phase)))
            raise StoreUnavailable("the disk is full")
        return await super().update_status(resource)


async def test_r8_the_last_write_of_a_backup_is_tried_until_it_succeeds(a_world_of):
    """Velero gave up after ten minutes: a free slot, a record InProgress, its namespaces blocked for ever."""
    world = await a_world_of(FailingOnce, refused={("first", "Finalizing"), ("first", "Completed")})
    await world.volumes("shop/db")
    await ask(world, "first", "shop")
    await ask(world, "second", "shop")
    world.movers.started[0].finish()
    await world.settle()

    await world.passes(seconds=5)

    assert await phases(world, "first", "second") == ["Completed", "InProgress"]


class UnlistableOnce(MemoryStore):
    """Its next lists fail."""

    refused = 0

    async def list(self, *args, **options):
        if self.refused:
            self.refused -= 1
            raise StoreUnavailable("no answer")
        return await super().list(*args, **options)


async def test_r9_a_look_that_failed_is_taken_again_soon(a_world_of):
    """Velero took a failed list for a success and slept until the timer; its renumbering stopped half-way, unlogged."""
    world = await a_world_of(UnlistableOnce)
    await world.volumes("shop/db")
    world.kept.refused = 1
    await world.setting("concurrent-backups", "2")  # what is around the queue must be looked at anew
    await ask(world, "first", "shop")

    await world.passes(seconds=1)

    assert await phases(world, "first") == ["InProgress"]


async def test_r9_a_write_that_fails_in_the_middle_of_a_pass_stops_nobody_for_long(a_world_of):
    world = await a_world_of(FailingOnce, refused={("b", "ReadyToStart"), ("c", "Queued")})
    await world.setting("concurrent-backups", "5")
    await world.volumes("a/x", "b/x", "c/x", "d/x")
    for name in "abcd":
        await world.store.create(a_backup(name, name))
    await world.settle()

    await world.passes(seconds=2)

    assert await phases(world, *"abcd") == ["InProgress"] * 4


async def test_r10_whoever_is_ready_to_start_has_somebody_who_starts_it(shop):
    """Velero with --restore-only kept the queue and dropped what comes behind it: ReadyToStart for ever."""
    names = {reconciler.name for reconciler in shop.runtime.reconcilers}
    await ask(shop, "b", "shop", phase=READY, ticket=1)

    assert {"backup-queue", "backup"} <= names
    assert await phases(shop, "b") == ["InProgress"]


FOREIGN = ["Completed", "PartiallyFailed", "Failed", "FailedValidation", "Canceled"]


@pytest.mark.parametrize("phase", FOREIGN)
async def test_r11_velero_10343_a_backup_that_arrives_finished_is_never_run(shop, phase):
    """Velero imported records from a store with the phase they had, and its queue ran them."""
    await ask(shop, "imported", "shop", phase=BackupPhase(phase))
    for _ in range(2):
        shop.runtime.wakes.wake("backup-queue", KEY)
        await shop.settle()

    assert await phases(shop, "imported") == [phase]
    assert shop.movers.started == []


# Restarts: what became of each phase.


async def test_after_a_restart_the_new_are_queued_in_the_order_of_asking(shop):
    await shop.runtime.stop()
    for name in ("zebra", "mole", "ant"):  # not the order of their names
        await shop.store.create(a_backup(name, "shop"))
        await shop.clock.advance(shop.runtime.resync / 600)
    await shop.restart()

    table = shop.runtime.state.queue
    assert (await phases(shop, "zebra"), [e.name for e in table.queued()]) == (["InProgress"], ["mole", "ant"])


async def test_after_a_restart_the_queued_keep_their_places(shop):
    for name in ("runs", "b", "a"):
        await ask(shop, name, "shop")
    before = [backup.status.queue_ticket for backup in await shop.all(Backup)]
    await shop.setting("backup-queue-paused", "true")

    await shop.restart()

    assert [backup.status.queue_ticket for backup in await shop.all(Backup)] == before
    assert [entry.name for entry in shop.runtime.state.queue.queued()] == ["b", "a"]


async def test_after_a_restart_the_ready_go_on_at_once(shop):
    """Velero dropped the announcements of a start: nothing took up a ReadyToStart backup for up to ten hours."""
    await shop.runtime.stop()
    await put(shop.store, a_backup("ready", "shop", phase=READY, ticket=1))

    await shop.restart()

    assert await phases(shop, "ready") == ["InProgress"]


async def test_after_a_restart_what_ran_has_failed_with_the_reason_and_its_transfers_are_cleared_away(shop):
    """velero#2877, #3131, #3852, #4003, #4904, #4952, #7471: in progress for ever; #7568: no word of why."""
    await ask(shop, "ran", "shop")
    await ask(shop, "next", "shop")

    await shop.restart()
    shop.movers.started[0].finish()  # clears what the dead upload left
    await shop.settle()

    ran = await shop.store.get(Backup, "ran")
    assert (ran.status.phase, ran.status.failure_reason) == (BackupPhase.FAILED, INTERRUPTED)
    (upload,) = [t for t in await shop.all(PodVolumeBackup) if t.metadata.owner_references[0].name == "ran"]
    assert (str(upload.status.phase), upload.status.message) == ("Failed", INTERRUPTED)
    assert await phases(shop, "next") == ["InProgress"]


async def test_after_a_restart_what_ran_and_wants_to_stands_at_its_old_place_and_runs_with_new_transfers(shop):
    first = a_backup("first", "shop").with_spec(on_interruption=OnInterruption.REQUEUE)
    await shop.store.create(first)
    await shop.settle()
    await ask(shop, "second", "shop")
    ticket = (await shop.store.get(Backup, "first")).status.queue_ticket

    await shop.restart()

    again = await shop.store.get(Backup, "first")
    assert (again.status.phase, again.status.queue_ticket, again.status.attempt) == (RUNNING, ticket, 1)
    old, new = sorted((t.metadata.labels["tidegate.dev/attempt"], t.name) for t in await shop.all(PodVolumeBackup))
    assert (old[0], new[0]) == ("0", "1")
    assert await phases(shop, "second") == ["Queued"]


async def test_a_record_that_vanishes_between_plan_and_write_stops_nobody(shop):
    await shop.store.create(a_backup("gone", "shop"))
    await shop.store.delete(Ref("Backup", "gone"))
    await ask(shop, "stays", "shop")

    with pytest.raises(NotFound):
        await shop.store.get(Backup, "gone")
    assert await phases(shop, "stays") == ["InProgress"]
    assert shop.runtime.error_counts()["backup-queue"] == 0
    assert (await shop.store.get(BackupTarget, "store")).status.available

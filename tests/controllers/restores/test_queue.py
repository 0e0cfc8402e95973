"""Restores and backups keep out of each other's way, and nobody waits for a restore that does not end."""

import pytest

from tidegate.decide.backups.cancelling import CANCEL_DEADLINE
from tidegate.decide.transfers.restore_limit import RESTORE_PRIORITY_LABEL
from tidegate.errors import StoreUnavailable
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.resource import Metadata, Ref
from tidegate.model.restores.restore import RESTORE_FINALIZER, Restore, RestorePhase, RestoreSpec
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, PodVolumeRestore, TransferPhase
from tidegate.ports.resource_store import Change
from tidegate.resources.memory import MemoryStore
from tidegate.testing.resources.builders import a_backup
from tidegate.testing.resources.resources import beginning, place_among_writes


async def ask(world, name, *namespaces, **spec):
    metadata = Metadata(name=name, finalizers=(RESTORE_FINALIZER,))
    wanted = RestoreSpec(backup_name="b", included_namespaces=namespaces, **spec)
    await world.store.create(Restore(metadata=metadata, spec=wanted))
    await world.settle()


async def cancel(world, name):
    restore = await world.store.get(Restore, name)
    await world.store.cancel(restore.ref)
    await world.settle()


async def wait_of(world, kind, name):
    one = await world.store.get(kind, name)
    waiting = one.status.condition("Waiting")
    return str(one.status.phase), waiting and (waiting.reason, waiting.message)


async def finish_last(world):
    world.movers.started[-1].finish(size=1)
    await world.settle()


async def test_a_restore_waits_for_a_running_backup_of_its_namespace(backed_up):
    await backed_up.store.create(a_backup("running", "shop"))
    await backed_up.settle()
    await ask(backed_up, "r", "shop")
    await ask(backed_up, "other", "blog")

    assert await wait_of(backed_up, Restore, "r") == (
        "New",
        ("NamespaceOverlapRunning", "backup running is running and shares namespace shop"),
    )
    assert await backed_up.phase(Restore, "other") == "InProgress"
    backed_up.movers.started[0].finish(size=1)
    await backed_up.settle()
    assert await backed_up.phase(Restore, "r") == "InProgress"


async def test_a_backup_waits_for_a_running_restore_into_its_namespace(backed_up):
    await ask(backed_up, "r", "shop")
    await backed_up.store.create(a_backup("later", "shop"))
    await backed_up.settle()

    assert await wait_of(backed_up, Backup, "later") == (
        "Queued",
        ("NamespaceOverlapRunning", "restore r is running and shares namespace shop"),
    )
    await finish_last(backed_up)
    assert await backed_up.phase(Backup, "later") == "InProgress"


async def test_a_restore_to_another_place_waits_for_nobody_and_nobody_for_it(backed_up):
    await backed_up.store.create(a_backup("running", "shop"))
    await backed_up.settle()
    await ask(backed_up, "r", "shop", destination="/elsewhere")

    assert await backed_up.phase(Restore, "r") == "InProgress"


async def test_restores_of_one_namespace_come_one_after_the_other(backed_up):
    await ask(backed_up, "r1", "shop")
    await ask(backed_up, "r2", "shop")
    await ask(backed_up, "r3", "shop", "blog")

    assert (await wait_of(backed_up, Restore, "r2"))[1][0] == "NamespaceOverlapRunning"
    assert (await wait_of(backed_up, Restore, "r3"))[1][0] == "NamespaceOverlapRunning"
    await finish_last(backed_up)
    assert await backed_up.phase(Restore, "r2") == "InProgress"
    assert (await wait_of(backed_up, Restore, "r3"))[1][1] == "restore r2 is running and shares namespace shop"


class Ledger:
    """Every stored step; no two that share a namespace ever run at once."""

    def __init__(self, world):
        self.world, self.running, self.most = world, {}, 0

    async def read(self):
        """A rule about two kinds: their changes in the order of the writes."""
        changes = [change for kind in (Backup, Restore) for change in await self._changes(kind)]
        for event in sorted(changes, key=lambda one: place_among_writes(one.resource)):
            one = event.resource
            runs = one.status.phase in {BackupPhase.READY_TO_START, BackupPhase.IN_PROGRESS, RestorePhase.IN_PROGRESS}
            self.running.pop(one.ref, None)
            if runs and event.change is not Change.DELETED:
                mine = set(one.spec.included_namespaces)
                assert not [other for other, names in self.running.items() if names & mine]
                self.running[one.ref] = mine
                self.most = max(self.most, len(self.running))

    async def _changes(self, kind):
        newest = max(await self.world.all(kind), key=place_among_writes)
        changes = []
        async for event in self.world.store.watch(kind, since=beginning(kind)[kind]):
            changes.append(event)
            if event.resource == newest:
                break
        return changes


async def test_a_burst_of_backups_and_restores_never_runs_two_of_one_namespace(backed_up):
    await backed_up.setting("concurrent-backups", "10")
    backed_up.movers.obliging = True
    for number in range(20):
        namespaces = [("shop",), ("blog",), ("shop", "blog")][number % 3]
        if number % 2:
            await backed_up.store.create(a_backup(f"b{number}", *namespaces))
        else:
            metadata = Metadata(name=f"r{number}", finalizers=(RESTORE_FINALIZER,))
            spec = RestoreSpec(backup_name="b", included_namespaces=namespaces)
            await backed_up.store.create(Restore(metadata=metadata, spec=spec))
    for _ in range(10):
        await backed_up.settle()

    assert {str(r.status.phase) for r in await backed_up.all(Restore)} == {"Completed"}
    assert {str(b.status.phase) for b in await backed_up.all(Backup)} == {"Completed"}
    ledger = Ledger(backed_up)
    await ledger.read()
    assert ledger.most > 1


async def test_one_that_waits_is_called_off_and_writes_nothing(backed_up):
    await ask(backed_up, "r1", "shop")
    await ask(backed_up, "r2", "shop")

    await cancel(backed_up, "r2")

    restore = await backed_up.store.get(Restore, "r2")
    assert (str(restore.status.phase), restore.status.failure_reason) == (
        "Canceled",
        "cancelled on request, before anything was written",
    )
    assert restore.status.condition("Waiting") is None
    assert len(backed_up.movers.started) == 1


async def test_one_in_progress_that_is_called_off_says_what_is_back(backed_up):
    await ask(backed_up, "r")
    await finish_last(backed_up)

    await cancel(backed_up, "r")

    restore = await backed_up.store.get(Restore, "r")
    assert backed_up.movers.started[1].cancelled
    assert (str(restore.status.phase), restore.status.failure_reason) == (
        "Canceled",
        "cancelled on request; 1 of 2 volumes were brought back",
    )


@pytest.mark.parametrize("number", ["velero#2171", "velero#4556", "velero#5885"])
async def test_a_restore_whose_mover_does_not_stop_blocks_nobody_for_ever(backed_up, number):
    """One stuck restore blocked all following ones until a restart."""
    await ask(backed_up, "stuck", "shop")
    backed_up.movers.started[0].stubborn = True
    await ask(backed_up, "other", "blog")
    await ask(backed_up, "same", "shop")
    assert await backed_up.phase(Restore, "other") == "InProgress"

    await cancel(backed_up, "stuck")
    await backed_up.passes(seconds=CANCEL_DEADLINE.total_seconds() + 1)

    stuck = await backed_up.store.get(Restore, "stuck")
    assert "0 of 1 transfers had ended" in stuck.status.failure_reason
    assert await backed_up.phase(Restore, "same") == "InProgress"


async def test_velero_5516_a_deleted_restore_lets_the_next_one_start(backed_up):
    """A restore that was deleted while it ran blocked all following ones."""
    await ask(backed_up, "gone", "shop")
    await ask(backed_up, "next", "shop")

    await backed_up.store.delete(Ref("Restore", "gone"))
    await backed_up.settle()

    assert [r.name for r in await backed_up.all(Restore)] == ["next"]
    assert await backed_up.phase(Restore, "next") == "InProgress"


class RollingStore(MemoryStore):
    """Does not take the end of a restore as long as it is being updated."""

    rolling = False

    async def update_status(self, resource):
        if self.rolling and isinstance(resource, Restore) and resource.status.phase.final:
            raise StoreUnavailable("rolling")
        return await super().update_status(resource)


async def test_velero_7207_the_end_of_a_restore_is_written_again_until_it_is(a_world_of):
    """The final status was not retried while the API server was rolling: InProgress for ever."""
    world = await a_world_of(RollingStore)
    await world.volumes("shop/db")
    world.movers.obliging = True
    await world.store.create(a_backup("b"))
    await world.settle()
    world.kept.rolling = True
    await ask(world, "r")
    assert await world.phase(Restore, "r") == "InProgress"

    world.kept.rolling = False
    await world.passes(minutes=1)

    assert await world.phase(Restore, "r") == "Completed"


async def test_velero_7230_a_restore_that_ended_does_not_become_something_else(backed_up):
    """Work went on although its request had failed, and the request turned Completed later."""
    await ask(backed_up, "r", "shop")
    mover = backed_up.movers.started[0]
    mover.stubborn = True
    await cancel(backed_up, "r")
    await backed_up.passes(seconds=CANCEL_DEADLINE.total_seconds() + 1)

    mover.finish(size=1)
    await backed_up.settle()

    assert await backed_up.phase(Restore, "r") == "Canceled"


async def test_after_a_restart_downloads_go_on_in_their_order_and_within_the_limit(backed_up):
    await backed_up.setting("concurrent-backup-restore-limit", "3")
    await backed_up.setting("load-concurrency", '{"globalConfig": 10}')
    for number in range(53):
        await ask(backed_up, f"r{number:02}", "shop", destination=f"/back/{number}")
    before = {d.name: d for d in await backed_up.all(PodVolumeRestore)}
    moving = {name for name, d in before.items() if d.status.phase is TransferPhase.IN_PROGRESS}
    assert (len(before), len(moving)) == (53, 3)

    await backed_up.restart()

    after = {d.name: d for d in await backed_up.all(PodVolumeRestore)}
    assert {name for name, d in after.items() if d.status.phase is TransferPhase.IN_PROGRESS} == moving
    assert {name for name, d in after.items() if d.metadata.labels.get(ATTEMPT_LABEL) == "1"} == moving
    waiting = [name for name in before if name not in moving]
    assert [after[n].metadata.labels[RESTORE_PRIORITY_LABEL] for n in waiting] == [
        before[n].metadata.labels[RESTORE_PRIORITY_LABEL] for n in waiting
    ]
    assert {str(r.status.phase) for r in await backed_up.all(Restore)} == {"InProgress"}
    backed_up.movers.obliging = True
    for mover in backed_up.movers.started:
        mover.finish(size=1)
    for _ in range(20):
        await backed_up.settle()
    assert {str(r.status.phase) for r in await backed_up.all(Restore)} == {"Completed"}

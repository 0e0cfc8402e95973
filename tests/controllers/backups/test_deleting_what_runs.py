"""Who is deleted while it runs keeps its slot and its namespaces until nothing of it is under way any more."""

import pytest

from tidegate.model.backups.backup import BACKUP_FINALIZER, Backup, BackupPhase
from tidegate.model.resource import Ref
from tidegate.model.restores.restore import RESTORE_FINALIZER, Restore
from tidegate.model.transfers.mover_job import RemoveJob
from tidegate.testing.clock import BEGINNING
from tidegate.testing.resources.builders import a_backup, a_restore, freezing
from tidegate.testing.resources.put import put

AA, BB = Ref("Backup", "aa"), Ref("Backup", "bb")


def a_frozen_backup(name, namespace="shop"):
    return a_backup(name, namespace).with_spec(hooks=freezing()).with_metadata(finalizers=(BACKUP_FINALIZER,))


async def ask(world, *resources):
    for resource in resources:
        await put(world.store, resource)
        await world.settle()


async def why_it_waits(world, kind=Backup, name="bb"):
    condition = (await world.store.get(kind, name)).status.condition("Waiting")
    return (str(condition.reason), condition.message)


def removals(world):
    return [mover for mover in world.movers.started if isinstance(mover.job, RemoveJob)]


@pytest.fixture
async def two(world):
    """One that runs and has frozen its application, and one that waits for it."""
    world.hooks.stuck = {"thaw"}
    await world.volumes("shop/db", "blog/db")
    await ask(world, a_frozen_backup("aa"), a_frozen_backup("bb"))
    assert [await world.phase(Backup, name) for name in ("aa", "bb")] == ["InProgress", "Queued"]
    return world


async def test_the_next_one_begins_only_once_a_deleted_backup_has_thawed_and_removed_what_it_wrote(two):
    await two.store.delete(AA)
    await two.settle()
    assert (await two.phase(Backup, "aa"), await two.phase(Backup, "bb")) == ("Deleting", "Queued")
    assert await why_it_waits(two) == (
        "NamespaceOverlapRunning",
        "backup aa is being deleted and shares namespace shop",
    )

    for removal in removals(two):
        removal.finish()
    await two.settle()
    assert await two.phase(Backup, "bb") == "Queued", "the post hook of aa still runs"

    two.hooks.let_go("thaw")
    await two.settle()
    assert await two.phase(Backup, "bb") == "InProgress"
    assert [run.command[0] + " " + run.backup for run in two.hooks.runs] == ["freeze aa", "thaw aa", "freeze bb"]


async def test_the_removal_of_what_it_wrote_keeps_the_slot_of_a_deleted_backup_too(two):
    two.hooks.let_go("thaw")
    await ask(two, a_frozen_backup("elsewhere", "blog"))
    await two.store.delete(BB)
    await two.store.delete(AA)
    await two.settle()
    assert [run.command[0] for run in two.hooks.runs] == ["freeze", "thaw"]
    assert await why_it_waits(two, name="elsewhere") == (
        "ConcurrencyLimit",
        "all 1 slots of concurrent-backups are taken",
    )

    for removal in removals(two):
        removal.finish()
    await two.settle()

    assert await two.phase(Backup, "elsewhere") == "InProgress"


@pytest.mark.parametrize("restarts", [1, 3])
@pytest.mark.parametrize("marked", [False, True], ids=["before it is marked", "while it is Deleting"])
async def test_a_restart_in_the_middle_of_deleting_keeps_the_slot(two, restarts, marked):
    if marked:
        await two.store.delete(AA)
        await two.settle()
        assert await two.phase(Backup, "aa") == "Deleting"
    else:
        await two.runtime.stop()
        await two.store.delete(AA)
        assert await two.phase(Backup, "aa") == "InProgress"
    for _ in range(restarts):
        await two.restart()
    assert (await two.phase(Backup, "aa"), await two.phase(Backup, "bb")) == ("Deleting", "Queued")

    two.hooks.let_go("thaw")
    await two.settle()
    assert await two.phase(Backup, "bb") == "Queued", "what aa wrote is still being removed"
    for removal in removals(two):
        removal.finish()
    await two.settle()
    for removal in removals(two):  # first what the dead mover left unfinished, then what there is of the backup
        removal.finish()
    await two.settle()

    assert await two.phase(Backup, "bb") == "InProgress"
    commands = [run.command[0] + " " + run.backup for run in two.hooks.runs]
    assert commands[-2:] == ["thaw aa", "freeze bb"]


async def test_a_restore_waits_for_a_backup_that_is_deleted_while_it_runs(two):
    await two.store.delete(BB)
    await ask(two, a_restore("back", "shop"))
    await two.store.delete(AA)
    await two.settle()
    assert await why_it_waits(two, Restore, "back") == (
        "NamespaceOverlapRunning",
        "backup aa is being deleted and shares namespace shop",
    )

    two.hooks.let_go("thaw")
    for removal in removals(two):
        removal.finish()
    await two.settle()

    assert await two.phase(Restore, "back") != "New"


@pytest.mark.parametrize("restarts", [0, 1])
async def test_a_restore_that_is_deleted_while_it_runs_keeps_its_namespaces_until_its_movers_have_stopped(
    backed_up, restarts
):
    world = backed_up
    restore = a_restore("back").with_metadata(finalizers=(RESTORE_FINALIZER,))
    await ask(world, restore.with_status(target_volumes=None))
    assert await world.phase(Restore, "back") == "InProgress"
    for mover in world.movers.started:
        mover.stubborn = True
    await ask(world, a_backup("bb", "shop"))
    await world.store.delete(Ref("Restore", "back"))
    await world.settle()
    assert await why_it_waits(world) == (
        "NamespaceOverlapRunning",
        "restore back is being deleted and shares namespace shop",
    )

    for mover in world.movers.started:
        mover.fail("WorkCancelled", "cancelled")
    for _ in range(restarts):
        await world.restart()
    await world.settle()

    assert await world.all(Restore) == []
    assert await world.phase(Backup, "bb") == "InProgress"


@pytest.mark.parametrize(
    "phase", [BackupPhase.WAITING_FOR_PLUGIN_OPERATIONS, BackupPhase.FINALIZING, BackupPhase.COMPLETED]
)
async def test_a_backup_that_had_left_its_slot_does_not_take_it_again_when_it_is_deleted(two, phase):
    runs = await two.store.get(Backup, "aa")
    await two.runtime.stop()
    left = await two.store.update_status(runs.with_status(phase=phase))
    assert not left.holds_slot
    await two.store.delete(AA)
    await two.restart()

    assert not (await two.store.get(Backup, "aa")).holds_slot
    assert await two.phase(Backup, "bb") == "InProgress"
    assert two.clock.now() == BEGINNING

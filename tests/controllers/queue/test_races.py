"""Between a look, a plan and a write, anything may happen: the queue neither stops nor does what is no longer right."""

from collections import Counter
from functools import partial

import pytest

from tidegate.errors import InvalidInput
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.resource import Ref
from tidegate.model.setting import Setting
from tidegate.model.stores.target import BackupTarget
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import settle
from tidegate.testing.resources.builders import a_backup
from tidegate.testing.resources.late_store import LateStore


async def phases(world, *names):
    return [await world.phase(Backup, name) for name in names]


async def ask(world, **wanted):
    for name, namespace in wanted.items():
        await world.store.create(a_backup(name, namespace))
    await world.settle()


@pytest.mark.parametrize(("answers_after", "news_after"), [(0, 0), (5, 0), (0, 5), (5, 5), (30, 1), (1, 30)])
async def test_it_does_not_matter_whether_the_answer_or_the_news_of_a_write_come_first(
    a_world_of, answers_after, news_after
):
    """SQLite's news come first; a queue that then waited for them waited for ever."""
    world = await a_world_of(LateStore, answers_after=answers_after, news_after=news_after)
    world.movers.obliging = True
    await world.volumes("shop/db")
    await ask(world, one="shop", two="shop", three="shop")
    for _ in range(20):
        await world.settle()

    assert await phases(world, "one", "two", "three") == ["Completed"] * 3


class SlowLooks(MemoryStore):
    """Lists of targets take their time."""

    async def list(self, kind, **options):
        page = await super().list(kind, **options)
        await settle(10 if kind is BackupTarget else 0)
        return page


@pytest.mark.parametrize("turns", range(0, 30, 2))
async def test_a_setting_that_changes_while_the_queue_looks_around_is_not_missed(a_world_of, turns):
    world = await a_world_of(SlowLooks)
    await world.volumes("a/x", "b/x", "c/x")
    await world.setting("concurrent-backups", "1")
    await ask(world, one="a", two="b", three="c")
    limit = await world.store.get(Setting, "concurrent-backups")
    limit = await world.store.update(limit.with_spec(value="2"))
    await settle(turns)
    await world.store.update(limit.with_spec(value="3"))
    await world.settle()

    assert await phases(world, "one", "two", "three") == ["InProgress"] * 3


async def test_a_setting_that_is_deleted_while_the_watch_is_broken_is_not_remembered(a_world_of):
    world = await a_world_of(partial(MemoryStore, kept_events=20))
    await world.volumes("shop/db")
    await world.passes(seconds=1)
    await world.setting("backup-queue-paused", "true")
    await world.passes(seconds=1)
    await ask(world, held="shop")
    await world.passes(seconds=1)
    assert await phases(world, "held") == ["Queued"]

    await world.store.delete(Ref("Setting", "backup-queue-paused"))
    for number in range(30):  # more than are kept, without a turn for the watcher in between
        await world.store.create(a_backup(f"b{number:02}", "shop"))
    await world.settle()
    await world.passes(seconds=5)

    assert await phases(world, "held") == ["InProgress"]


async def test_a_backup_whose_wish_changes_after_the_plan_is_not_started_by_that_plan(a_world_of):
    world = await a_world_of(LateStore, news_after=3)
    await world.volumes("shop/db", "news/db", "blog/db")
    await world.setting("concurrent-backups", "2")
    await ask(world, one="shop", two="news", waits="blog")
    for _ in range(5):
        await world.settle()
    assert await phases(world, "one", "two", "waits") == ["InProgress", "InProgress", "Queued"]

    two, waits = await world.store.get(Backup, "two"), await world.store.get(Backup, "waits")
    await world.store.update_status(two.with_status(phase=BackupPhase.COMPLETED))
    await world.store.update(waits.with_spec(included_namespaces=("shop",)))
    for _ in range(5):
        await world.settle()

    assert await phases(world, "one", "waits") == ["InProgress", "Queued"]
    reason = (await world.store.get(Backup, "waits")).status.condition("Waiting").reason
    assert reason == "NamespaceOverlapRunning"


class Meddling(MemoryStore):
    """Somebody labels, or deletes, a backup right before the queue starts it."""

    meddle = None

    async def update_status(self, resource):
        if resource.name == "second" and self.meddle and str(resource.status.phase) == "ReadyToStart":
            meddle, self.meddle = self.meddle, None
            if meddle == "delete":
                await self.delete(resource.ref)
            else:
                await self.update((await self.get(Backup, "second")).with_metadata(labels={"by": "somebody"}))
        return await super().update_status(resource)


@pytest.mark.parametrize(("meddle", "left"), [("label", ["first", "second", "third"]), ("delete", ["first", "third"])])
async def test_one_that_changes_right_before_its_write_holds_up_nobody(a_world_of, meddle, left):
    world = await a_world_of(Meddling, meddle=meddle)
    await world.setting("concurrent-backups", "3")
    await world.volumes("a/x", "b/x", "c/x")
    await ask(world, first="a", second="b", third="c")

    assert {b.name: str(b.status.phase) for b in await world.all(Backup)} == dict.fromkeys(left, "InProgress")
    assert world.runtime.error_counts()["backup-queue"] == 0


async def test_the_watch_begins_where_the_backups_were_read(world):
    """Older news than the list would take the mirror back to where slots were free."""
    assert world.runtime._kinds()[0] is Backup


async def test_what_is_counted_beside_the_store_equals_what_is_stored_and_restarts_forget_nothing(world):
    await world.volumes("shop/db")
    await ask(world, one="shop", two="shop", vanishes="shop")
    await world.store.delete(Ref("Backup", "vanishes"))
    await world.settle()
    assert world.runtime.state.queue_decisions == {"Queued": 3, "Started": 1, "PassedOver": 2}

    for _ in range(2):
        counted = +world.runtime.state.backup_figures.phases
        assert counted == Counter(backup.status.phase for backup in await world.all(Backup))
        await world.restart()


class Unwritable(MemoryStore):
    """Holds a backup that it does not take back."""

    async def update_status(self, resource):
        if resource.name == "bad":
            raise InvalidInput("this cannot be read back")
        return await super().update_status(resource)


async def test_a_backup_that_cannot_be_written_holds_up_nobody(a_world_of):
    world = await a_world_of(Unwritable)
    await world.volumes("shop/db")
    await ask(world, bad="shop", good="shop")

    assert await phases(world, "bad", "good") == ["New", "InProgress"]
    assert world.runtime.state.queue_decisions["Refused"]

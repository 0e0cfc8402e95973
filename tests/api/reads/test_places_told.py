"""Watchers hear of each change of place in the queue, at most once a second, and nothing is written for it."""

import asyncio
import json
from datetime import timedelta

import pytest

from tidegate.api.event_position import start_of
from tidegate.api.reads.places_told import PlacesTold
from tidegate.api.routes.events import _stream
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.stores.target import BackupTarget
from tidegate.testing.clock import settle
from tidegate.testing.resources.builders import a_backup
from tidegate.testing.resources.put import put

QUEUED, RUNNING, DONE = BackupPhase.QUEUED, BackupPhase.IN_PROGRESS, BackupPhase.COMPLETED


class Watcher:
    """A client of the stream that takes what is there."""

    def __init__(self, services, start):
        self.stream = _stream(services, start)
        self.lines = []
        self.task = asyncio.create_task(self.listen())

    async def listen(self):
        async for chunk in self.stream:
            for event in chunk.decode().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in event.splitlines() if not line.startswith(":"))
                if "data" in fields:
                    self.lines.append((fields["id"], json.loads(fields["data"])))

    def places(self):
        """What it was told since it was last asked, in order."""
        told = [(data["metadata"]["name"], data["status"].get("queuePosition")) for _, data in self.lines]
        self.lines.clear()
        return told

    async def close(self):
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        await self.stream.aclose()


@pytest.fixture
async def queue(services):
    """One that runs and a hundred that wait."""
    await put(services.store, a_backup("runs", "a", phase=RUNNING))
    for number in range(1, 101):
        await put(services.store, a_backup(f"w{number:03}", "a", phase=QUEUED, ticket=number))
    await settle(50)
    return services.store


@pytest.fixture
async def watch(services, queue):
    watchers = []

    async def begin(*kinds, since=None):
        watchers.append(Watcher(services, await start_of(queue, kinds, since)))
        await settle(50)
        return watchers[-1]

    yield begin
    for watcher in watchers:
        await watcher.close()


async def leave(store, *names):
    for name in names:
        await store.update_status((await store.get(Backup, name)).with_status(phase=DONE))
    await settle(50)


async def seconds(services, number):
    for _ in range(number):
        await services.clock.advance(timedelta(seconds=1))
        await settle(300)


async def test_all_behind_one_that_leaves_the_queue_are_told_their_new_places(services, queue, watch):
    watcher = await watch(Backup)
    await leave(queue, "w002")
    assert watcher.places() == [("w002", None)]

    await seconds(services, 2)

    assert watcher.places() == [(f"w{number:03}", number - 1) for number in range(3, 101)]


async def test_places_are_told_once_a_second_whatever_happens_in_between(services, queue, watch):
    watcher = await watch(Backup)
    for number in range(1, 99):
        await leave(queue, f"w{number:03}")
    watcher.places()
    await seconds(services, 1)

    assert watcher.places() == [("w099", 1), ("w100", 2)]


async def test_nobody_is_told_of_places_that_did_not_change_and_nothing_is_written(services, queue, watch):
    watcher = await watch(Backup)
    written = await queue.update_status((await queue.get(Backup, "runs")).with_status(errors=1))
    await seconds(services, 3)

    assert watcher.places() == [("runs", None)]
    assert (await queue.list(Backup)).resource_version == written.metadata.resource_version


async def test_who_listed_before_a_move_is_told_of_it_though_its_stream_began_after(services, queue, watch):
    before = (await queue.list(Backup)).resource_version
    await leave(queue, *(f"w{number:03}" for number in range(1, 99)))
    watcher = await watch(Backup, since=before)
    await seconds(services, 1)

    assert watcher.places()[-2:] == [("w099", 1), ("w100", 2)]


async def test_a_watcher_goes_on_behind_the_last_change_not_behind_the_version_of_a_backup_that_moved(
    services, queue, watch
):
    watcher = await watch(Backup)
    await leave(queue, "w099")
    last = (await queue.list(Backup)).resource_version
    await seconds(services, 1)

    assert [position for position, _ in watcher.lines] == [f"backups:{last}"] * 2
    assert watcher.places() == [("w099", None), ("w100", 99)]


async def test_a_new_reason_is_told_with_the_place(services, queue, watch):
    watcher = await watch(Backup)
    await leave(queue, *(f"w{number:03}" for number in range(3, 101)))
    await queue.update_status((await queue.get(Backup, "runs")).with_status(phase=DONE))
    await queue.update_status(
        (await queue.get(Backup, "w001")).with_status(phase=RUNNING, queued_at=services.clock.now())
    )
    await queue.update_status((await queue.get(Backup, "w002")).with_status(queued_at=services.clock.now()))
    await settle(50)
    await seconds(services, 2)

    (waits,) = watcher.lines[-1][1]["status"]["conditions"]
    assert (watcher.places()[-1], waits["message"]) == (
        ("w002", 1),
        "backup w001 is running and shares namespace a",
    )


async def test_who_watches_something_else_hears_nothing_of_places(services, queue, watch):
    watcher = await watch(BackupTarget)
    await leave(queue, "w001")
    await seconds(services, 2)

    assert watcher.places() == []


async def test_a_backup_whose_own_change_is_under_way_is_not_sent_before_it(services, queue):
    places = PlacesTold(services, services.state.queue, known=True)
    await leave(queue, "w001")
    await put(queue, a_backup("w101", "a", phase=QUEUED, ticket=101))
    changed = await queue.update_status((await queue.get(Backup, "w003")).with_status(errors=1))
    places.sent(changed.with_metadata(resource_version="another"), gone=False)
    await settle(50)

    assert [one.name for one in await places.news()][:2] == ["w002", "w004"]
    places.sent(changed, gone=False)
    rest = [one.name for one in await places.news()]

    assert rest[0] == "w003"
    assert "w101" not in rest


async def test_one_that_joins_the_queue_unheard_is_sent_with_the_next_look(services, queue):
    places = PlacesTold(services, services.state.queue, known=True)
    await put(queue, a_backup("w101", "a", phase=QUEUED, ticket=101))
    await settle(50)

    assert [[one.name for one in await places.news()] for _ in range(3)] == [[], ["w101"], []]
    assert not places.moved

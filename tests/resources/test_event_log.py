import asyncio

import pytest

from tidegate.errors import WatchExpired
from tidegate.model.backups.backup import Backup
from tidegate.ports.resource_store import Change, Event
from tidegate.resources.event_log import EventLog, check_given_out
from tidegate.testing.clock import settle
from tidegate.testing.resources.resources import a_backup, take


def event(version: int) -> Event:
    return Event(Change.ADDED, a_backup(f"b{version}"), str(version))


async def collect(log: EventLog, since: str) -> list[str]:
    return [event.resource_version async for event in log.watch(Backup, since=since)]


async def test_closing_ends_all_watchers_after_what_is_there() -> None:
    log = EventLog(last_version=0)
    watchers = [asyncio.create_task(collect(log, since)) for since in ("0", "1", "2")]
    await settle()
    log.publish([event(1), event(2)])
    log.close()

    assert await asyncio.gather(*watchers) == [["1", "2"], ["2"], []]
    assert await collect(log, "1") == ["2"]


async def test_versions_before_the_log_began_are_not_known() -> None:
    log = EventLog(last_version=7)
    log.publish([event(8)])

    with pytest.raises(WatchExpired):
        await take(log.watch(Backup, since="6"), 1)
    assert (await take(log.watch(Backup, since="7"), 1))[0].resource_version == "8"


async def test_exactly_what_is_kept_can_be_watched() -> None:
    log = EventLog(last_version=0, kept_events=4)
    log.publish(event(version) for version in range(1, 12))

    assert [e.resource_version for e in await take(log.watch(Backup, since="7"), 4)] == ["8", "9", "10", "11"]
    with pytest.raises(WatchExpired):
        await take(log.watch(Backup, since="6"), 1)


async def test_a_watcher_that_the_ring_went_past_is_told_so() -> None:
    log = EventLog(last_version=0, kept_events=4)
    slow = log.watch(Backup, since="0")
    log.publish([event(1), event(2)])
    assert (await anext(slow)).resource_version == "1"

    log.publish(event(version) for version in range(3, 7))

    with pytest.raises(WatchExpired):
        await take(slow, 1)


async def test_a_watcher_may_know_of_a_commit_before_the_log_does() -> None:
    log = EventLog(last_version=0)
    early = asyncio.create_task(take(log.watch(Backup, since="2"), 1))
    await settle()
    log.publish([event(1), event(2)])
    log.publish([event(3)])

    assert [e.resource_version for e in await early] == ["3"]


def test_a_version_from_another_life_is_refused() -> None:
    check_given_out(5, newest=5)
    with pytest.raises(WatchExpired):
        check_given_out(6, newest=5)

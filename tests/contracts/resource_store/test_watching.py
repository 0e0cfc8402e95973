"""ResourceStore: watch."""

import asyncio
import re
from collections.abc import Sequence

import pytest

from tidegate.errors import InvalidInput, NotFound, StaleVersion, WatchExpired
from tidegate.model.backups.backup import Backup
from tidegate.model.setting import Setting
from tidegate.model.volumes.volume import Volume
from tidegate.ports.resource_store import Change, Event, ResourceStore
from tidegate.testing.clock import settle
from tidegate.testing.resources.resources import a_backup, a_setting, a_volume, take


def told(events: Sequence[Event]) -> list[tuple[Change, str]]:
    return [(event.change, event.resource.name) for event in events]


async def version_now(store: ResourceStore) -> str:
    return (await store.list(Backup)).resource_version


async def test_a_watch_tells_every_change_in_order(store: ResourceStore) -> None:
    since = await version_now(store)
    created = await store.create(a_backup(finalizers=("busy",)))
    updated = await store.update_status(created.with_status(warnings=1))
    await store.delete(created.ref)
    marked = await store.get(Backup, "nightly")
    await store.update(marked.with_metadata(finalizers=()))

    added, modified, marked_too, deleted = await take(store.watch(Backup, since=since), 4)

    assert added == Event(Change.ADDED, created, created.metadata.resource_version)
    assert modified == Event(Change.MODIFIED, updated, updated.metadata.resource_version)
    assert marked_too == Event(Change.MODIFIED, marked, marked.metadata.resource_version)
    assert (deleted.change, deleted.resource.metadata.uid) == (Change.DELETED, created.metadata.uid)
    assert deleted.resource_version not in {
        marked.metadata.resource_version,
        deleted.resource.metadata.resource_version,
    }


async def test_a_watch_waits_for_what_is_not_there_yet(store: ResourceStore) -> None:
    waiting = asyncio.create_task(take(store.watch(Backup, since=await version_now(store)), 2))
    await store.create(a_backup("one"))
    await store.create(a_backup("two"))

    assert told(await waiting) == [(Change.ADDED, "one"), (Change.ADDED, "two")]


async def test_a_watch_tells_only_of_the_kind_that_was_asked_for(store: ResourceStore) -> None:
    since = (await store.list(Volume)).resource_version
    for resource in (a_setting("a"), a_backup("b"), a_volume("c"), a_setting("d"), a_volume("e")):
        await store.create(resource)

    assert told(await take(store.watch(Volume, since=since), 2)) == [(Change.ADDED, "c"), (Change.ADDED, "e")]


async def test_a_watch_goes_on_behind_the_last_event_that_was_seen(store: ResourceStore) -> None:
    since = await version_now(store)
    for number in range(6):
        await store.create(a_backup(f"b{number}"))
    await store.delete(a_backup("b0").ref)
    await store.create(a_backup("b6"))
    whole = await take(store.watch(Backup, since=since), 8)

    for seen in range(1, 8):
        rest = await take(store.watch(Backup, since=whole[seen - 1].resource_version), 8 - seen)
        assert list(rest) == list(whole[seen:])


async def test_nothing_is_lost_and_nothing_comes_twice_under_many_writers(store: ResourceStore) -> None:
    since = await version_now(store)
    watchers = [asyncio.create_task(take(store.watch(Backup, since=since), 32 * 12)) for _ in range(3)]

    async def live(name: str) -> list[tuple[Change, str]]:
        backup = await store.create(a_backup(name))
        versions = [(Change.ADDED, backup.metadata.resource_version)]
        for count in range(1, 11):
            backup = await store.update_status(backup.with_status(warnings=count))
            versions.append((Change.MODIFIED, backup.metadata.resource_version))
        await store.delete(backup.ref)
        return versions

    lives = await asyncio.gather(*(live(f"b{number}") for number in range(32)))

    seen = [await watcher for watcher in watchers]
    assert seen[0] == seen[1] == seen[2]
    for number, written in enumerate(lives):
        events = [event for event in seen[0] if event.resource.name == f"b{number}"]
        assert [(event.change, event.resource_version) for event in events[:-1]] == written
        assert events[-1].change is Change.DELETED


async def test_a_list_and_a_watch_from_it_add_up_to_the_truth_at_any_time(store: ResourceStore) -> None:
    async def churn(number: int) -> None:
        for _ in range(5):
            created = await store.create(a_backup(f"b{number}"))
            await store.update_status(created.with_status(warnings=number))
            await store.delete(created.ref)
        await store.create(a_backup(f"b{number}"))

    churning = [asyncio.create_task(churn(number)) for number in range(16)]
    pages = [await store.list(Backup) for _ in range(10)]
    await asyncio.gather(*churning)
    end = await store.create(a_backup("end"))
    truth = {backup.name: backup for backup in (await store.list(Backup)).items}

    for page in pages:
        state = {backup.name: backup for backup in page.items}
        async for event in store.watch(Backup, since=page.resource_version):
            apply(event, state)
            if event.resource == end:
                break
        assert state == truth


def apply(event: Event, state: dict[str, Backup]) -> None:
    """As a client does; a change that does not fit to the state was lost or came twice."""
    assert isinstance(event.resource, Backup)
    assert (event.resource.name in state) == (event.change is not Change.ADDED)
    if event.change is Change.DELETED:
        del state[event.resource.name]
    else:
        state[event.resource.name] = event.resource


async def test_refused_writes_make_no_event(store: ResourceStore) -> None:
    old = await store.create(a_backup())
    new = await store.update_status(old.with_status(warnings=1))
    with pytest.raises(StaleVersion):
        await store.update_status(old.with_status(warnings=2))
    with pytest.raises(NotFound):
        await store.delete(a_backup("other").ref)
    end = await store.create(a_backup("end"))

    (event,) = await take(store.watch(Backup, since=new.metadata.resource_version), 1)

    assert event.resource == end


async def test_a_watch_from_a_version_that_is_no_longer_kept_has_expired(
    store: ResourceStore, more_than_is_kept: int
) -> None:
    before = await version_now(store)
    watch = store.watch(Backup, since=before)
    await store.create(a_backup())
    assert (await anext(watch)).change is Change.ADDED
    await asyncio.gather(*(store.create(a_backup(f"b{number}")) for number in range(more_than_is_kept)))

    with pytest.raises(WatchExpired):
        await take(store.watch(Backup, since=before), 1)
    # Also for one that stood still for too long.
    with pytest.raises(WatchExpired):
        await take(watch, 1)


async def test_changes_of_a_busy_kind_push_out_none_of_a_quiet_one(
    store: ResourceStore, more_than_is_kept: int
) -> None:
    before = await version_now(store)
    created = await store.create(a_backup())
    await asyncio.gather(*(store.create(a_setting(f"s{number}")) for number in range(more_than_is_kept)))

    (event,) = await take(store.watch(Backup, since=before), 1)

    assert event.resource == created


async def test_after_it_has_expired_a_watch_can_begin_again_from_a_list(
    store: ResourceStore, more_than_is_kept: int
) -> None:
    await asyncio.gather(*(store.create(a_setting(f"s{number}")) for number in range(more_than_is_kept)))
    await settle()  # a cache lists again
    page = await store.list(Setting, limit=1)

    created = await store.create(a_setting())

    (event,) = await take(store.watch(Setting, since=page.resource_version), 1)
    assert event.resource == created


async def test_what_is_not_a_version_is_refused(store: ResourceStore) -> None:
    with pytest.raises(InvalidInput):
        await take(store.watch(Backup, since="yesterday"), 1)


async def test_versions_are_equal_or_not_and_can_be_joined_with_commas_and_colons(store: ResourceStore) -> None:
    backup = await store.create(a_backup())
    versions = [backup.metadata.resource_version]
    for count in range(1, 40):
        backup = await store.update_status(backup.with_status(warnings=count))
        versions.append(backup.metadata.resource_version)

    assert len(set(versions)) == len(versions)
    assert all(re.fullmatch(r"[!-+\--9;-~]+", version) for version in [*versions, await version_now(store)])
    # The same change is of the same version wherever it is seen.
    assert (await store.get(Backup, backup.name)).metadata.resource_version == versions[-1]
    events = await take(store.watch(Backup, since=versions[0]), 39)
    assert [event.resource_version for event in events] == versions[1:]

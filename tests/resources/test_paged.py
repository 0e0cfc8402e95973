"""Rows in pages of a real store: nothing is lost or left over, whatever happens between two writes."""

import asyncio
from contextlib import suppress

import pytest

from tidegate.errors import DamagedMetadata, InvalidInput, NotFound, RetryableError, StaleVersion
from tidegate.model.backups.backup import Backup
from tidegate.model.kinds import KINDS
from tidegate.model.row_page import RowPage
from tidegate.resources.memory import MemoryStore
from tidegate.resources.paged import PagedStore
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.crashing_store import CrashingStore
from tidegate.testing.resources.put import put
from tidegate.testing.resources.resources import a_backup, beginning, take

ROWS = tuple(f"shop/{n}".ljust(1_000, "-") for n in range(200))
# The write of the backup itself comes behind them.
NEW_PAGES = 7
OTHER = ("other", *ROWS[1:-1], "another")


def with_rows(backup, *rows):
    return backup.with_status(gone_volumes=rows)


async def named_and_there(store):
    """The pages that all resources name, and those that are there."""
    stored = (await store.list(Backup)).items
    named = {
        name
        for backup in stored
        for ranges in (backup.status.row_pages or {}).values()
        for one in ranges
        for name in one.pages
    }
    return named, {page.name for page in (await store.list(RowPage)).items}


@pytest.fixture
def inner():
    return MemoryStore(clock=ManualClock(), new_id=counting_ids())


@pytest.fixture
def store(inner):
    return PagedStore(inner)


async def test_every_way_to_read_shows_the_rows(store, inner):
    made = await put(store, with_rows(a_backup(), *ROWS))

    assert made.status.gone_volumes == ROWS
    for fresh in (store, PagedStore(inner)):  # with what is remembered, and without
        assert await fresh.get(Backup, "nightly") == made
        assert (await fresh.list(Backup)).items == (made,)
        assert [event.resource for event in await take(fresh.watch(Backup, since=beginning(Backup)[Backup]), 2)][
            -1
        ] == made
    assert (await inner.get(Backup, "nightly")).status.gone_volumes == ()


async def test_rows_inside_an_old_status_are_read_and_move_at_the_next_write(store, inner):
    await put(inner, with_rows(a_backup(), *ROWS))
    old = await store.get(Backup, "nightly")
    assert old.status.gone_volumes == ROWS

    await store.update_status(old.with_status(warnings=1))

    assert (await inner.get(Backup, "nightly")).status.gone_volumes == ()
    assert (await PagedStore(inner).get(Backup, "nightly")).status.gone_volumes == ROWS


async def test_a_write_of_what_is_wanted_leaves_the_rows_alone(store, inner):
    made = await put(store, with_rows(a_backup(), *ROWS))
    before = await named_and_there(inner)

    changed = await store.update(made.with_spec(priority=1))
    cancelled = await store.cancel(made.ref)

    assert (changed.status, cancelled.status) == (made.status, made.status)
    assert await named_and_there(inner) == before


async def test_a_status_that_does_not_change_makes_no_event(store, inner):
    made = await put(store, with_rows(a_backup(), *ROWS))

    again = await store.update_status(with_rows(made, *ROWS))

    assert again == made
    assert (await inner.list(Backup)).resource_version == made.metadata.resource_version


async def test_a_stale_write_changes_nothing_and_leaves_nothing(store, inner):
    old = await put(store, with_rows(a_backup(), *ROWS))
    newer = await store.update(old.with_spec(priority=1))
    before = await named_and_there(inner)

    with pytest.raises(StaleVersion):
        await store.update_status(with_rows(old, *OTHER))

    assert await named_and_there(inner) == before
    assert await store.get(Backup, "nightly") == newer


async def test_a_write_is_stale_too_once_the_pages_that_it_knew_are_gone(store, inner):
    old = await put(store, with_rows(a_backup(), *ROWS))
    await store.update_status(with_rows(old, *OTHER))

    with pytest.raises(StaleVersion):
        await PagedStore(inner).update_status(with_rows(old, *ROWS[:50]))


async def test_of_two_that_write_the_same_at_once_one_succeeds_and_its_rows_stay(store, inner):
    old = await put(store, with_rows(a_backup(), *ROWS))

    first, second = await asyncio.gather(
        store.update_status(with_rows(old, *OTHER)),
        store.update_status(with_rows(old, *OTHER)),
        return_exceptions=True,
    )

    assert [type(first), type(second)].count(StaleVersion) == 1
    named, there = await named_and_there(inner)
    assert named == there
    assert (await PagedStore(inner).get(Backup, "nightly")).status.gone_volumes == OTHER


@pytest.mark.parametrize("writes", range(12))
async def test_after_a_crash_at_any_write_it_is_as_before_or_as_written(inner, writes):
    old = await put(PagedStore(inner), with_rows(a_backup(), *ROWS))

    with suppress(RetryableError):
        await PagedStore(CrashingStore(inner, writes)).update_status(with_rows(old, *reversed(ROWS)))

    after, rows = PagedStore(inner), ROWS[::-1] if writes > NEW_PAGES else ROWS
    assert (await after.get(Backup, "nightly")).status.gone_volumes == rows
    await after.remove_leftovers()
    named, there = await named_and_there(inner)
    assert named == there
    assert (await PagedStore(inner).get(Backup, "nightly")).status.gone_volumes == rows


async def test_the_pages_go_with_the_resource(store, inner):
    made = await put(store, with_rows(a_backup(finalizers=("a",)), *ROWS))
    await store.delete(made.ref)
    marked = await store.get(Backup, "nightly")
    assert marked.status.gone_volumes == ROWS

    last = await store.update(marked.with_metadata(finalizers=()))

    assert last.status.gone_volumes == ROWS
    assert await named_and_there(inner) == (set(), set())
    with pytest.raises(NotFound):
        await store.get(Backup, "nightly")


async def test_a_watcher_that_is_behind_sees_rows_that_were_true(inner):
    store = PagedStore(inner)
    first = await put(store, with_rows(a_backup(), *ROWS))
    second = await store.update_status(with_rows(first, *OTHER))
    await store.delete(second.ref)

    _, *seen = await take(PagedStore(inner).watch(Backup, since=beginning(Backup)[Backup]), 4)

    assert [event.change for event in seen] == ["MODIFIED", "MODIFIED", "DELETED"]
    assert all(event.resource.status.gone_volumes in {(), OTHER} for event in seen)


async def test_a_page_that_somebody_removed_is_damage_and_not_an_empty_list(inner):
    await put(PagedStore(inner), with_rows(a_backup(), *ROWS))
    page = (await inner.list(RowPage)).items[0]
    await inner.delete(page.ref)

    with pytest.raises(DamagedMetadata, match=page.name):
        await PagedStore(inner).get(Backup, "nightly")


async def test_rows_that_could_not_be_read_back_are_refused(store, inner):
    made = await store.create(a_backup())

    with pytest.raises(InvalidInput):
        await store.update_status(with_rows(made, *ROWS, 7))

    assert await named_and_there(inner) == (set(), set())


async def test_pages_survive_in_a_file(tmp_path):
    async def opened():
        return await SqliteStore.open(tmp_path / "state.db", clock=ManualClock(), new_id=counting_ids())

    file = await opened()
    made = await put(PagedStore(file), with_rows(a_backup(), *ROWS))
    await file.close()

    file = await opened()
    assert await PagedStore(file).get(Backup, "nightly") == made
    await file.close()


def test_pages_are_no_kind_that_clients_see():
    assert RowPage not in KINDS

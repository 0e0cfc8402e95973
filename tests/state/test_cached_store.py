"""CachedStore: own writes are seen at once, and older news never take the cache back."""

import asyncio
from collections import defaultdict
from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.errors import AlreadyExists, DamagedMetadata, NotFound, RetryableError, StaleVersion, StoreUnavailable
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.kinds import KINDS
from tidegate.model.resource import Ref
from tidegate.model.setting import Setting
from tidegate.ports.resource_store import Change
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.a_state import a_state, running_state
from tidegate.testing.resources.counting_store import CountingStore
from tidegate.testing.resources.resources import a_backup, a_setting

DONE = BackupPhase.COMPLETED


class Held(MemoryStore):
    """News stay away while the test holds them, answers too."""

    def __init__(self, **given):
        super().__init__(**given)
        self.flow, self.answers = asyncio.Event(), asyncio.Event()
        self.flow.set()
        self.answers.set()

    async def watch(self, kind, *, since):
        async for event in super().watch(kind, since=since):
            await self.flow.wait()
            yield event

    async def update_status(self, resource):
        answer = await super().update_status(resource)
        await self.answers.wait()
        return answer


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def behind(clock):
    return Held(clock=clock, new_id=counting_ids(), kept_events=8)


@pytest.fixture
async def state(behind, clock):
    async with running_state(behind, clock) as state:
        yield state


async def warnings_of(store, name="nightly"):
    return (await store.get(Backup, name)).status.warnings


async def test_an_own_write_is_read_before_its_news_and_older_news_do_not_undo_it(state, behind):
    backup = await state.store.create(a_backup())
    await settle()
    behind.flow.clear()
    other = await behind.update_status(backup.with_status(warnings=1))
    await state.store.update_status(other.with_status(warnings=2))
    assert await warnings_of(state.store) == 2

    behind.flow.set()
    seen = []
    for _ in range(20):
        await asyncio.sleep(0)
        seen.append(await warnings_of(state.store))

    assert set(seen) == {2}
    assert len(state.store.expectations(Backup)) == 0


async def test_what_others_write_behind_an_own_write_is_seen_when_its_news_come(state, behind):
    backup = await state.store.create(a_backup())
    behind.flow.clear()
    own = await state.store.update_status(backup.with_status(warnings=1))
    await behind.update_status(own.with_status(warnings=2))

    behind.flow.set()
    await settle()

    assert await warnings_of(state.store) == 2


async def test_an_answer_that_comes_behind_later_news_changes_nothing(state, behind):
    backup = await state.store.create(a_backup())
    await settle()
    behind.answers.clear()
    writing = asyncio.create_task(state.store.update_status(backup.with_status(warnings=1)))
    await settle()
    await behind.delete(backup.ref)
    await settle()
    behind.answers.set()
    await writing

    with pytest.raises(NotFound):
        await state.store.get(Backup, "nightly")
    assert len(state.store.expectations(Backup)) == 0


async def test_what_was_deleted_by_us_is_gone_at_once_and_a_namesake_is_another(state, behind):
    await state.store.create(a_backup())
    await settle()
    behind.flow.clear()
    await state.store.delete(Ref("Backup", "nightly"))
    with pytest.raises(NotFound):
        await state.store.get(Backup, "nightly")
    namesake = await state.store.create(a_backup())

    behind.flow.set()
    await settle()

    assert await state.store.get(Backup, "nightly") == namesake


async def test_a_write_that_changes_nothing_waits_for_no_news(state):
    backup = await state.store.create(a_backup())
    await settle()

    assert await state.store.update_status(backup) == backup
    assert len(state.store.expectations(Backup)) == 0


async def test_a_list_in_between_is_never_taken_for_older_than_it_is(state, behind, clock):
    """The watch expires while a write is open: the list may show the write, or what came behind it."""
    backup = await state.store.create(a_backup())
    await settle()
    behind.flow.clear()
    behind.answers.clear()
    writing = asyncio.create_task(state.store.update_status(backup.with_status(warnings=1)))
    await settle()
    for number in range(20):  # more than is kept
        await behind.create(a_backup(f"b{number}"))
    behind.flow.set()
    await settle()
    await clock.advance(timedelta(seconds=2))
    behind.answers.set()
    await writing
    await settle()

    assert await warnings_of(state.store) == 1
    assert len(state.store.expectations(Backup)) == 0
    assert len(state.store.cache(Backup)) == 21


class Silent(MemoryStore):
    """Does what it is asked, and says that it could not."""

    fails = False

    async def update_status(self, resource):
        answer = await super().update_status(resource)
        if self.fails:
            raise RetryableError("no answer came")
        return answer


async def test_a_write_without_an_answer_is_looked_at_before_anything_is_decided(clock):
    behind = Silent(clock=clock, new_id=counting_ids())
    async with running_state(behind, clock) as state:
        backup = await state.store.create(a_backup())
        behind.fails = True
        with pytest.raises(RetryableError):
            await state.store.update_status(backup.with_status(warnings=1))

        await state.store.settle()

        assert await warnings_of(state.store) == 1


async def test_until_a_kind_was_listed_reads_go_to_the_store(clock):
    behind = MemoryStore(clock=clock, new_id=counting_ids())
    stored = await behind.create(a_backup())
    state = a_state(behind, clock)

    assert await state.store.get(Backup, "nightly") == stored
    assert (await state.store.list(Backup)).items == (stored,)


class PartlyDamaged(MemoryStore):
    async def list(self, kind, **options):
        if kind is Setting:
            raise DamagedMetadata("Setting 'x' is damaged in the server's database")
        return await super().list(kind, **options)


async def test_a_kind_that_cannot_be_read_is_never_taken_for_empty_and_stops_no_other(clock):
    behind = PartlyDamaged(clock=clock, new_id=counting_ids())
    stored = await behind.create(a_backup())
    async with running_state(behind, clock) as state:
        assert state.unread == ["settings"]
        assert (await state.store.list(Backup)).items == (stored,)
        with pytest.raises(DamagedMetadata):
            await state.store.list(Setting)


class Away(MemoryStore):
    away = False

    async def list(self, kind, **options):
        if self.away:
            raise StoreUnavailable("no answer")
        return await super().list(kind, **options)


async def test_while_the_store_is_away_the_cache_stays_as_it_was(clock):
    behind = Away(clock=clock, new_id=counting_ids(), kept_events=2)
    async with running_state(behind, clock) as state:
        await behind.create(a_backup("b"))
        await settle()
        behind.away = True
        for number in range(5):  # more than is kept: the watch expires, and the list fails
            await behind.create(a_backup(f"later-{number}"))
        await settle()
        await clock.advance(timedelta(seconds=5))
        assert (await state.store.get(Backup, "b")).name == "b"

        behind.away = False
        await clock.advance(timedelta(minutes=2))
        await settle()

        assert len((await state.store.list(Backup)).items) == 6


async def test_every_kind_is_listed_once_and_reads_ask_the_store_for_nothing(clock):
    behind = CountingStore(clock=clock, new_id=counting_ids())
    async with running_state(behind, clock) as state:
        backup = await state.store.create(a_backup())
        await state.store.update_status(backup.with_status(phase=DONE))
        for kind in KINDS:
            await state.store.list(kind)
        await state.store.get(Backup, "nightly")

        assert (behind.asked["list"], behind.asked["get"]) == (len(KINDS), 0)


async def test_what_is_over_is_read_back_as_it_was(clock):
    behind = MemoryStore(clock=clock, new_id=counting_ids())
    async with running_state(behind, clock) as state:
        backup = await state.store.create(a_backup(labels={"team": "web"}))
        over = await state.store.update_status(backup.with_status(phase=DONE, warnings=3))

        assert await state.store.get(Backup, "nightly") == over
        assert list(state.store.cache(Backup)) == [over]


async def test_listeners_hear_of_each_change_once_and_tables_fit_the_cache(state, behind):
    heard = []
    state.store.listeners.append(lambda change, resource: heard.append((change, resource.name)))
    backup = await state.store.create(a_backup())
    await state.store.update_status(backup.with_status(phase=BackupPhase.QUEUED, queue_ticket=1))
    assert state.queue.position("nightly") == 1
    await state.store.delete(backup.ref)
    assert state.queue.position("nightly") is None
    await settle()

    assert heard == [(Change.ADDED, "nightly"), (Change.MODIFIED, "nightly"), (Change.DELETED, "nightly")]


NAMES = ("a", "b", "c")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["own", "other", "own delete", "other delete", "hold", "flow", "turn", "many"]),
        st.sampled_from(NAMES),
    ),
    max_size=60,
)


@given(steps=STEPS)
@settings(max_examples=150, deadline=None)
def test_whatever_happens_in_whatever_order_the_cache_is_what_is_stored_and_never_goes_back(steps):
    asyncio.run(_live(steps))


async def _live(steps):
    clock = ManualClock()
    behind = Held(clock=clock, new_id=counting_ids(), kept_events=4)
    async with running_state(behind, clock) as state:
        newest = defaultdict(int)
        for number, (step, name) in enumerate(steps):
            await _take((step, name, number), state.store, behind, newest)
            await _check(state.store, newest)
        behind.flow.set()
        for _ in range(3):
            await settle(50)
            await clock.advance(timedelta(minutes=2))
        assert list(state.store.cache(Setting)) == list((await behind.list(Setting)).items)
        assert list(state.store.cache(Backup)) == list((await behind.list(Backup)).items)
        assert len(state.store.expectations(Backup)) == 0


async def _take(what, cached, behind, newest):
    step, name, number = what
    match step:
        case "own" | "other":
            await _write(cached if step == "own" else behind, name, number, newest, own=step == "own")
        case "own delete" | "other delete":
            with suppress(NotFound):
                await (cached if step == "own delete" else behind).delete(Ref("Backup", name))
            newest.pop(name, None)
        case "hold":
            behind.flow.clear()
        case "flow":
            behind.flow.set()
        case "turn":
            await asyncio.sleep(0)
        case "many":
            for extra in range(6):
                await behind.create(a_setting(f"s{number}-{extra}"))


async def _write(store, name, number, newest, *, own):
    try:
        current = await store.get(Backup, name)
    except NotFound:
        try:
            current = await store.create(a_backup(name))
        except AlreadyExists:
            return
    try:
        await store.update_status(current.with_status(warnings=number))
    except (StaleVersion, NotFound):
        return
    if own:
        newest[name] = number


async def _check(cached, newest):
    for name, number in newest.items():
        try:
            seen = (await cached.get(Backup, name)).status.warnings
        except NotFound:
            continue  # others have deleted it
        assert seen >= number, "a read went back behind an own write"

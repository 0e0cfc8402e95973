"""A store that lists late, and clients that die in it."""

import asyncio
import contextlib
from dataclasses import replace
from datetime import timedelta

import pytest

from tidegate.datapath.locks import SETTLE_SECONDS
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import TidegateError
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench, no_wait
from tidegate.testing.stores.faulty_objects import FaultyObjects
from tidegate.testing.stores.late_objects import Lateness, LateObjects

VOLUME = "shop.db"
LETTERS = {"backup-1": "AB", "backup-2": "BC", "backup-3": "ACD"}
MOST_WRITES = 40


class LateStore:
    """Listings are as late as the wait for a lock allows. Waiting lets time pass, as it does for everybody."""

    def __init__(self, path):
        self.path = path
        self.clock = ManualClock()
        self.store = MemoryObjects(self.clock)
        self.lateness = Lateness(self.clock, timedelta(seconds=SETTLE_SECONDS))
        self.done = set()

    def bench(self, *, dies_after_writes=None):
        objects = FaultyObjects(LateObjects(self.store, self.lateness), dies_after_writes=dies_after_writes)
        bench = MoverBench(objects, clock=self.clock)
        bench.shop = replace(bench.shop, wait=self.wait)
        return bench

    def wait(self, seconds, stop):
        if seconds < 60:
            asyncio.run(self.clock.advance(timedelta(seconds=seconds)))
        return no_wait(seconds, stop)

    def upload(self, name, **options):
        self.bench(**options).upload(self.path / name, name)
        self.done.add(name)

    def remove(self, *names, **options):
        self.done.difference_update(names)
        self.bench(**options).remove(*names)


@pytest.fixture
def new_store(tmp_path, blocks_of):
    """A function that makes one with the first two backups."""
    for name, letters in LETTERS.items():
        (tmp_path / name).write_bytes(b"".join(blocks_of(letters).values()))

    def make():
        store = LateStore(tmp_path)
        for name in ("backup-1", "backup-2"):
            store.upload(name)
        return store

    return make


def test_a_listing_is_late_for_others_and_never_for_oneself():
    clock = ManualClock()
    lateness = Lateness(clock, timedelta(seconds=2))
    inner = MemoryObjects(clock)
    one, other = LateObjects(inner, lateness), LateObjects(inner, lateness)
    one.put("a/old", b"1")
    asyncio.run(clock.advance(timedelta(seconds=3)))
    one.put("a/new", b"1")
    one.delete("a/old")

    assert [info.key for info in one.list_level("a").objects] == ["a/new"]
    assert [info.key for info in other.list_level("a").objects] == ["a/old"]
    assert other.get("a/new", at_most=1) == b"1"
    asyncio.run(clock.advance(timedelta(seconds=3)))
    assert [info.key for info in other.list_level("a").objects] == ["a/new"]


DEADLY = {
    "upload": lambda store, writes: store.upload("backup-3", dies_after_writes=writes),
    "removal": lambda store, writes: store.remove("backup-1", dies_after_writes=writes),
}
NEXT = {
    "the same upload": lambda store: store.upload("backup-3"),
    "a removal": lambda store: store.remove("backup-2"),
    "a clean-up": lambda store: store.remove(),
}


def die(work):
    """Whether the work died; it may also have been done."""
    try:
        work()
    except RuntimeError as error:
        assert "ProcessDied" in str(error)  # noqa: PT017  anything else is the failure looked for
        return True
    return False


@pytest.mark.parametrize("following", NEXT)
@pytest.mark.parametrize("deadly", DEADLY)
def test_who_comes_right_after_a_death_in_a_store_that_lists_late_loses_nothing(
    new_store, assert_whole, deadly, following
):
    for writes in range(MOST_WRITES):
        store = new_store()
        died = die(lambda store=store, writes=writes: DEADLY[deadly](store, writes))
        with contextlib.suppress(TidegateError):
            NEXT[following](store)
        assert_whole(store.store, LETTERS, store.done)
        asyncio.run(store.clock.advance(timedelta(minutes=10)))
        NEXT[following](store)
        assert_whole(store.store, LETTERS, store.done)
        if not died:
            return
    pytest.fail("the work never ended")


def test_a_removal_that_still_sees_what_another_client_removed_stops_and_succeeds_when_repeated(
    new_store, assert_whole
):
    store = new_store()
    store.upload("backup-3")
    asyncio.run(store.clock.advance(timedelta(minutes=1)))
    StoredVolume(LateObjects(store.store, store.lateness), VOLUME).delete_backup_cfg("backup-3")
    late = MoverBench(LateObjects(store.store, store.lateness), clock=store.clock)

    with pytest.raises(TidegateError):
        late.remove("backup-1")
    assert_whole(store.store, LETTERS, {"backup-2"})
    asyncio.run(store.clock.advance(timedelta(minutes=1)))
    late.remove("backup-1")
    assert_whole(store.store, LETTERS, {"backup-2"})


def test_who_is_alone_in_a_store_that_lists_late_is_not_disturbed(new_store):
    store = new_store()
    store.remove("backup-1", "backup-2")

    assert not StoredVolume(store.store, VOLUME).backup_names()
    assert not list(StoredVolume(store.store, VOLUME).block_sizes())

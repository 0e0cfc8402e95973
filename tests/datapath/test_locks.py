"""Who may work on a volume, and who must wait."""

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from tidegate.datapath.locks import REFRESH_SECONDS, SeenLock, VolumeLock, lock_in_the_way
from tidegate.errors import NotFound, StoreLocked, StoreLockHeld, StoreUnavailable, WorkCancelled
from tidegate.format.cfgs.lock_file import LockFile, LockType
from tidegate.format.cfgs.paths import lock_key, locks_dir
from tidegate.model.transfers.mover_job import LockKnowledge, RemoveJob
from tidegate.testing.clock import BEGINNING, ManualClock
from tidegate.testing.mover_bench import TARGET, no_wait
from tidegate.testing.stores.faulty_objects import FaultyObjects

BACKUP, DELETION = LockType.BACKUP_OR_RESTORE, LockType.DELETION
FOREIGN = lock_key("vol", "lock-aaaaaaaaaaaaaaaa")


def lock(bench, lock_type=BACKUP, **changes):
    shop = replace(bench.shop, **changes)
    return VolumeLock(bench.objects, "vol", lock_type, shop=shop, cancelled=bench.cancelled)


def put_foreign(store, lock_type, *, acquired=True):
    store.put(FOREIGN, LockFile("lock-aaaaaaaaaaaaaaaa", lock_type, acquired).encode())


def lock_files(store):
    return [LockFile.decode(store.get(info.key, at_most=999)) for info in store.list_level(locks_dir("vol")).objects]


def pass_time(clock, seconds):
    asyncio.run(clock.advance(timedelta(seconds=seconds)))


def test_a_lock_is_seen_while_it_is_held_and_gone_afterwards(bench, store):
    with lock(bench):
        (held,) = lock_files(store)
        assert (held.type, held.acquired, len(held.name)) == (BACKUP, True, len("lock-") + 16)
    assert lock_files(store) == []


class ListsLate(FaultyObjects):
    """A store whose listings may not show yet what somebody else has put."""

    lists_at_once = False


class Slow(FaultyObjects):
    """A store in which somebody else could wait and look while we still write: each put takes a second."""

    def __init__(self, inner, clock):
        super().__init__(inner)
        self._clock = clock

    def put(self, key, body, *, lazily=False):
        super().put(key, body, lazily=lazily)
        pass_time(self._clock, 1)


def waits_for(bench, store):
    """(seconds, which locks were acquired) of each wait on the way to the lock."""
    waits = []

    def wait(seconds, stop):
        waits.append((seconds, [file.acquired for file in lock_files(store)]))
        return no_wait(seconds, stop)

    with lock(bench, wait=wait):
        return [wait for wait in waits if wait[0] < 60]


def test_before_it_is_acquired_a_lock_is_pending_for_two_seconds(bench, store):
    bench.objects = ListsLate(store)

    assert waits_for(bench, store) == [(2.0, [False])]


def test_who_is_alone_in_a_store_that_lists_at_once_does_not_wait(bench, store):
    assert waits_for(bench, store) == []


def test_who_is_not_alone_waits_two_seconds(bench, store):
    put_foreign(store, BACKUP)

    assert [seconds for seconds, _ in waits_for(bench, store)] == [2.0]


def test_who_was_too_slow_to_be_seen_lines_up_again(bench, store, clock):
    bench.objects = Slow(store, clock)

    assert waits_for(bench, store) == [(2.0, [False])]


def test_work_of_the_same_kind_is_shared(bench, store):
    put_foreign(store, BACKUP)

    with lock(bench, BACKUP), lock(bench, BACKUP):
        assert len(lock_files(store)) == 3


@pytest.mark.parametrize(("mine", "theirs"), [(BACKUP, DELETION), (DELETION, BACKUP)])
@pytest.mark.parametrize("acquired", [True, False])
def test_work_of_another_kind_that_came_first_is_in_the_way(bench, store, mine, theirs, acquired):
    put_foreign(store, theirs, acquired=acquired)
    pass_time(bench.clock, 1)

    with pytest.raises(StoreLocked, match="please try again later"), lock(bench, mine):
        pass
    assert [file.name for file in lock_files(store)] == ["lock-aaaaaaaaaaaaaaaa"]


def test_a_lock_that_nobody_refreshed_is_dead(bench, store, clock):
    put_foreign(store, DELETION)
    pass_time(clock, 151)

    with lock(bench, BACKUP):
        assert len(lock_files(store)) == 2


class Ahead(FaultyObjects):
    """A store that tells of one lock that it was written in an hour: somebody set a clock."""

    ahead = timedelta(hours=1)

    def list_level(self, prefix):
        level = super().list_level(prefix)
        found = tuple(
            replace(info, modified_at=info.modified_at + self.ahead) if info.key == FOREIGN else info
            for info in level.objects
        )
        return replace(level, objects=found)


def known(bench, **knowledge):
    return VolumeLock(
        bench.objects,
        "vol",
        BACKUP,
        shop=bench.shop,
        cancelled=bench.cancelled,
        patient=False,
        known=LockKnowledge(**knowledge),
    )


def test_a_lock_from_the_future_expires_like_any_other(bench, store, clock):
    put_foreign(store, DELETION)
    bench.objects = Ahead(store)
    waited = []

    def wait(seconds, stop):
        if seconds < REFRESH_SECONDS:
            waited.append(seconds)
            pass_time(clock, seconds)
        return no_wait(seconds, stop)

    with lock(bench, wait=wait):
        assert 150 <= sum(waited) < 200


def test_a_lock_from_the_future_that_is_refreshed_is_alive(bench, store, clock):
    bench.objects = Ahead(store)

    def wait(seconds, stop):
        put_foreign(store, DELETION)
        pass_time(clock, seconds)
        return no_wait(seconds, stop)

    put_foreign(store, DELETION)
    with pytest.raises(StoreLockHeld), lock(bench, wait=wait):
        pass


def test_who_has_a_slot_does_not_wait_and_tells_which_lock_is_in_the_way(bench, store):
    put_foreign(store, DELETION)

    with pytest.raises(StoreLockHeld) as held, known(bench):
        pass

    assert held.value.lock.startswith("lock-aaaaaaaaaaaaaaaa ")
    with known(bench, stale_locks=(held.value.lock,)):
        pass
    pass_time(bench.clock, 1)
    put_foreign(store, DELETION)  # it was alive after all
    with pytest.raises(StoreLockHeld), known(bench, stale_locks=(held.value.lock,)):
        pass


def test_the_lock_of_a_mover_that_was_seen_to_end_is_dropped_at_once_and_no_other(bench, store):
    put_foreign(store, DELETION)
    other = lock_key("vol", "lock-bbbbbbbbbbbbbbbb")
    store.put(other, LockFile("lock-bbbbbbbbbbbbbbbb", BACKUP, acquired=True).encode())

    with known(bench, lock="lock-cccccccccccccccc", dead_locks=("lock-aaaaaaaaaaaaaaaa",)):
        assert {file.name[5] for file in lock_files(store)} == {"b", "c"}
    assert [file.name for file in lock_files(store)] == ["lock-bbbbbbbbbbbbbbbb"]


def test_dead_locks_can_be_dropped_without_any_other_work(bench, store):
    put_foreign(store, DELETION)
    job = RemoveJob(target=TARGET, store_volume="vol", store_backups=(), only_dead_locks=True)

    bench.do(job.replace(dead_locks=("lock-aaaaaaaaaaaaaaaa",)))

    assert lock_files(store) == []


def test_a_lock_that_cannot_be_read_counts_as_long_as_it_is_fresh(bench, store, clock):
    store.put(FOREIGN, b"{broken")

    with pytest.raises(StoreLocked), lock(bench):
        pass
    pass_time(clock, 200)
    with lock(bench):
        pass


def test_who_waits_gets_the_lock_as_soon_as_the_other_is_done(bench, store):
    put_foreign(store, DELETION)
    reasons = []

    def wait(seconds, stop):
        if reasons:
            store.delete(FOREIGN)
        return no_wait(seconds, stop)

    waiting = lock(bench, BACKUP, wait=wait)
    waiting._on_wait = reasons.append
    with waiting:
        assert len(reasons) == 1
        assert "deletes from volume vol" in reasons[0]


def test_waiting_for_a_lock_can_be_cancelled(bench, store):
    put_foreign(store, DELETION)
    bench.cancelled.set()

    with pytest.raises(WorkCancelled), lock(bench):
        pass
    assert len(lock_files(store)) == 1


def test_a_failed_look_at_the_locks_is_not_an_empty_look(bench, store):
    bench.objects = FaultyObjects(store)
    bench.objects.fail("list_level", StoreUnavailable("away"))

    with pytest.raises(StoreUnavailable), lock(bench):
        pass
    assert lock_files(store) == []


def test_a_held_lock_is_refreshed(bench, store, clock):
    refreshed = threading.Event()
    minutes = iter([False, True])

    def wait(seconds, stop):
        if seconds < 60:
            return False
        if next(minutes):
            refreshed.set()
            return stop.wait()
        pass_time(clock, seconds)
        return False

    with lock(bench, wait=wait) as held:
        assert refreshed.wait(10)
        (info,) = store.list_level(locks_dir("vol")).objects
        assert info.modified_at == BEGINNING + timedelta(seconds=60)
        held.check()


def test_a_lock_that_could_not_be_refreshed_for_long_is_not_believed_in(bench, clock):
    with lock(bench) as held:
        held.check()
        pass_time(clock, 130)
        with pytest.raises(StoreLocked, match="may be lost"):
            held.check()


def test_a_machine_that_slept_learns_from_the_store_that_its_lock_was_lost(bench, clock):
    awake = clock.monotonic()
    slept = ManualClock()
    slept.monotonic = lambda: awake  # a clock that does not run while the machine sleeps

    with lock(bench, clock=slept) as held:
        pass_time(clock, 151)
        held.check()
        with pytest.raises(StoreLocked, match="was lost"):
            held.confirm()


def test_a_lock_that_somebody_cleared_away_is_lost_and_not_written_again(bench, store):
    with lock(bench) as held:
        held.confirm()
        (mine,) = lock_files(store)
        store.delete(lock_key("vol", mine.name))
        with pytest.raises(StoreLocked, match="was lost"):
            held.confirm()
        assert lock_files(store) == []


def test_a_lock_that_cannot_be_withdrawn_does_not_hide_how_the_work_went(bench, store):
    bench.objects = FaultyObjects(store)
    bench.objects.fail("delete", StoreUnavailable("away"))

    with lock(bench):
        pass
    with pytest.raises(NotFound):
        store.head(FOREIGN)


def seen(name, lock_type, *, acquired, age):
    return SeenLock(name, lock_type, acquired, BEGINNING - timedelta(seconds=age))


@pytest.mark.parametrize(
    ("other", "in_the_way"),
    [
        (seen("lock-b", DELETION, acquired=True, age=-5), True),
        (seen("lock-b", DELETION, acquired=False, age=9), True),
        (seen("lock-b", DELETION, acquired=False, age=1), False),
        (seen("lock-b", DELETION, acquired=False, age=2), False),
        (seen("lock-A", DELETION, acquired=False, age=2), True),
        (seen("lock-b", DELETION, acquired=True, age=150), True),
        (seen("lock-b", DELETION, acquired=True, age=151), False),
        (seen("lock-b", BACKUP, acquired=True, age=9), False),
        (seen("lock-b", None, acquired=True, age=9), True),
    ],
)
def test_acquired_comes_before_pending_then_older_then_by_name(other, in_the_way):
    mine = seen("lock-a", BACKUP, acquired=False, age=2)

    assert lock_in_the_way(mine, [other], now=BEGINNING) == (other if in_the_way else None)

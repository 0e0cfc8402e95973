"""Bandwidth: measured by a clock that moves when told, and once by a real transfer."""

import random
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.app.machine.clock import SystemClock
from tidegate.errors import WorkCancelled
from tidegate.format.cfgs.paths import block_key, lock_key, volume_cfg_key
from tidegate.objects.bandwidth import Bandwidth, Line
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.memory import MemoryObjects
from tidegate.ports.object_store import KeepsUnfinished
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench

MIB = 1024 * 1024
NEVER = threading.Event()
BLOCK, LARGE = block_key("vol", "ab" * 32), block_key("vol", "cd" * 32)


class PassingTime:
    """Waiting is what lets time pass: for tests of one thread."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def wait(self, seconds, stop):
        self.now += seconds
        return stop.is_set()


class HeldTime(PassingTime):
    """Time passes when the test says so; it knows how many threads wait for it."""

    def __init__(self):
        super().__init__()
        self._changed = threading.Condition()
        self._waiting = 0

    def wait(self, seconds, stop):
        with self._changed:
            due = self.now + seconds
            self._waiting += 1
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self.now >= due or stop.is_set(), timeout=10)
            self._waiting -= 1
        return stop.is_set()

    def until_waiting(self, threads):
        with self._changed:
            assert self._changed.wait_for(lambda: self._waiting == threads, timeout=10)

    def advance(self, seconds):
        with self._changed:
            self.now += seconds
            self._changed.notify_all()


@pytest.fixture
def passing():
    return PassingTime()


def limited(time_source, inner, *, upload=None, download=None, stop=NEVER):
    bandwidth = Bandwidth(time_source.monotonic, time_source.wait)
    bandwidth.set(upload=upload, download=download)
    return bandwidth.limited(inner, stop)


def test_without_a_limit_nobody_waits(passing):
    store = limited(passing, MemoryObjects(ManualClock()))
    for _ in range(100):
        store.put(BLOCK, bytes(MIB))
        store.get(BLOCK, at_most=2 * MIB)

    assert passing.now == 0


@pytest.mark.parametrize("direction", ["upload", "download"])
def test_bytes_take_the_time_that_the_limit_asks_for(passing, direction):
    inner = MemoryObjects(ManualClock())
    inner.put(BLOCK, random.Random(1).randbytes(MIB))
    store = limited(passing, inner, **{direction: 4 * MIB})
    for _ in range(40):
        if direction == "upload":
            store.put(BLOCK, bytes(MIB))
        else:
            store.get(BLOCK, at_most=2 * MIB)

    assert passing.now == pytest.approx(10, rel=0.06)


@given(
    rate=st.integers(64 * 1024, 10**9),
    steps=st.lists(st.tuples(st.integers(1, 20 * MIB), st.floats(0, 30)), min_size=1, max_size=30),
)
def test_after_any_rest_no_more_passes_than_the_limit_and_half_a_second_of_it(rate, steps):
    passing = PassingTime()
    line = Line(passing.monotonic, passing.wait)
    line.set(rate)
    gone = []
    for count, rest in steps:
        line.take(count, NEVER)
        gone.append((passing.now, count))
        passing.now += rest

    for first in range(len(gone)):
        stretch = gone[first:]
        # What went at the beginning of a stretch was paid for before it.
        after = sum(count for _, count in stretch[1:])
        assert after <= rate * (stretch[-1][0] - stretch[0][0] + 0.5) * 1.001 + 1


def test_a_limit_that_changes_is_felt_by_those_who_wait(passing):
    def wait(seconds, stop):
        if passing.now > 10:
            line.set(64 * MIB)
        return passing.wait(seconds, stop)

    line = Line(passing.monotonic, wait)
    line.set(64 * 1024)
    line.take(64 * MIB, NEVER)

    assert 10 < passing.now < 12


def test_who_asks_first_goes_first_however_much_it_is():
    held = HeldTime()
    line = Line(held.monotonic, held.wait)
    line.set(MIB)
    order = []

    def ask(name, count):
        line.take(count, NEVER)
        order.append(name)

    large = threading.Thread(target=ask, args=("large", 4 * MIB))
    small = threading.Thread(target=ask, args=("small", 1024))
    large.start()
    held.until_waiting(1)
    small.start()
    held.until_waiting(2)
    held.advance(4)
    large.join(10)
    assert order == ["large"]
    held.advance(1)
    small.join(10)

    assert order == ["large", "small"]


def test_who_is_cancelled_stops_waiting_and_others_do_not_pay_for_it():
    passing, stop = PassingTime(), threading.Event()
    stop.set()
    line = Line(passing.monotonic, passing.wait)
    line.set(MIB)

    with pytest.raises(WorkCancelled):
        line.take(1000 * MIB, stop)
    line.take(MIB, NEVER)

    assert passing.now < 2


def test_a_lock_is_counted_and_never_waits(passing):
    store = limited(passing, MemoryObjects(ManualClock()), upload=64 * 1024)
    store.put(lock_key("vol", "lock-1"), bytes(MIB))
    assert passing.now == 0

    store.put(volume_cfg_key("vol"), b"cfg")
    assert passing.now == pytest.approx(16, rel=0.1)


def test_what_turned_out_smaller_lets_the_next_one_go_sooner(passing):
    inner = MemoryObjects(ManualClock())
    inner.put(BLOCK, b"small")
    inner.put(LARGE, bytes(4 * MIB))
    store = limited(passing, inner, download=MIB)
    store.get(LARGE, at_most=8 * MIB)
    for _ in range(9):
        store.get(BLOCK, at_most=8 * MIB)

    assert passing.now == pytest.approx(8, abs=0.1), "one more is taken for a large one, none after it"


def test_the_first_block_is_paid_for_by_what_really_came(passing):
    inner = MemoryObjects(ManualClock())
    inner.put(BLOCK, b"small")
    inner.put(LARGE, bytes(2 * MIB))
    store = limited(passing, inner, download=64 * 1024)
    store.get(BLOCK, at_most=8 * MIB)
    assert passing.now == pytest.approx(0, abs=0.01), "five bytes take no time"

    other = limited(passing, inner, download=64 * 1024)
    other.get(LARGE, at_most=8 * MIB)
    assert passing.now == pytest.approx(32, abs=1)


class Crowded(MemoryObjects):
    """While the first object comes, another thread asks for it too."""

    def __init__(self):
        super().__init__(ManualClock())
        self.calls = 0
        self.second = threading.Event()

    def get(self, key, *, at_most):
        self.calls += 1
        if self.calls > 1:
            self.second.set()
            return super().get(key, at_most=at_most)
        self.other = threading.Thread(target=self.ask)
        self.other.start()
        assert not self.second.wait(0.05), "nobody knows yet how much that would be"
        return super().get(key, at_most=at_most)


def test_who_asks_for_a_block_meanwhile_waits_for_the_size_of_the_first_one(passing):
    inner = Crowded()
    inner.put(BLOCK, b"small")
    store = limited(passing, inner, download=MIB)
    inner.ask = lambda: store.get(BLOCK, at_most=8 * MIB)

    assert store.get(BLOCK, at_most=8 * MIB) == b"small"
    assert inner.second.wait(10)
    inner.other.join(10)


def test_a_store_of_files_still_tells_of_half_objects(tmp_path, passing):
    assert isinstance(limited(passing, DirectoryObjects(str(tmp_path))), KeepsUnfinished)
    assert not isinstance(limited(passing, MemoryObjects(ManualClock())), KeepsUnfinished)


class StoppedWatch(DirectoryObjects):
    """A real directory that notes when each block came, and tells how many there are."""

    def __init__(self, root, heard):
        super().__init__(root)
        self._heard = heard
        self.came = []

    def put_if_absent(self, key, body, *, lazily=False):
        if key.endswith(".blk"):
            self.came.append(SystemClock().monotonic())
            self._heard(len(self.came))
        return super().put_if_absent(key, body, lazily=lazily)


def test_a_real_upload_becomes_faster_when_its_limit_is_raised_on_the_way(tmp_path):
    bandwidth = Bandwidth(SystemClock().monotonic)

    def faster_after_the_first(blocks):
        if blocks == 1:
            bandwidth.set(upload=None, download=None)

    (tmp_path / "image").write_bytes(random.Random(1).randbytes(24 * MIB))
    (tmp_path / "store").mkdir()
    store = StoppedWatch(str(tmp_path / "store"), faster_after_the_first)
    bench = MoverBench(store, bandwidth=bandwidth)

    bench.upload(tmp_path / "image", upload_bytes_per_second=MIB)

    assert len(store.came) == 12
    # At the old rate the others would have taken 22 seconds.
    assert store.came[-1] - store.came[0] < 11

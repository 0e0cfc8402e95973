"""Every implementation of BandwidthLimits keeps the same promise."""

import threading

import pytest

from tidegate.errors import WorkCancelled
from tidegate.format.cfgs.paths import block_key
from tidegate.objects.bandwidth import Bandwidth
from tidegate.objects.memory import MemoryObjects
from tidegate.ports.bandwidth import BandwidthLimits
from tidegate.testing.clock import ManualClock

RATE = 1000


class PassingTime:
    """Waiting is what lets time pass."""

    def __init__(self):
        self.now = 0.0
        self.on_wait = lambda: None

    def monotonic(self):
        return self.now

    def wait(self, seconds, stop):
        self.now += seconds
        self.on_wait()
        return stop.is_set()


IMPLEMENTATIONS: dict[type[BandwidthLimits], object] = {Bandwidth: lambda time: Bandwidth(time.monotonic, time.wait)}


@pytest.fixture
def time():
    return PassingTime()


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def limits(request, time):
    return IMPLEMENTATIONS[request.param](time)


@pytest.fixture
def inner():
    return MemoryObjects(ManualClock())


def block(number):
    return block_key("shop.db", f"{number:064x}")


def upload(store, count):
    for number in range(count):
        store.put(block(number), bytes(RATE))


def test_without_a_limit_no_time_passes(limits, inner, time):
    upload(limits.limited(inner, threading.Event()), 20)

    assert time.now == 0
    assert len(list(inner.list_all(""))) == 20


def test_uploads_keep_to_the_rate_and_downloads_to_theirs(limits, inner, time):
    store = limits.limited(inner, threading.Event())
    limits.set(upload=RATE, download=None)
    upload(store, 20)
    uploaded = time.now
    limits.set(upload=None, download=2 * RATE)
    for number in range(20):
        store.get(block(number), at_most=RATE)

    assert uploaded == pytest.approx(20, abs=1)
    assert time.now - uploaded == pytest.approx(10, abs=1)


def test_all_stores_share_one_limit(limits, inner, time):
    limits.set(upload=RATE, download=None)
    one, other = (limits.limited(inner, threading.Event()) for _ in range(2))

    upload(one, 10)
    upload(other, 10)

    assert time.now == pytest.approx(20, abs=1)


def test_a_new_limit_counts_for_one_that_waits_already(limits, inner, time):
    store = limits.limited(inner, threading.Event())
    limits.set(upload=1, download=None)
    time.on_wait = lambda: limits.set(upload=None, download=None)

    upload(store, 2)

    assert time.now < 5


def test_waiting_ends_soon_after_the_work_is_cancelled(limits, inner, time):
    stop = threading.Event()
    store = limits.limited(inner, stop)
    limits.set(upload=1, download=None)
    time.on_wait = stop.set

    with pytest.raises(WorkCancelled):
        upload(store, 2)
    assert time.now < 5

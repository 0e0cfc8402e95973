"""Every implementation of Clock keeps the same promise. Spans are short: the machine's clock is one of them."""

import asyncio
from datetime import timedelta

import pytest

from tidegate.app.machine.clock import SystemClock
from tidegate.ports.clock import Clock
from tidegate.testing.clock import ManualClock, RushingClock

SPAN = timedelta(milliseconds=20)


async def passes_by_itself(_clock):
    return


async def is_advanced(clock):
    await clock.advance(SPAN)


IMPLEMENTATIONS: dict[type[Clock], object] = {
    SystemClock: passes_by_itself,
    ManualClock: is_advanced,
    RushingClock: passes_by_itself,
}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def clock(request):
    return request.param()


def test_the_time_of_day_is_utc(clock):
    assert clock.now().utcoffset() == timedelta()


def test_monotonic_seconds_never_run_back(clock):
    looks = [clock.monotonic() for _ in range(100)]

    assert looks == sorted(looks)


async def test_a_sleep_ends_once_its_span_has_passed(clock):
    before, seconds = clock.now(), clock.monotonic()
    sleeping = asyncio.ensure_future(clock.sleep(SPAN))
    await asyncio.sleep(0)
    await IMPLEMENTATIONS[type(clock)](clock)

    async with asyncio.timeout(10):
        await sleeping

    # The two clocks of a machine tick apart by a little.
    assert clock.now() - before >= SPAN * 0.9
    assert clock.monotonic() - seconds >= SPAN.total_seconds() * 0.9


@pytest.mark.parametrize("delay", [timedelta(), -SPAN])
async def test_no_sleep_at_all_lets_other_tasks_run_once(clock, delay):
    ran = []

    async def other():
        ran.append("other")

    task = asyncio.ensure_future(other())
    await clock.sleep(delay)

    assert ran == ["other"]
    await task


async def test_a_sleep_can_be_cancelled(clock):
    sleeping = asyncio.ensure_future(clock.sleep(timedelta(days=1)))
    sleeping.cancel()

    with pytest.raises(asyncio.CancelledError):
        await sleeping

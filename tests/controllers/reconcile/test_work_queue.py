"""Keys in line: each once, never two workers on one."""

import asyncio
from datetime import timedelta
from random import Random

from tidegate.controllers.reconcile.work_queue import WorkQueue
from tidegate.model.backoff import Doubling
from tidegate.model.resource import Ref
from tidegate.state.backoff import Backoff
from tidegate.testing.clock import ManualClock, settle

A, B = Ref("Backup", "a"), Ref("Backup", "b")
SECOND = timedelta(seconds=1)


async def test_a_key_that_is_added_twice_is_taken_once():
    queue = WorkQueue(ManualClock())
    queue.add(A)
    queue.add(A)

    assert await queue.take() == A
    assert len(queue) == 0


async def test_keys_are_taken_in_the_order_in_which_they_came():
    queue = WorkQueue(ManualClock())
    for key in (A, B, A):
        queue.add(key)

    assert [await queue.take(), await queue.take()] == [A, B]


async def test_a_key_that_changes_while_it_is_worked_on_is_looked_at_again_afterwards():
    queue = WorkQueue(ManualClock())
    queue.add(A)
    await queue.take()
    queue.add(A)
    assert len(queue) == 0  # nobody else gets it now

    queue.done(A)

    assert await queue.take() == A


async def test_a_worker_waits_until_there_is_something():
    queue = WorkQueue(ManualClock())
    waiting = asyncio.create_task(queue.take())
    await settle()
    assert not waiting.done()

    queue.add(B)

    assert await waiting == B


async def test_a_delayed_key_comes_when_its_time_has_come_and_the_earlier_time_wins():
    clock = ManualClock()
    queue = WorkQueue(clock)
    queue.add_after(A, 10 * SECOND)
    queue.add_after(A, 2 * SECOND)
    queue.add_after(A, 5 * SECOND)
    await settle()

    await clock.advance(SECOND)
    assert len(queue) == 0
    await clock.advance(SECOND)

    assert await queue.take() == A
    queue.done(A)
    await clock.advance(60 * SECOND)
    assert len(queue) == 0


def test_the_wait_doubles_with_jitter_up_to_a_cap_and_is_forgotten_on_success():
    backoff = Backoff(Random(1), Doubling(first=SECOND, longest=8 * SECOND))
    spans = [1, 2, 4, 8, 8, 8]

    delays = [backoff.next_delay(A).total_seconds() for _ in spans]

    assert all(span / 2 <= delay <= span for span, delay in zip(spans, delays, strict=True))
    assert len(set(delays)) == len(delays)
    backoff.forget(A)
    assert backoff.next_delay(A) <= SECOND


def test_a_key_that_failed_a_thousand_times_is_still_tried():
    backoff = Backoff(Random(1))
    for _ in range(1000):
        delay = backoff.next_delay(A)

    assert delay <= timedelta(seconds=60)


async def test_many_delayed_keys_come_in_the_order_of_their_times_and_cost_one_timer():
    clock = ManualClock()
    queue = WorkQueue(clock)
    keys = [Ref("Backup", f"b{number:03}") for number in range(500)]
    for number, key in enumerate(keys):
        queue.add_after(key, (500 - number) * SECOND)
    await settle()
    assert len(asyncio.all_tasks()) <= 3

    await clock.advance(500 * SECOND)

    assert [await queue.take() for _ in keys] == list(reversed(keys))


async def test_a_key_that_was_looked_at_in_between_is_still_looked_at_when_it_is_due():
    clock = ManualClock()
    queue = WorkQueue(clock)
    queue.add_after(A, 10 * SECOND)
    queue.add(A)
    queue.done(await queue.take())

    await clock.advance(10 * SECOND)

    assert await queue.take() == A

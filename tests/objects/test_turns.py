"""Many questions at once on one event loop: never more than the store likes, and in the order of asking."""

import asyncio
import contextlib

import pytest

from tidegate.errors import StoreBusy
from tidegate.objects.remote_reader import _Turns


class Crowd:
    """Askers that hold their turn until they are told to end."""

    def __init__(self, most):
        self.turns = _Turns(most)
        self.begun = []
        self._ends = {}
        self._tasks = {}

    def ask(self, *names):
        for name in names:
            self._ends[name] = asyncio.get_running_loop().create_future()
            self._tasks[name] = asyncio.ensure_future(self._hold(name))

    async def _hold(self, name):
        async with self.turns.take():
            self.begun.append(name)
            await self._ends[name]

    async def end(self, *names):
        for name in names:
            self._ends[name].set_result(None)
        await asyncio.gather(*(self._tasks[name] for name in names))

    async def give_up(self, name):
        self._tasks[name].cancel()
        await asyncio.wait([self._tasks[name]])

    async def settle(self):
        for _ in range(10):
            await asyncio.sleep(0)


async def test_turns_are_given_in_the_order_of_asking_and_never_too_many():
    crowd = Crowd(2)
    crowd.ask(*"abcde")
    await crowd.settle()
    assert crowd.begun == ["a", "b"]

    await crowd.end("b")
    await crowd.settle()
    assert crowd.begun == ["a", "b", "c"]

    await crowd.end("a", "c")
    crowd.ask("f")
    await crowd.settle()
    assert crowd.begun == ["a", "b", "c", "d", "e"]
    await crowd.end("d", "e", "f")


async def test_who_comes_while_others_wait_does_not_go_first():
    crowd = Crowd(1)
    crowd.ask("a", "b")
    await crowd.settle()
    ending = asyncio.ensure_future(crowd.end("a"))
    crowd.ask("late")
    await ending
    await crowd.settle()

    assert crowd.begun == ["a", "b"]
    await crowd.end("b", "late")


@pytest.mark.parametrize("settled", [True, False], ids=["still waiting", "just given a turn"])
async def test_who_gives_up_keeps_no_turn(settled):
    crowd = Crowd(1)
    crowd.ask("a", "b", "c")
    await crowd.settle()
    if settled:
        await crowd.give_up("b")
        await crowd.end("a")
    else:
        crowd._ends["a"].set_result(None)
        await asyncio.sleep(0)  # a has ended and b has its turn, but b has not run yet
        await crowd.give_up("b")
    await crowd.settle()

    assert crowd.begun[-1] == "c"
    await crowd.end("c")
    assert crowd.turns._under_way == 0


async def test_a_store_that_is_busy_is_asked_less_and_everybody_still_comes_through():
    turns, done = _Turns(8), []

    async def ask(number):
        with contextlib.suppress(StoreBusy):
            async with turns.take():
                await asyncio.sleep(0)
                if number % 3 == 0:
                    raise StoreBusy("slow down")
        done.append(number)

    await asyncio.gather(*(ask(number) for number in range(60)))

    assert sorted(done) == list(range(60))
    assert turns._under_way == 0

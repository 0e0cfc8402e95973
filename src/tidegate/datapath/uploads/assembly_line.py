"""Crews that work side by side, each on what the one before it hands over.

What costs memory is bounded where it begins to exist: whoever makes a thing waits for its place first, and the place is
free again when the last one who needs the thing is done with it. So an upload never holds more than was planned,
however much quicker one crew is than the next.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class BrokenOff(Exception):
    """Somebody else on the line failed: whatever is still under way is not wanted any more."""


class Row(Iterator[T]):
    """What is to be done, shared by the threads of a crew: each item goes to one of them, in order."""

    def __init__(self, items: Iterable[T]) -> None:
        self._items = iter(items)
        self._lock = threading.Lock()
        self._broken = False

    def __next__(self) -> T:
        with self._lock:
            if self._broken:
                raise StopIteration
            return next(self._items)

    def break_off(self) -> None:
        """Nobody gets anything more."""
        self._broken = True


class Belt(Generic[T]):
    """What one crew hands to the next. Never more than `places` of them exist at once."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._items: deque[T] = deque()
        self._ended = False
        self._broken = False
        lock = threading.Lock()
        # Two conditions, so that one thing handed over wakes one thread and not the whole line.
        self._place_is_free = threading.Condition(lock)
        self._item_is_there = threading.Condition(lock)

    def claim(self) -> None:
        """Wait for the place of one thing that is about to be made. Raises BrokenOff."""
        with self._place_is_free:
            self._place_is_free.wait_for(lambda: self._broken or self._free)
            if self._broken:
                raise BrokenOff
            self._free -= 1
            if not self._free:
                self._item_is_there.notify_all()  # who waits for more than there are takes what there is

    def release(self) -> None:
        """The thing is used up, or there was none to make after all: its place is free."""
        with self._place_is_free:
            self._free += 1
            self._place_is_free.notify()

    def hand_over(self, item: T) -> None:
        """Give it to the next crew; its place stays taken."""
        with self._item_is_there:
            self._items.append(item)
            self._item_is_there.notify()

    def take(self, count: int) -> list[T]:
        """So many of them; fewer, but one at least, where there is no place for more before these are taken.

        None means that there will never be any more. Raises BrokenOff.
        """
        with self._item_is_there:
            self._item_is_there.wait_for(lambda: self._broken or self._ended or self._has(count))
            if self._broken:
                raise BrokenOff
            return [self._items.popleft() for _ in range(min(count, len(self._items)))]

    def _has(self, count: int) -> bool:
        return len(self._items) >= count or (bool(self._items) and not self._free)

    def end(self) -> None:
        """Nothing more is handed over; what lies here is still taken."""
        with self._item_is_there:
            self._ended = True
            self._item_is_there.notify_all()

    def break_off(self) -> None:
        """Nobody waits here any more, and nothing more is taken."""
        with self._item_is_there:
            self._broken = True
            self._items.clear()
            self._item_is_there.notify_all()
            self._place_is_free.notify_all()


@dataclass(frozen=True)
class Crew:
    """So many threads that each call `work` once; it returns when there is nothing left to take."""

    threads: int
    work: Callable[[], None]
    takes: Row[Any] | Belt[Any]
    feeds: Belt[Any] | None = None
    """Where it hands its things over. It ends once all of the crew have returned."""


def work_in_line(*crews: Crew) -> None:
    """Let all crews work, the first ones feeding those behind them. The first error breaks all off and is raised.

    What somebody has in hand is finished; nothing runs any more when this returns.
    """
    line = _Line(crews)
    try:
        line.work()
    finally:
        line.break_off()  # an interrupted wait leaves nobody waiting; where all have ended it changes nothing
    if line.errors:
        raise line.errors[0]


class _Line:
    def __init__(self, crews: Sequence[Crew]) -> None:
        self._crews = crews
        self.errors: list[BaseException] = []

    def work(self) -> None:
        threads = [
            [threading.Thread(target=self._man, args=(crew,), daemon=True) for _ in range(crew.threads)]
            for crew in self._crews
        ]
        for thread in chain.from_iterable(threads):
            thread.start()
        for crew, hands in zip(self._crews, threads, strict=True):
            for thread in hands:
                thread.join()
            if crew.feeds:
                crew.feeds.end()

    def break_off(self) -> None:
        for crew in self._crews:
            crew.takes.break_off()

    def _man(self, crew: Crew) -> None:
        try:
            crew.work()
        except BrokenOff:
            pass
        except BaseException as error:  # noqa: BLE001  raised again in the thread that waits for us
            self.errors.append(error)
            self.break_off()

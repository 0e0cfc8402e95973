"""A few long-lived threads that share a row of items."""

import threading
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def work_through(items: Iterable[T], do: Callable[[T], None], *, threads: int) -> None:
    """Do every item, several at a time, taken in order. The first error ends it and is raised once all have stopped.

    An item that was begun is finished; nothing runs any more when this returns.
    """
    row = iter(items)
    lock = threading.Lock()
    errors: list[BaseException] = []
    stop = threading.Event()

    def take() -> list[T]:
        with lock:
            return list(islice(row, 1))

    def take_and_do() -> None:
        try:
            while not stop.is_set() and (taken := take()):
                do(taken[0])
        except BaseException as error:  # noqa: BLE001  raised again below, in the thread that waits for us
            errors.append(error)
            stop.set()

    crew = [threading.Thread(target=take_and_do, daemon=True) for _ in range(threads)]
    try:
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
    finally:
        stop.set()
    if errors:
        raise errors[0]

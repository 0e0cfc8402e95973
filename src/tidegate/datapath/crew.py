"""A few long-lived threads that share a row of items."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from tidegate.datapath.uploads.assembly_line import Crew, Row, work_in_line

T = TypeVar("T")
R = TypeVar("R")


def work_ahead(items: Iterable[T], do: Callable[[T], R], *, threads: int) -> Generator[tuple[T, R], None, None]:
    """Each item and what came of it, in order; others do the next few meanwhile. The first error is raised in its turn.

    Nothing runs any more when the iterator has ended, or was closed.
    """
    pool = ThreadPoolExecutor(threads, thread_name_prefix="crew")
    begun: deque[tuple[T, Future[R]]] = deque()
    try:
        for item in items:
            begun.append((item, pool.submit(do, item)))
            if len(begun) > threads:
                first, future = begun.popleft()
                yield first, future.result()
        while begun:
            first, future = begun.popleft()
            yield first, future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def work_through(items: Iterable[T], do: Callable[[T], None], *, threads: int) -> None:
    """Do every item, several at a time, taken in order. The first error ends it and is raised once all have stopped.

    An item that was begun is finished; nothing runs any more when this returns.
    """
    row = Row(items)

    def work() -> None:
        for item in row:
            do(item)

    work_in_line(Crew(threads, work, takes=row))

"""Work in a thread that nobody waits for at the end: it may hang for ever on somebody else's machine."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def in_daemon_thread(work: Callable[[], T], *, name: str) -> "asyncio.Future[T]":
    """What `work` returns or raises. Who gives up waiting leaves it behind, and the process ends without it."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def tell(answer: T) -> None:
        if not outcome.cancelled():
            outcome.set_result(answer)

    def tell_error(error: Exception) -> None:
        if not outcome.cancelled():
            outcome.set_exception(error)
            outcome.exception()  # seen: whoever asked may have given up waiting

    def run() -> None:
        with suppress(RuntimeError):  # the server has ended meanwhile
            try:
                answer = work()
            except Exception as error:  # noqa: BLE001  raised again where it is awaited
                loop.call_soon_threadsafe(tell_error, error)
            else:
                loop.call_soon_threadsafe(tell, answer)

    threading.Thread(target=run, daemon=True, name=name).start()
    return outcome

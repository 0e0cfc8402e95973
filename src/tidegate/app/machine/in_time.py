"""Answers that are waited for only so long: a mounted share whose server is gone never gives one."""

import asyncio
from typing import TypeVar

from tidegate.errors import StoreUnavailable

T = TypeVar("T")

ANSWER_SECONDS = 30.0


async def in_time(answer: "asyncio.Future[T]", place: str, *, seconds: float = ANSWER_SECONDS) -> T:
    """Return the answer of a store or of a volume; raise StoreUnavailable if it takes too long."""
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except TimeoutError:
        raise StoreUnavailable(
            f"{place} did not answer within {seconds:g} seconds",
            hint="if it is a mounted share, look whether its server answers",
        ) from None

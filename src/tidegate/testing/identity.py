"""Identities that a test can foresee."""

from collections.abc import Callable
from itertools import count


def counting_ids(prefix: str = "uid") -> Callable[[], str]:
    """`uid-1`, `uid-2`, ..."""
    numbers = count(1)
    return lambda: f"{prefix}-{next(numbers)}"

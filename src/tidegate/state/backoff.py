"""How long to wait before a failing key is tried again."""

from datetime import timedelta
from random import Random

from tidegate.model.backoff import Doubling
from tidegate.model.resource import Ref

_WAITS = Doubling(first=timedelta(milliseconds=50), longest=timedelta(seconds=60))


class Backoff:
    """Counts failures per key; forgets them at the first success."""

    def __init__(self, random: Random, waits: Doubling = _WAITS) -> None:
        self._random = random
        self._waits = waits
        self._failures: dict[Ref, int] = {}

    def next_delay(self, key: Ref) -> timedelta:
        """Return the wait after one more failure."""
        failures = self._failures.get(key, 0) + 1
        self._failures[key] = failures
        return self._waits.jittered(failures, self._random.random())

    def forget(self, key: Ref) -> None:
        """It went well."""
        self._failures.pop(key, None)

    def failures(self, key: Ref) -> int:
        """How often in a row it went wrong."""
        return self._failures.get(key, 0)

"""How long to wait before a failing key is tried again."""

from datetime import timedelta
from random import Random

from tidegate.model.resource import Ref


class Backoff:
    """Exponential with full jitter, per key; forgotten at the first success."""

    def __init__(
        self,
        random: Random,
        *,
        first: timedelta = timedelta(milliseconds=50),
        longest: timedelta = timedelta(seconds=60),
    ) -> None:
        self._random = random
        self._first = first
        self._longest = longest
        self._failures: dict[Ref, int] = {}

    def next_delay(self, key: Ref) -> timedelta:
        """The wait after one more failure: between half and all of a span that doubles each time."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # The exponent is capped, or the span of a key that fails for days would no longer fit a float.
        span = min(self._first * (1 << min(failures, 30)), self._longest)
        return span * self._random.uniform(0.5, 1.0)

    def forget(self, key: Ref) -> None:
        """It went well."""
        self._failures.pop(key, None)

    def failures(self, key: Ref) -> int:
        """How often in a row it went wrong."""
        return self._failures.get(key, 0)

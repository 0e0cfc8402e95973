"""What can go wrong with a store, and a row of it that is the same for the same seed."""

import threading
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from random import Random

from tidegate.errors import NoSpace, StoreUnavailable, TidegateError, Unauthenticated

READS = frozenset({"get", "head", "list_level", "list_all"})
WRITES = frozenset({"put", "put_if_absent", "delete"})
LISTINGS = frozenset({"list_level", "list_all"})
ALL = READS | WRITES | {"flush"}


class Trouble(StrEnum):
    """One way in which a call goes wrong."""

    AWAY = "away"
    """Nobody answers, and nothing was done."""
    REFUSED = "refused"
    """The credentials are not good any more."""
    FULL = "full"
    """Nothing more fits."""
    THROTTLED = "throttled"
    """The store asks to come back later."""
    TIMEOUT = "timeout"
    """After a long time, no answer; nothing was done."""
    SLOW = "slow"
    """After a long time, the right answer."""
    LOST_ANSWER = "lost answer"
    """It was done, but we hear that it was not."""
    TRUNCATED = "truncated"
    """Half of the object."""
    BROKEN_LISTING = "broken listing"
    """A few names, then an error."""
    STALE_LISTING = "stale listing"
    """What there was some time ago."""


# Where each can happen.
CALLS: dict[Trouble, frozenset[str]] = {
    Trouble.AWAY: ALL,
    Trouble.REFUSED: ALL,
    Trouble.FULL: frozenset({"put", "put_if_absent", "flush"}),
    Trouble.THROTTLED: ALL,
    Trouble.TIMEOUT: ALL,
    Trouble.SLOW: ALL,
    Trouble.LOST_ANSWER: WRITES,
    Trouble.TRUNCATED: frozenset({"get"}),
    Trouble.BROKEN_LISTING: LISTINGS,
    Trouble.STALE_LISTING: LISTINGS,
}


def error_of(trouble: Trouble, call: str) -> TidegateError:
    """What the caller hears."""
    match trouble:
        case Trouble.REFUSED:
            return Unauthenticated(f"{call}: not allowed any more")
        case Trouble.FULL:
            return NoSpace(f"{call}: the store is full")
        case _:
            return StoreUnavailable(f"{call}: {trouble}")


class Weather:
    """Decides for each call what happens to it: by the seed, the call and how often it was made, never by the order.

    So threads that overtake each other do not change what each of them meets.
    """

    def __init__(self, seed: int, *, one_in: int, troubles: Iterable[Trouble] = Trouble) -> None:
        self._seed = seed
        self._one_in = one_in
        self._troubles = sorted(troubles)
        self._lock = threading.Lock()
        self._calls: Counter[tuple[str, str]] = Counter()

    def meets(self, method: str, key: str) -> Trouble | None:
        """What happens to this call."""
        # The names of locks are never the same twice.
        key = "a lock" if key.endswith(".lck") else key
        with self._lock:
            self._calls[method, key] += 1
            count = self._calls[method, key]
        possible = [trouble for trouble in self._troubles if method in CALLS[trouble]]
        chance = Random(f"{self._seed}/{method}/{key}/{count}")  # noqa: S311  # weather, not secrets
        return chance.choice(possible) if possible and chance.randrange(self._one_in) == 0 else None

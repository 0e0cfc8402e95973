"""How long to wait before a request is tried again: nothing here waits."""

from dataclasses import dataclass
from datetime import timedelta
from random import Random

from tidegate.errors import StoreBusy, StoreUnavailable
from tidegate.model.backoff import Doubling


@dataclass(frozen=True)
class Patience:
    """How much a caller puts up with. Each request has its own time limit in the client."""

    waiting_seconds: float
    """The sum of all waits between tries of one request."""
    request_seconds: float
    """For one try, from connecting to the last byte."""


# A mover that gives up throws away the work of an hour; a person or a look at a target wants an answer.
PATIENT = Patience(waiting_seconds=240.0, request_seconds=120.0)
HURRIED = Patience(waiting_seconds=0.0, request_seconds=20.0)
# For a person at a terminal, until the store has answered once: a wrong URL is likelier than a store that is away.
EXPECTANT = Patience(waiting_seconds=5.0, request_seconds=120.0)

_LONGEST = timedelta(seconds=30)
_WAITS = Doubling(timedelta(milliseconds=250), _LONGEST)
_WAITS_WHEN_BUSY = Doubling(timedelta(seconds=1), _LONGEST)


class Backoff:
    """The waits of one request: longer each time, never in step with others, together never more than the patience."""

    def __init__(self, patience: Patience, random: Random) -> None:
        self._left = patience.waiting_seconds
        self._random = random
        self._tries = 0

    def after(self, error: StoreUnavailable) -> float | None:
        """Seconds to wait after this error, or None if patience has ended."""
        if self._left <= 0:
            return None
        self._tries += 1
        waits = _WAITS_WHEN_BUSY if isinstance(error, StoreBusy) else _WAITS
        delay = min(self._left, waits.jittered(self._tries, self._random.random()).total_seconds())
        self._left -= delay
        return delay

"""How long to wait before a request is tried again: nothing here waits."""

from dataclasses import dataclass
from random import Random

from tidegate.errors import StoreBusy, StoreUnavailable


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

_FIRST_SECONDS = 0.25
_FIRST_SECONDS_WHEN_BUSY = 1.0
_LONGEST_SECONDS = 30.0


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
        first = _FIRST_SECONDS_WHEN_BUSY if isinstance(error, StoreBusy) else _FIRST_SECONDS
        ceiling = min(_LONGEST_SECONDS, first * 2**self._tries)
        self._tries += 1
        # Never less than half: a jitter down to nothing would ask a tired store again at once.
        delay = min(self._left, self._random.uniform(ceiling / 2, ceiling))
        self._left -= delay
        return delay

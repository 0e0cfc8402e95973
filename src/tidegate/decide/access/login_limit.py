"""How often one place may be wrong: often enough for a person who mistypes, too seldom for a program that guesses."""

from collections.abc import Sequence
from datetime import datetime, timedelta

WINDOW = timedelta(minutes=1)
MOST_FAILURES = 10


def wait_before_login(failures: Sequence[datetime], now: datetime) -> timedelta | None:
    """How long the next try has to wait; None if it may be made now. `failures` are in the order in which they came.

    It holds for right passwords as well: whoever may guess on while others wait has no limit. A right token never
    comes here, because nobody can guess one.
    """
    recent = [failure for failure in failures if now - failure < WINDOW]
    if len(recent) < MOST_FAILURES:
        return None
    return recent[-MOST_FAILURES] + WINDOW - now

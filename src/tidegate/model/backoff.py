"""How long to wait before the next try: the one rule of every retry."""

from dataclasses import dataclass
from datetime import timedelta

# Beyond, every span is the longest one; without a bound, years of failures would no longer fit a timedelta.
_MOST_DOUBLINGS = 30


@dataclass(frozen=True)
class Doubling:
    """A wait that doubles with each failure in a row, up to the longest."""

    first: timedelta
    longest: timedelta

    def after(self, failures: int) -> timedelta:
        """Return the wait after so many failures in a row; the first one and none at all wait for `first`."""
        return min(self.longest, self.first * (1 << min(max(failures, 1) - 1, _MOST_DOUBLINGS)))

    def jittered(self, failures: int, share: float) -> timedelta:
        """Return between half and all of that wait, by `share` from 0 to 1, so that many do not retry in step."""
        # Never less than half: a jitter down to nothing would ask a tired server again at once.
        return self.after(failures) * (0.5 + share / 2)

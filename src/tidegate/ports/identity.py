"""Identity comes in at the door."""

from collections.abc import Callable

# A new identity that was never given out before, as text. Tests pass a counter.
NewId = Callable[[], str]

"""Who looks: from which time and place, and how exactly."""

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from tidegate.views.quantities import UNKNOWN, human_bytes, human_duration, human_rate, human_span


@dataclass(frozen=True)
class Reader:
    """Turns times and bytes into the words of one reader."""

    now: datetime
    zone: tzinfo | None = UTC
    """None means the zone of the machine, with the offset that held at each time."""
    exact_bytes: bool = False

    def size(self, count: int | None) -> str:
        """Bytes, or unknown."""
        return UNKNOWN if count is None else human_bytes(count, exact=self.exact_bytes)

    def rate(self, bytes_per_second: float | None) -> str:
        """Bytes per second, or unknown."""
        return human_rate(bytes_per_second, exact=self.exact_bytes)

    def age(self, since: datetime | None) -> str:
        """How long ago, as in a column of a table; empty if it never was."""
        return "" if since is None else human_span(self.now - since)

    def until(self, when: datetime | None) -> str:
        """How long until then; `now` once it is due."""
        if when is None:
            return ""
        return human_span(when - self.now) if when > self.now else "now"

    def moment(self, when: datetime | None) -> str:
        """The reader's own date and time with its offset; empty if it never was."""
        return "" if when is None else when.astimezone(self.zone).isoformat(sep=" ", timespec="seconds")

    def moment_and_age(self, when: datetime | None) -> str:
        """The time and how far away it is."""
        if when is None:
            return ""
        distance = f"in {self.until(when)}" if when > self.now else f"{self.age(when)} ago"
        return f"{self.moment(when)} ({distance})"

    def took(self, start: datetime | None, end: datetime | None) -> str:
        """How long something ran: until its end, or until now; empty if it did not start."""
        return "" if start is None else human_duration((end or self.now) - start)

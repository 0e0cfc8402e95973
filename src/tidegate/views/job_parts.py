"""What the tables and descriptions of everything that runs for a while have in common."""

from datetime import datetime
from typing import Protocol

from tidegate.views.reader import Reader
from tidegate.views.table import Section, section


class Ran(Protocol):
    """A status that tells when."""

    @property
    def start_timestamp(self) -> datetime | None:
        """When it began."""
        ...

    @property
    def completion_timestamp(self) -> datetime | None:
        """When it ended."""
        ...


def took(status: Ran, reader: Reader) -> str:
    """How long it ran, or runs."""
    return reader.took(status.start_timestamp, status.completion_timestamp)


def times_section(status: Ran, reader: Reader, *, deadline: datetime | None = None) -> Section:
    """When it began and ended, and how long it may still take."""
    return section(
        "Times",
        [
            ("Started", reader.moment_and_age(status.start_timestamp)),
            ("Time left", reader.until(deadline)),
            ("Ended", reader.moment_and_age(status.completion_timestamp)),
            ("Took", took(status, reader)),
        ],
    )


def volumes_text(count: int) -> str:
    """`1 volume`, `3 volumes`."""
    return f"{count} volume{'s'[: count != 1]}"

"""What the tables and descriptions of everything that runs for a while have in common."""

from datetime import datetime
from typing import Protocol, TypeVar

from tidegate.model.backups.backup import Backup
from tidegate.model.restores.restore import Restore
from tidegate.model.system.system import SystemBackup
from tidegate.model.system.system_restore import SystemRestore
from tidegate.model.verification.verification import Verification
from tidegate.views.reader import Reader
from tidegate.views.table import Section, section

J = TypeVar("J", bound=Backup | Restore | Verification | SystemBackup | SystemRestore)


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


def share_text(job: J, reader: Reader) -> str:
    """`40 %` while it runs; the bytes that are done as long as the whole is not known."""
    told = job.status.bytes
    if told is None or job.status.phase.final:
        return ""
    if told.percent is not None:
        return f"{told.percent} %"
    return reader.size(told.done) if told.done else ""


def size_text(job: J, reader: Reader) -> str:
    """Of all its volumes; one that ended has the size of what it moved."""
    told = job.status.bytes
    if told is None or told.total is None:
        return ""
    if job.status.phase.final:
        return reader.size(told.done)
    if not told.volumes_not_measured:
        return reader.size(told.total)
    return f"at least {reader.size(told.total)}" if told.total else ""


def volumes_text(count: int) -> str:
    """`1 volume`, `3 volumes`."""
    return f"{count} volume{'s'[: count != 1]}"

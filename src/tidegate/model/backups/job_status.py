"""What is told alike of everything that brings volumes back: a restore, and a verification."""

from datetime import datetime
from typing import ClassVar

from tidegate.model.backups.backup import BackupEvent
from tidegate.model.backups.byte_progress import JobBytes
from tidegate.model.row_page import LongStatus


class JobStatus(LongStatus):
    """When it ran, how it went, and what happened meanwhile."""

    long_fields: ClassVar[tuple[str, ...]] = ("validation_errors",)

    start_timestamp: datetime | None = None
    completion_timestamp: datetime | None = None
    bytes: JobBytes | None = None
    """While it runs as of its last step, and told afresh to clients that ask; at the end what came of it."""
    errors: int = 0
    warnings: int = 0
    cancel_requested_at: datetime | None = None
    """When it was seen, in progress, that somebody called it off."""
    failure_reason: str | None = None
    events: tuple[BackupEvent, ...] = ()
    """What happened, oldest first; the newest twenty."""
    validation_errors: tuple[str, ...] = ()

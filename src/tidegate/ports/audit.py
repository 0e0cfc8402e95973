"""The promise of the audit: every change by whom, kept."""

from datetime import datetime
from typing import Protocol

from tidegate.model.access.audit import AuditEntry, AuditFilter, AuditPage

PAGE = 100
LARGEST_PAGE = 1000


class AuditLog(Protocol):
    """Entries are added and in the end forgotten by their age; there is no way to change one."""

    async def append(self, entry: AuditEntry) -> None:
        """On the disk when it returns. Those that come together share a commit."""
        ...

    async def entries(self, wanted: AuditFilter, *, limit: int = PAGE, marker: str = "") -> AuditPage:
        """The newest first. A marker that nobody gave out raises InvalidInput."""
        ...

    async def forget_before(self, moment: datetime) -> None:
        """Let go of what is older."""
        ...

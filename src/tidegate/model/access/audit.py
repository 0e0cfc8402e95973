"""What the audit tells of each change: when, who, from where, what, and how it was answered. Never a secret."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import AwareDatetime

from tidegate.model.access.access import Role, Via
from tidegate.model.frozen import Model

LONGEST_TEXT = 300
"""What comes from a client is cut here: the audit is no place to store things in."""


class AuditEntry(Model):
    """One request that changed something, or would have."""

    at: AwareDatetime
    who: str
    """The user or token; for a login that failed, the name that was given."""
    via: Via | None = None
    """None: nobody was let in."""
    role: Role | None = None
    address: str
    """Where the request came from; behind a proxy, the proxy."""
    method: str
    what: str
    """`backups/nightly/cancel`: the path below /v1, with the name of what was made."""
    outcome: int
    """The HTTP status of the answer."""
    note: str = ""


@dataclass(frozen=True)
class AuditFilter:
    """Which entries; what is empty lets all pass."""

    who: str = ""
    what: str = ""
    """A part of it."""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class AuditPage:
    """Entries, the newest first, and the marker of the following page."""

    entries: tuple[AuditEntry, ...]
    marker: str | None

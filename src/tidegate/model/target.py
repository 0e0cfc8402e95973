"""BackupTargets: the external stores that backups go to."""

from datetime import datetime, timedelta
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.duration import Duration
from tidegate.model.resource import Resource, Spec, Status


class BackupTargetSpec(Spec):
    """Where the store is and how to reach it."""

    url: str = Field(min_length=1, max_length=2048)
    credential_secret: str | None = None
    poll_interval: Duration = timedelta(seconds=300)
    """How often the catalogue looks for what others wrote; 0 = only when asked."""
    sync_requested_at: datetime | None = None
    default: bool = False
    """Used by backups that name no target."""


class BackupTargetStatus(Status):
    """Whether it answered when we last looked."""

    available: bool | None = None
    """Absent until somebody looked."""
    message: str = ""
    last_synced_at: datetime | None = None


class BackupTarget(Resource):
    """One external store."""

    plural: ClassVar[str] = "backuptargets"

    kind: Literal["BackupTarget"] = "BackupTarget"
    spec: BackupTargetSpec
    status: BackupTargetStatus = Field(default_factory=BackupTargetStatus)

"""BackupTargets: the external stores that backups go to."""

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.duration import Duration
from tidegate.model.frozen import Model
from tidegate.model.resource import Resource, Spec, Status

# Set to what `status.store.adopt` says, it accepts the store that is there now in place of the one that was.
ADOPT_STORE = "tidegate.dev/adopt-store"
# Set to what `status.sync.vanished` says, it confirms that exactly those volumes are gone from the store.
CONFIRM_VANISHED = "tidegate.dev/confirm-vanished"


class BackupTargetSpec(Spec):
    """Where the store is and how to reach it."""

    url: str = Field(min_length=1, max_length=2048)
    credential_secret: str | None = None
    poll_interval: Duration | None = None
    """How often the catalogue looks for what others wrote; 0 = only when asked. Absent: as the settings say."""
    sync_requested_at: datetime | None = None
    """The catalogue is brought up to date once more if this is later than its last sync."""
    default: bool = False
    """Used by backups that name no target."""


class SyncStatus(Model):
    """How the sync of the catalogue stands: the one that runs, or else the last one."""

    stage: str = ""
    """ListingVolumes, Dropping, ReadingBackups or Done."""
    done: int = 0
    total: int = 0
    backups: int = 0
    """How many it has read; those that were known before and have not changed are not read."""
    errors: int = 0
    messages: tuple[str, ...] = ()
    """The first few of what went wrong, and what was passed over."""
    started_at: datetime | None = None
    expected_end: datetime | None = None
    finished_at: datetime | None = None
    url: str = ""
    """The place that the last sync that succeeded was of."""
    identity: str = ""
    """The store that it was of."""
    failures: int = 0
    """Syncs in a row that left something out."""
    failed_at: datetime | None = None
    failed_url: str = ""
    """The place at which it failed last."""
    vanished: str = ""
    """Stands for the volumes that seem to be gone, until somebody confirms that they are."""


class StoreIdentity(Model):
    """Which store the target is: what it calls itself, so that an unmounted share is not taken for an empty store."""

    identity: str = ""
    """As it was when the store was seen first, or adopted. Empty: the store takes none, because it is read-only."""
    url: str = ""
    """The place that this is about; empty: nobody has seen the store yet."""
    found: str = ""
    """While another store is there: its identity, if it has one."""
    adopt: str = ""
    """While another store is there: stands for exactly that change, for whoever wants to accept it."""


class BackupTargetStatus(Status):
    """Whether it answered when we last looked."""

    available: bool | None = None
    """Absent until somebody looked."""
    message: str = ""
    store: StoreIdentity = Field(default_factory=StoreIdentity)
    last_synced_at: datetime | None = None
    """When the last sync began that saw the whole store."""
    sync: SyncStatus = Field(default_factory=SyncStatus)


class BackupTarget(Resource):
    """One external store."""

    plural: ClassVar[str] = "backuptargets"

    kind: Literal["BackupTarget"] = "BackupTarget"
    spec: BackupTargetSpec
    status: BackupTargetStatus = Field(default_factory=BackupTargetStatus)

    @property
    def identified(self) -> bool:
        """Whether it is known which store its present URL leads to."""
        return self.status.store.url == self.spec.url

    @property
    def adopt_command(self) -> str:
        """What to type to accept the store that is there in place of its own."""
        return f"tidegate target adopt {self.name}"

    @property
    def synced_another_store(self) -> bool:
        """Whether another store was adopted since the last sync."""
        return self.status.sync.identity not in {"", self.status.store.identity}

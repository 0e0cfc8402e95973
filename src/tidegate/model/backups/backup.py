"""Backups: requests to protect some namespaces, from asking to done."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.backups.byte_progress import JobBytes
from tidegate.model.backups.hooks import BackupHooks, HookStatus
from tidegate.model.backups.item_block import BlockProgress
from tidegate.model.backups.verification_record import VerificationRecord
from tidegate.model.duration import Duration
from tidegate.model.frozen import Model
from tidegate.model.label_selector import LabelSelector as LabelSelector  # noqa: PLC0414  # many know it from here
from tidegate.model.resource import Resource, Spec
from tidegate.model.row_page import LongStatus

HOUR = timedelta(hours=1)

# Held until all transfers of the backup, and with them its data in the store, are gone.
BACKUP_FINALIZER = "tidegate.dev/backup"

# With the value "true": neither its ttl nor the retention of its schedule deletes it.
PINNED_LABEL = "tidegate.dev/pinned"

# What it asked for by name and what was not there when it was made: a sentence a line. The API writes it.
UNMATCHED_ANNOTATION = "tidegate.dev/unmatched"

# Of a backup that is over and holds nothing, because no volume matched what it asked for.
EMPTY_CONDITION = "Empty"
NOTHING_MATCHED = "NothingMatched"


class BackupPhase(StrEnum):
    """Velero's phases, and Canceled."""

    NEW = "New"
    FAILED_VALIDATION = "FailedValidation"
    QUEUED = "Queued"
    READY_TO_START = "ReadyToStart"
    IN_PROGRESS = "InProgress"
    WAITING_FOR_PLUGIN_OPERATIONS = "WaitingForPluginOperations"
    WAITING_FOR_PLUGIN_OPERATIONS_PARTIALLY_FAILED = "WaitingForPluginOperationsPartiallyFailed"
    FINALIZING = "Finalizing"
    FINALIZING_PARTIALLY_FAILED = "FinalizingPartiallyFailed"
    COMPLETED = "Completed"
    PARTIALLY_FAILED = "PartiallyFailed"
    FAILED = "Failed"
    DELETING = "Deleting"
    CANCELED = "Canceled"

    @property
    def final(self) -> bool:
        """Whether the work is over, well or not."""
        return self in _FINAL


_FINAL = frozenset(
    {
        BackupPhase.FAILED_VALIDATION,
        BackupPhase.COMPLETED,
        BackupPhase.PARTIALLY_FAILED,
        BackupPhase.FAILED,
        BackupPhase.CANCELED,
    }
)


class OnInterruption(StrEnum):
    """What becomes of a backup whose server stopped while it was in progress."""

    FAIL = "Fail"
    REQUEUE = "Requeue"


class BackupSpec(Spec):
    """What to protect and how. Field names are Velero's."""

    included_namespaces: tuple[str, ...] = ()
    """Names or globs; empty or `*` means all."""
    excluded_namespaces: tuple[str, ...] = ()
    included_volumes: tuple[str, ...] = ()
    """Of those in the namespaces only these, as NAMESPACE/NAME; empty means all."""
    included_resources: tuple[str, ...] = ()
    excluded_resources: tuple[str, ...] = ()
    label_selector: LabelSelector | None = None
    or_label_selectors: tuple[LabelSelector, ...] = ()
    allow_empty: bool = False
    """Whether it may match nothing: otherwise it is refused when it is made, and PartiallyFailed if nothing is left."""
    ttl: Duration = timedelta(days=30)
    storage_location: str = ""
    """Name of a BackupTarget. Absent: the default one; the API writes back which."""
    snapshot_move_data: bool = True
    default_volumes_to_fs_backup: bool = False
    hooks: BackupHooks = Field(default_factory=BackupHooks)
    ordered_resources: dict[str, str] = Field(default_factory=dict)
    """What goes first, in this order, by kind: `{"volumes": "shop/db,shop/files"}`."""
    item_operation_timeout: Duration = 4 * HOUR
    csi_snapshot_timeout: Duration = timedelta(minutes=10)
    priority: int = Field(default=0, ge=-10, le=10)
    """A head start in the queue: each step counts as `backup-priority-head-start-seconds` of waiting."""
    queue_ticket: int | None = None
    """The ticket that a move in the queue gave it, in place of the one in the status. Absent: it was never moved."""
    on_interruption: OnInterruption = OnInterruption.FAIL
    """With Requeue it goes back to its old place in the queue and begins anew."""
    cancel: bool = False
    """One way: once true, never false again."""

    @property
    def label_choices(self) -> tuple[LabelSelector, ...]:
        """A volume is picked if one of these does; none means that labels do not matter."""
        return (*self.or_label_selectors, *((self.label_selector,) if self.label_selector else ()))


class BackupProgress(Model):
    """How far it is, in items: each volume is one, its definition and its data together."""

    total_items: int = 0
    items_backed_up: int = 0


class EventType(StrEnum):
    """As Kubernetes has them."""

    NORMAL = "Normal"
    WARNING = "Warning"


class BackupEvent(Model):
    """Something that happened to the backup, in the shape of a Kubernetes event."""

    type: EventType = EventType.NORMAL
    reason: str
    message: str
    count: int = 1
    first_timestamp: datetime
    last_timestamp: datetime


class BackupStatus(LongStatus):
    """How it stands."""

    long_fields: ClassVar[tuple[str, ...]] = ("blocks", "gone_volumes")

    phase: BackupPhase = BackupPhase.NEW
    queue_ticket: int | None = None
    """Given when it joins the queue, monotonic; the queue copies `spec.queueTicket` here after a move."""
    queue_position: int | None = None
    queued_at: datetime | None = None
    progress: BackupProgress | None = None
    """Absent until it is settled which volumes, in which blocks."""
    bytes: JobBytes | None = None
    """While it runs as of its last step, and told afresh to clients that ask; at the end what came of it."""
    blocks: tuple[BlockProgress, ...] = ()
    """Those that are not done, in the order in which they get a worker."""
    hook_status: HookStatus | None = None
    gone_volumes: tuple[str, ...] = ()
    """Deleted after the backup had begun and before their turn came."""
    unmatched: tuple[str, ...] = ()
    """What it asks for by name and what is not there, as sentences; as it was when it was made, then when it began."""
    interrupted: bool = False
    """Its server stopped; it ends, or is queued again, as soon as the post hooks of its blocks have run."""
    attempt: int = 0
    """How often it was interrupted and queued again."""
    start_timestamp: datetime | None = None
    completion_timestamp: datetime | None = None
    expiration: datetime | None = None
    errors: int = 0
    warnings: int = 0
    cancel_requested_at: datetime | None = None
    """When it was seen, in progress, that somebody called it off."""
    failure_reason: str | None = None
    events: tuple[BackupEvent, ...] = ()
    """What happened, oldest first; the newest twenty."""
    validation_errors: tuple[str, ...] = ()
    verification: VerificationRecord | None = None
    """Whether it was proven that it restores. Absent: nobody has tried."""


class Backup(Resource):
    """A request to protect some namespaces."""

    plural: ClassVar[str] = "backups"

    kind: Literal["Backup"] = "Backup"
    spec: BackupSpec = Field(default_factory=BackupSpec)
    status: BackupStatus = Field(default_factory=BackupStatus)

    @property
    def holds_nothing(self) -> bool:
        """Whether it is over and no volume matched: there is nothing to restore, whatever its phase."""
        return self.status.condition(EMPTY_CONDITION) is not None

    @property
    def ticket(self) -> int | None:
        """What the queue orders it by; absent until it has joined."""
        return self.status.queue_ticket if self.spec.queue_ticket is None else self.spec.queue_ticket

    @property
    def unmatched_when_made(self) -> tuple[str, ...]:
        """The sentences of UNMATCHED_ANNOTATION."""
        return tuple(filter(None, self.metadata.annotations.get(UNMATCHED_ANNOTATION, "").split("\n")))

    @property
    def pinned(self) -> bool:
        """Whether only a person may delete it."""
        return self.metadata.labels.get(PINNED_LABEL) == "true"

    @property
    def holds_slot(self) -> bool:
        """Whether it counts against `concurrent-backups` and keeps its namespaces from others.

        One that is deleted while it runs holds both until its record is gone: until then an upload may read, a hook may
        be owed. `Deleting` alone does not tell; one that began and has not ended was at work.
        """
        status = self.status
        if status.phase is BackupPhase.DELETING:
            return status.start_timestamp is not None and status.completion_timestamp is None
        return status.phase in {BackupPhase.READY_TO_START, BackupPhase.IN_PROGRESS}

"""Settings: what an operator changes while the server runs. Each is known, typed and documented here."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.duration import format_duration, parse_duration
from tidegate.model.quantity import read_quantity, read_rate
from tidegate.model.resource import Resource, Spec, Status
from tidegate.model.transfers.load import LoadConcurrency, parse_load_concurrency

LONGEST_VALUE = 65_536


class SettingSpec(Spec):
    """The value as text, whatever its type."""

    value: str = Field(max_length=LONGEST_VALUE)


class SettingCategory(StrEnum):
    """How careful one should be. A word of warning; nothing is forbidden by it."""

    GENERAL = "general"
    DANGER_ZONE = "danger zone"


class SettingStatus(Status):
    """What is known about it; the API fills it in, nothing of it is stored."""

    category: SettingCategory | None = None


class Setting(Resource):
    """One setting that differs from its default, under its kebab-case name."""

    plural: ClassVar[str] = "settings"

    kind: Literal["Setting"] = "Setting"
    spec: SettingSpec
    status: SettingStatus = Field(default_factory=SettingStatus)


@dataclass(frozen=True)
class SettingDefinition:
    """What a setting means and which values it takes."""

    name: str
    default: str
    description: str
    check: Callable[[str], object]
    """Reads the text; raises ValueError with a sentence."""
    category: SettingCategory = SettingCategory.GENERAL


def whole_number(minimum: int) -> Callable[[str], int]:
    """A reader of whole numbers that are at least `minimum`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ValueError(f"{text!r} is not a whole number") from None
        if number < minimum:
            raise ValueError(f"{number} is too small; the least is {minimum}")
        return number

    return read


def duration_of_at_least(minimum: timedelta) -> Callable[[str], timedelta]:
    """A reader of lengths of time such as `30m`."""

    def read(text: str) -> timedelta:
        length = parse_duration(text)
        if length < minimum:
            raise ValueError(f"{text!r} is too short; the least is {format_duration(minimum)}")
        return length

    return read


def memory_of_at_least(mebibytes: int) -> Callable[[str], int]:
    """A reader of amounts of memory such as `512MiB`."""

    def read(text: str) -> int:
        amount = read_quantity(text)
        if amount < mebibytes * 1024 * 1024:
            raise ValueError(f"{text!r} is too little; the least is {mebibytes}MiB")
        return amount

    return read


def yes_or_no(text: str) -> bool:
    """A reader of truth values."""
    if text not in {"true", "false"}:
        raise ValueError(f"{text!r} is neither true nor false")
    return text == "true"


def one_of(*choices: str) -> Callable[[str], str]:
    """A reader of one of these words."""

    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"{text!r} is not one of {', '.join(choices)}")
        return text

    return read


def empty_or_absolute_path(text: str) -> str:
    """A reader of paths that do not depend on where a process was started."""
    if text and (not text.startswith("/") or ".." in text.split("/") or "\0" in text):
        raise ValueError(f"{text!r} is not an absolute path")
    return text


CONCURRENT_BACKUPS = SettingDefinition(
    "concurrent-backups", "1", "How many backups may be ReadyToStart or InProgress at once.", whole_number(1)
)
CONCURRENT_RESTORES = SettingDefinition(
    "concurrent-backup-restore-limit",
    "5",
    "How many volumes may be restored at once; 0 pauses all restores.",
    whole_number(0),
    SettingCategory.DANGER_ZONE,
)
CONCURRENT_RESTORES_PER_NODE = SettingDefinition(
    "concurrent-backup-restore-per-node-limit",
    "0",
    "How many volumes may be restored at once on each node, within concurrent-backup-restore-limit; 0 means no limit "
    "of its own.",
    whole_number(0),
    SettingCategory.DANGER_ZONE,
)
LOAD_CONCURRENCY = SettingDefinition(
    "load-concurrency",
    "{}",
    'How many transfers each node may move at once, as JSON: {"globalConfig": 2, "perNodeConfig": '
    '[{"nodeSelector": {"matchLabels": {"disk": "slow"}}, "number": 1}], "prepareQueueLength": 10, "restoreShare": 1}, '
    'alone or as Velero\'s document {"loadConcurrency": {...}}. See docs/load.md; `tidegate load set` writes it.',
    parse_load_concurrency,
)
ITEM_BLOCK_WORKERS = SettingDefinition(
    "item-block-worker-count",
    "1",
    "How many item blocks of one backup may be under way at once; a block is a volume, or several that belong "
    "together. With more than one transfer per node (load-concurrency), raise this too.",
    whole_number(1),
)
PREPARE_TIMEOUT = SettingDefinition(
    "data-mover-prepare-timeout",
    "30m",
    "How long a transfer may be Accepted, or Prepared without a reason to wait, before it fails.",
    duration_of_at_least(timedelta(seconds=1)),
)
STALL_TIMEOUT = SettingDefinition(
    "data-mover-stall-timeout",
    "10m",
    "After how long without progress a transfer is told to be stalled; after three times as long it is stopped.",
    duration_of_at_least(timedelta(seconds=1)),
)
MEMORY_LIMIT = SettingDefinition(
    "data-mover-memory-limit",
    "512MiB",
    "How much memory one mover may use: little makes it work with fewer threads. Movers that start later keep to it.",
    memory_of_at_least(128),
)
QUEUE_RECHECK_SECONDS = SettingDefinition(
    "backup-queue-recheck-seconds",
    "60",
    "How often the queue is looked at even if nothing happened: a safety net, not how it moves.",
    whole_number(1),
)

QUEUE_PAUSED = SettingDefinition(
    "backup-queue-paused", "false", "Whether queued backups stay where they are; what runs goes on.", yes_or_no
)
PRIORITY_HEAD_START_SECONDS = SettingDefinition(
    "backup-priority-head-start-seconds",
    "600",
    "How much waiting one step of spec.priority counts for. A backup with priority 1 passes those of priority 0 that "
    "came at most so long before it; 0 lets priorities mean nothing.",
    whole_number(0),
)
OVERLAP_DETECTION = SettingDefinition(
    "overlap-detection",
    "namespace",
    "What two backups may not share while they run: a namespace, or, with 'volume', only a volume.",
    one_of("namespace", "volume"),
)
LIMIT_UPLOAD = SettingDefinition(
    "limit-upload",
    "0",
    "Bytes per second that one transfer may send to its store, such as 10MiB; 0 is no limit.",
    read_rate,
)
LIMIT_DOWNLOAD = SettingDefinition(
    "limit-download",
    "0",
    "Bytes per second that one transfer may fetch from its store, such as 10MiB; 0 is no limit.",
    read_rate,
)
LIMIT_UPLOAD_PER_NODE = SettingDefinition(
    "limit-upload-per-node",
    "0",
    "Bytes per second that all transfers of a node together may send, shared evenly; 0 is no limit.",
    read_rate,
)
LIMIT_DOWNLOAD_PER_NODE = SettingDefinition(
    "limit-download-per-node",
    "0",
    "Bytes per second that all transfers of a node together may fetch, shared evenly; 0 is no limit.",
    read_rate,
)
VERIFICATION_SCRATCH = SettingDefinition(
    "verification-scratch-directory",
    "",
    "Where verifications restore to, as an absolute path on the server's machine; empty: scratch/ in its data "
    "directory. Each makes a directory of its own there and removes it.",
    empty_or_absolute_path,
)

POLL_INTERVAL = SettingDefinition(
    "backupstore-poll-interval",
    "300",
    "Seconds between two syncs of the catalogue with a target that does not say it itself. 0: no timer; a target is "
    "synced when it is set, after own backups, and when asked.",
    whole_number(0),
)
CATALOGUE_REQUESTS = SettingDefinition(
    "catalogue-requests-in-flight",
    "64",
    "How many requests a sync of the catalogue may have under way at once in one target; fewer while the store "
    "complains.",
    whole_number(1),
)
CONCURRENT_DELETIONS = SettingDefinition(
    "concurrent-deletions",
    "4",
    "How many volumes may have something deleted from their stores at once. Each takes a process that mostly waits for "
    "its store; those that run end by themselves when this is lowered.",
    whole_number(1),
)
SYSTEM_BACKUP_VOLUME_TIMEOUT = SettingDefinition(
    "system-backup-volume-backup-timeout",
    "24h",
    "How long a system backup waits for the backups of volumes that it has made, before it ends as Error.",
    duration_of_at_least(timedelta(seconds=1)),
)
SYSTEM_BACKUP_UPLOAD_TIMEOUT = SettingDefinition(
    "system-backup-upload-timeout",
    "1h",
    "How long a system backup tries to write its archive to a store that does not answer, and a system restore to read "
    "it, before it ends as Error.",
    duration_of_at_least(timedelta(seconds=1)),
)
AUDIT_RETENTION = SettingDefinition(
    "audit-retention",
    "400d",
    "How long the audit remembers who changed what.",
    duration_of_at_least(timedelta(days=1)),
)

KNOWN_SETTINGS = {
    definition.name: definition
    for definition in (
        CONCURRENT_BACKUPS,
        CONCURRENT_RESTORES,
        CONCURRENT_RESTORES_PER_NODE,
        LOAD_CONCURRENCY,
        ITEM_BLOCK_WORKERS,
        PREPARE_TIMEOUT,
        STALL_TIMEOUT,
        MEMORY_LIMIT,
        QUEUE_RECHECK_SECONDS,
        QUEUE_PAUSED,
        PRIORITY_HEAD_START_SECONDS,
        OVERLAP_DETECTION,
        LIMIT_UPLOAD,
        LIMIT_DOWNLOAD,
        LIMIT_UPLOAD_PER_NODE,
        LIMIT_DOWNLOAD_PER_NODE,
        POLL_INTERVAL,
        CATALOGUE_REQUESTS,
        CONCURRENT_DELETIONS,
        VERIFICATION_SCRATCH,
        SYSTEM_BACKUP_VOLUME_TIMEOUT,
        SYSTEM_BACKUP_UPLOAD_TIMEOUT,
        AUDIT_RETENTION,
    )
}


@dataclass(frozen=True)
class Settings:
    """All settings as values, stored ones over defaults: what decisions are given."""

    concurrent_backups: int
    concurrent_restores: int
    concurrent_restores_per_node: int
    """0: none of its own."""
    load_concurrency: LoadConcurrency
    item_block_workers: int
    prepare_timeout: timedelta
    stall_timeout: timedelta
    mover_memory_bytes: int
    queue_recheck_seconds: int
    queue_paused: bool
    priority_head_start_seconds: int
    overlap_detection: str
    system_backup_volume_timeout: timedelta
    system_backup_upload_timeout: timedelta
    limit_upload: int | None
    """Bytes per second, as the three that follow; None: no limit."""
    limit_download: int | None
    limit_upload_per_node: int | None
    limit_download_per_node: int | None
    poll_interval: timedelta
    catalogue_requests: int
    concurrent_deletions: int
    verification_scratch_directory: str
    """Empty: the server's own."""
    audit_retention: timedelta


def effective_settings(stored: list[Setting]) -> Settings:
    """Stored values over defaults. A stored value was checked when it came in; one that is bad now falls back."""
    texts = {setting.name: setting.spec.value for setting in stored}

    def value(definition: SettingDefinition) -> object:
        try:
            return definition.check(texts.get(definition.name, definition.default))
        except ValueError:
            return definition.check(definition.default)

    return Settings(
        concurrent_backups=value(CONCURRENT_BACKUPS),  # type: ignore[arg-type]  # each reader's own type
        concurrent_restores=value(CONCURRENT_RESTORES),  # type: ignore[arg-type]
        concurrent_restores_per_node=value(CONCURRENT_RESTORES_PER_NODE),  # type: ignore[arg-type]
        load_concurrency=value(LOAD_CONCURRENCY),  # type: ignore[arg-type]
        item_block_workers=value(ITEM_BLOCK_WORKERS),  # type: ignore[arg-type]
        prepare_timeout=value(PREPARE_TIMEOUT),  # type: ignore[arg-type]
        stall_timeout=value(STALL_TIMEOUT),  # type: ignore[arg-type]
        mover_memory_bytes=value(MEMORY_LIMIT),  # type: ignore[arg-type]
        queue_recheck_seconds=value(QUEUE_RECHECK_SECONDS),  # type: ignore[arg-type]
        queue_paused=value(QUEUE_PAUSED),  # type: ignore[arg-type]
        priority_head_start_seconds=value(PRIORITY_HEAD_START_SECONDS),  # type: ignore[arg-type]
        overlap_detection=value(OVERLAP_DETECTION),  # type: ignore[arg-type]
        system_backup_volume_timeout=value(SYSTEM_BACKUP_VOLUME_TIMEOUT),  # type: ignore[arg-type]
        system_backup_upload_timeout=value(SYSTEM_BACKUP_UPLOAD_TIMEOUT),  # type: ignore[arg-type]
        limit_upload=value(LIMIT_UPLOAD),  # type: ignore[arg-type]
        limit_download=value(LIMIT_DOWNLOAD),  # type: ignore[arg-type]
        limit_upload_per_node=value(LIMIT_UPLOAD_PER_NODE),  # type: ignore[arg-type]
        limit_download_per_node=value(LIMIT_DOWNLOAD_PER_NODE),  # type: ignore[arg-type]
        poll_interval=timedelta(seconds=value(POLL_INTERVAL)),  # type: ignore[arg-type]
        catalogue_requests=value(CATALOGUE_REQUESTS),  # type: ignore[arg-type]
        concurrent_deletions=value(CONCURRENT_DELETIONS),  # type: ignore[arg-type]
        verification_scratch_directory=value(VERIFICATION_SCRATCH),  # type: ignore[arg-type]
        audit_retention=value(AUDIT_RETENTION),  # type: ignore[arg-type]
    )

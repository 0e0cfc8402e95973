"""Settings: what an operator changes while the server runs. Each is known, typed and documented here."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.load import LoadConcurrency, parse_load_concurrency
from tidegate.model.resource import Resource, Spec, Status


class SettingSpec(Spec):
    """The value as text, whatever its type."""

    value: str = Field(max_length=65_536)


class SettingStatus(Status):
    """Nothing yet."""


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


CONCURRENT_BACKUPS = SettingDefinition(
    "concurrent-backups", "1", "How many backups may be ReadyToStart or InProgress at once.", whole_number(1)
)
CONCURRENT_RESTORES = SettingDefinition(
    "concurrent-backup-restore-limit",
    "5",
    "How many volumes may be restored at once; 0 pauses all restores.",
    whole_number(0),
)
LOAD_CONCURRENCY = SettingDefinition(
    "load-concurrency",
    "{}",
    'How many transfers each node may move at once, as JSON: {"globalConfig": 2, "perNodeConfig": '
    '[{"nodeSelector": {"matchLabels": {"disk": "slow"}}, "number": 1}], "prepareQueueLength": 10}.',
    parse_load_concurrency,
)
ITEM_BLOCK_WORKERS = SettingDefinition(
    "item-block-worker-count",
    "1",
    "How many item blocks of one backup may be under way at once; a block is a volume, or several that belong "
    "together. With more than one transfer per node (load-concurrency), raise this too.",
    whole_number(1),
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

KNOWN_SETTINGS = {
    definition.name: definition
    for definition in (
        CONCURRENT_BACKUPS,
        CONCURRENT_RESTORES,
        LOAD_CONCURRENCY,
        ITEM_BLOCK_WORKERS,
        QUEUE_RECHECK_SECONDS,
        QUEUE_PAUSED,
        PRIORITY_HEAD_START_SECONDS,
        OVERLAP_DETECTION,
        POLL_INTERVAL,
        CATALOGUE_REQUESTS,
    )
}


@dataclass(frozen=True)
class Settings:
    """All settings as values, stored ones over defaults: what decisions are given."""

    concurrent_backups: int
    concurrent_restores: int
    load_concurrency: LoadConcurrency
    item_block_workers: int
    queue_recheck_seconds: int
    queue_paused: bool
    priority_head_start_seconds: int
    overlap_detection: str
    poll_interval: timedelta
    catalogue_requests: int


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
        load_concurrency=value(LOAD_CONCURRENCY),  # type: ignore[arg-type]
        item_block_workers=value(ITEM_BLOCK_WORKERS),  # type: ignore[arg-type]
        queue_recheck_seconds=value(QUEUE_RECHECK_SECONDS),  # type: ignore[arg-type]
        queue_paused=value(QUEUE_PAUSED),  # type: ignore[arg-type]
        priority_head_start_seconds=value(PRIORITY_HEAD_START_SECONDS),  # type: ignore[arg-type]
        overlap_detection=value(OVERLAP_DETECTION),  # type: ignore[arg-type]
        poll_interval=timedelta(seconds=value(POLL_INTERVAL)),  # type: ignore[arg-type]
        catalogue_requests=value(CATALOGUE_REQUESTS),  # type: ignore[arg-type]
    )

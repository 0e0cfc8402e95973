"""The forms that data can take on stdout."""

from enum import StrEnum


class OutputFormat(StrEnum):
    """Tables are for people and may change; json is for programs and only grows."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    JSONL = "jsonl"
    NAME = "name"

    @property
    def for_programs(self) -> bool:
        """Whether errors, too, should be an object."""
        return self in {OutputFormat.JSON, OutputFormat.JSONL, OutputFormat.YAML}

    @property
    def is_table(self) -> bool:
        """Whether it is for people."""
        return self in {OutputFormat.TABLE, OutputFormat.WIDE}


class OnInterruption(StrEnum):
    """As in the model: what becomes of a backup whose server stops while it is in progress."""

    FAIL = "Fail"
    REQUEUE = "Requeue"


class OnHookError(StrEnum):
    """As in the model: what a failed hook means."""

    FAIL = "Fail"
    CONTINUE = "Continue"


class ExistingData(StrEnum):
    """As in the model, which is slow to load: what a restore does where something is already."""

    NONE = "none"
    OVERWRITE = "overwrite"

"""What a schedule shall be: options that creating and updating share, and a change that leaves the rest as it was."""

from dataclasses import dataclass
from typing import Annotated

import typer

from tidegate.cli.context import CliContext
from tidegate.cli.failures import wrong_usage
from tidegate.cli.nouns import SCHEDULE
from tidegate.cli.wire import Wire

# A schedule that never had rules has it from the server. With rules it would end what they promise to keep.
_USUAL_TTL = "30d"

Keep = Annotated[int | None, typer.Option(metavar="N", min=0, help="Keep the newest backup of each of N such periods.")]


@dataclass(frozen=True)
class RetentionWishes:
    """Which backups of a schedule stay."""

    keep_last: Annotated[int | None, typer.Option(metavar="N", min=0, help="Keep the newest N backups.")] = None
    keep_hourly: Keep = None
    keep_daily: Keep = None
    keep_weekly: Keep = None
    keep_monthly: Keep = None
    keep_yearly: Keep = None

    def spec(self) -> Wire:
        """Only what was given."""
        return {f"keep{rule[5:].capitalize()}": count for rule, count in vars(self).items() if count is not None}


@dataclass(frozen=True)
class ScheduleChange:
    """Only what shall change; None and '' take a value back."""

    top: Wire
    template: Wire
    retention: Wire

    def spec_after(self, stored: Wire) -> Wire:
        """The whole spec as it shall be."""
        template = _merged(stored.get("template", {}), self.template)
        before = stored.get("retention")
        if self.retention and not before and "ttl" not in self.template and template.get("ttl") == _USUAL_TTL:
            del template["ttl"]
        retention = _merged(before or {}, self.retention)
        return _merged(stored, {**self.top, "template": template, "retention": retention or None})


def update(cli: CliContext, name: str, change: ScheduleChange) -> Wire:
    """Store it; refused with a conflict if somebody else changed the schedule in between."""
    if not (change.top or change.template or change.retention):
        raise wrong_usage("Say what to change.", hint="For example --schedule, --timezone, --ttl or --keep-daily.")
    with cli.connect() as client:
        stored = client.get(SCHEDULE, name)
        return client.put(SCHEDULE, {**stored, "spec": change.spec_after(stored["spec"])})


def _merged(before: Wire, change: Wire) -> Wire:
    both = {**before, **change}
    return {key: value for key, value in both.items() if value not in (None, "")}

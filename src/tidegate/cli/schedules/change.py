"""What a schedule shall be: options that creating and updating share, and a change that leaves the rest as it was."""

from dataclasses import dataclass
from typing import Annotated

import typer

from tidegate.cli.context import CliContext
from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.nouns import SCHEDULE
from tidegate.cli.http.wire import Wire
from tidegate.cli.schedules.verification import VerificationWishes

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
    policy: str | None
    """Of a schedule of system backups: which volumes they back up."""
    proof: VerificationWishes

    @property
    def empty(self) -> bool:
        """Whether nothing was given."""
        return not (self.top or self.template or self.retention or self.policy or self.proof.given)

    def spec_after(self, stored: Wire) -> Wire:
        """The whole spec as it shall be."""
        system = stored.get("systemBackup")
        content = self._template_after(stored) if system is None else self._system_after(system)
        retention = _merged(stored.get("retention") or {}, self.retention)
        proof = self.proof.after(stored.get("verification"))
        return _merged(stored, {**self.top, **content, "retention": retention or None, "verification": proof})

    def _template_after(self, stored: Wire) -> Wire:
        if self.policy:
            raise wrong_usage(
                "--volume-backup-policy is about system backups, and this schedule makes none.",
                hint="Make one that does: tidegate schedule create NAME --schedule CRON --system-backup POLICY",
            )
        template = _merged(stored.get("template", {}), self.template)
        first_rules = self.retention and not stored.get("retention")
        if first_rules and "ttl" not in self.template and template.get("ttl") == _USUAL_TTL:
            del template["ttl"]
        return {"template": template}

    def _system_after(self, system: Wire) -> Wire:
        wanted = {"storageLocation": system.get("target", ""), **self.template}
        return {"systemBackup": system_template(self.policy or system["volumeBackupPolicy"], wanted)}


def system_template(policy: str, template: Wire) -> Wire:
    """System backups are of everything: of all that may be said about a backup, only the target means something."""
    if meaningless := sorted(template.keys() - {"storageLocation"}):
        raise wrong_usage(
            f"A system backup is of everything; leave out what sets {', '.join(meaningless)}.",
            hint="Only the target can be chosen, with --storage-location.",
        )
    return {"volumeBackupPolicy": policy, "target": template.pop("storageLocation", None) or ""}


def update(cli: CliContext, name: str, change: ScheduleChange) -> Wire:
    """Store it; refused with a conflict if somebody else changed the schedule in between."""
    if change.empty:
        raise wrong_usage("Say what to change.", hint="For example --schedule, --timezone, --ttl or --keep-daily.")
    with cli.connect() as client:
        stored = client.get(SCHEDULE, name)
        return client.put(SCHEDULE, {**stored, "spec": change.spec_after(stored["spec"])})


def _merged(before: Wire, change: Wire) -> Wire:
    both = {**before, **change}
    return {key: value for key, value in both.items() if value not in (None, "")}

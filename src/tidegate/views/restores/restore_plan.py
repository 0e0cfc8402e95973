"""The plan of a restore as a person reads it: conflicts first, then what it would wait for, then each volume."""

from tidegate.model.restores.restore_plan import PlannedVolume, RestorePlan
from tidegate.views.quantities import UNKNOWN
from tidegate.views.reader import Reader
from tidegate.views.table import Column, Section, TableView, section, sections


def _size(volume: PlannedVolume, reader: Reader) -> str:
    return UNKNOWN if volume.size is None else reader.size(volume.size)


def _now_there(volume: PlannedVolume) -> str:
    if volume.place is None:
        return UNKNOWN
    return volume.place.detail or "nothing"


PLANNED_VOLUMES: TableView[PlannedVolume] = TableView(
    (PlannedVolume,),
    (
        Column("VOLUME", lambda volume, _: volume.volume),
        Column("TO VOLUME", lambda volume, _: volume.target_volume, wide=True),
        Column("KIND", lambda volume, _: str(volume.kind)),
        Column("SIZE", _size, right=True),
        Column("DESTINATION", lambda volume, _: volume.destination or UNKNOWN),
        Column("NOW THERE", lambda volume, _: _now_there(volume)),
        Column("TARGET", lambda volume, _: volume.target, wide=True),
        Column("STORE BACKUP", lambda volume, _: volume.store_backup),
    ),
)


def plan_sentence(plan: RestorePlan) -> str:
    """What would come of it, in one sentence."""
    count = len(plan.volumes)
    source = f" of backup {plan.backup_name}" if plan.backup_name else ""
    what = f"{count} volume{'s'[: count != 1]}{source}"
    if plan.conflicts:
        conflicts = len(plan.conflicts)
        return f"Nothing was changed. {conflicts} conflict{'s'[: conflicts != 1]} in the way of {what}."
    when = "at once"
    if plan.waits:
        place = f" at position {plan.queue_position}" if plan.queue_position else ""
        when = f"after a wait{place} ({plan.waits[0].reason})"
    return f"Nothing was changed. {what[0].upper()}{what[1:]} would be restored {when}."


def plan_sections(plan: RestorePlan) -> tuple[Section, ...]:
    """All but the volumes."""
    return sections(
        section("Conflicts", [(conflict.volume, conflict.message) for conflict in plan.conflicts]),
        section("Would wait for", [(str(wait.reason), wait.message) for wait in plan.waits]),
        section("Warnings", [("Warning", warning) for warning in plan.warnings]),
    )

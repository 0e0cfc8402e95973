"""Schedules as a table and as a description."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice

from tidegate.model.backups.backup import Backup
from tidegate.model.schedules.cron import Cron
from tidegate.model.schedules.retention import Retention
from tidegate.model.schedules.schedule import SKIPPED_CONDITION, Schedule, SchedulePhase
from tidegate.views.phases import identity_lines, phase_cell
from tidegate.views.quantities import human_span
from tidegate.views.reader import Reader
from tidegate.views.schedules.cron_words import cron_words
from tidegate.views.table import Cell, Column, Section, TableView, Tone, joined, label_text, section, sections

PAUSED = "Paused"
_TIMES_SHOWN = 5


def coming_times(schedule: Schedule, now: datetime, count: int) -> list[datetime]:
    """The next times, in the zone of the schedule; none if it makes no sense."""
    try:
        cron = Cron.read(schedule.spec.schedule, schedule.spec.timezone)
    except ValueError:
        return []
    return list(islice(cron.after(now), count))


def _status(schedule: Schedule) -> Cell:
    if schedule.spec.paused and schedule.status.phase is not SchedulePhase.FAILED_VALIDATION and not schedule.deleting:
        return Cell(PAUSED, Tone.WAITING)
    return phase_cell(schedule, schedule.status.phase)


def _next(schedule: Schedule, reader: Reader) -> str:
    if schedule.spec.paused:
        return ""
    return next((reader.until(time) for time in coming_times(schedule, reader.now, 1)), "")


def _skip_message(schedule: Schedule) -> str:
    condition = schedule.status.condition(SKIPPED_CONDITION)
    return "" if condition is None else condition.message


def _skip_reason(schedule: Schedule) -> Cell:
    condition = schedule.status.condition(SKIPPED_CONDITION)
    return Cell("") if condition is None else Cell(condition.reason, Tone.WAITING)


def _words(schedule: Schedule) -> str:
    return cron_words(schedule.spec.schedule, schedule.spec.timezone)


def retention_words(retention: Retention | None) -> str:
    """`last 3, daily 7`."""
    if retention is None:
        return ""
    return joined(f"{rule.removeprefix('keep_')} {count}" for rule, count in retention if count)


SCHEDULES = TableView(
    (Schedule,),
    (
        Column("NAME", lambda schedule, _: schedule.name),
        Column("STATUS", lambda schedule, _: _status(schedule)),
        Column("SCHEDULE", lambda schedule, _: _words(schedule)),
        Column("NEXT", _next),
        Column("LAST BACKUP", lambda schedule, reader: reader.age(schedule.status.last_backup)),
        Column("SKIPPED", lambda schedule, _: _skip_reason(schedule)),
        Column("AGE", lambda schedule, reader: reader.age(schedule.metadata.creation_timestamp)),
        Column("CRON", lambda schedule, _: schedule.spec.schedule, wide=True),
        Column(
            "NAMESPACES", lambda schedule, _: joined(schedule.spec.template.included_namespaces, empty="*"), wide=True
        ),
        Column("TARGET", lambda schedule, _: schedule.spec.template.storage_location, wide=True),
        Column("KEEPS", lambda schedule, _: retention_words(schedule.spec.retention), wide=True),
        Column("MESSAGE", lambda schedule, _: _skip_message(schedule), wide=True),
    ),
)


def describe_schedule(
    schedule: Schedule, backups: Sequence[Backup], kept: Mapping[str, Sequence[str]], reader: Reader
) -> tuple[Section, ...]:
    """All there is to say about a schedule; `kept` says why retention keeps each of its backups."""
    status = schedule.status
    return sections(
        section("Schedule", [*identity_lines(schedule, reader), ("Status", _status(schedule).text)]),
        section("Times", _time_lines(schedule, reader)),
        section("Contents", _content_lines(schedule)),
        section(
            "Runs",
            [
                ("Last backup", reader.moment_and_age(status.last_backup)),
                ("Last skipped", reader.moment_and_age(status.last_skipped)),
                ("Why", _skip_message(schedule)),
            ],
        ),
        section("Backups", [(backup.name, _backup_line(backup, kept)) for backup in backups]),
        section(
            "Problems",
            [
                *(("Not found", sentence) for sentence in status.unmatched),
                *(("Invalid", error) for error in status.validation_errors),
            ],
        ),
    )


def _time_lines(schedule: Schedule, reader: Reader) -> list[tuple[str, str]]:
    times = [] if schedule.spec.paused else coming_times(schedule, reader.now, _TIMES_SHOWN)
    return [
        ("Schedule", _words(schedule)),
        ("Cron", schedule.spec.schedule),
        *(("Next", time_line(time)) for time in times),
    ]


def time_line(time: datetime) -> str:
    """A time on the wall of the schedule's zone."""
    return f"{time:%a} {time.isoformat(sep=' ', timespec='seconds')}"


def _content_lines(schedule: Schedule) -> list[tuple[str, str]]:
    template, system = schedule.spec.template, schedule.spec.system_backup
    if system is not None:
        return [
            ("System backups", f"volume backup policy {system.volume_backup_policy}"),
            ("Target", system.target or "the default"),
            ("Keeps", retention_words(schedule.spec.retention)),
            ("Deleted with it", "its system backups" if schedule.spec.use_owner_references_in_backup else ""),
        ]
    return [
        ("Namespaces", joined(template.included_namespaces, empty="all")),
        ("Without", joined(template.excluded_namespaces)),
        ("Selector", " or ".join(label_text(choice.match_labels) for choice in template.label_choices)),
        ("May be empty", "yes" if template.allow_empty else ""),
        ("Target", template.storage_location or "the default"),
        ("Kept for at most", human_span(template.ttl)),
        ("Keeps", retention_words(schedule.spec.retention)),
        ("Verified", _verification_words(schedule)),
        ("Deleted with it", "its backups" if schedule.spec.use_owner_references_in_backup else ""),
    ]


def _verification_words(schedule: Schedule) -> str:
    wanted = schedule.spec.verification
    if wanted is None:
        return ""
    check = f", with {' '.join(wanted.check.command)}" if wanted.check else ""
    return f"{wanted.schedule} {schedule.spec.timezone}{check}"


def _backup_line(backup: Backup, kept: Mapping[str, Sequence[str]]) -> str:
    reasons = kept.get(backup.name, ())
    why = f", kept: {', '.join(reasons)}" if reasons else ""
    return f"{backup.status.phase}{why}"


def creation_sentence(schedule: Schedule, reader: Reader) -> str:
    """What a new schedule will do, in the words of its own zone, and what it asks for in vain."""
    return "\n".join((_times_sentence(schedule, reader), *(f"Warning: {one}." for one in schedule.status.unmatched)))


def _times_sentence(schedule: Schedule, reader: Reader) -> str:
    if schedule.spec.paused:
        return f"It is paused; when resumed, it runs {_words(schedule)}."
    first = next(iter(coming_times(schedule, reader.now, 1)), None)
    return f"It runs {_words(schedule)}, next on {time_line(first)}." if first else ""


def next_table(timezone: str, times: Sequence[tuple[str, str]]) -> list[str]:
    """Times on the wall of the zone beside the same in UTC, under a heading."""
    rows = [
        (time_line(datetime.fromisoformat(local)), utc.replace("T", " ").removesuffix("+00:00")) for local, utc in times
    ]
    width = max((len(local) for local, _ in [*rows, (timezone, "")]), default=0)
    return [f"{local.ljust(width)}  {utc}" for local, utc in [(timezone.upper(), "UTC"), *rows]]

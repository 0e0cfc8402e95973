"""Restores as a table and as a description."""

from collections.abc import Sequence

from tidegate.model.restores.restore import Restore
from tidegate.model.transfers.transfer import Transfer
from tidegate.views.job import restore_job
from tidegate.views.job_parts import share_text, size_text, times_section, took
from tidegate.views.phases import (
    conditions_section,
    event_line,
    identity_lines,
    phase_cell,
    shown_phase,
    waiting_message,
    waiting_reason,
    waiting_section,
)
from tidegate.views.quantities import ordinal_of
from tidegate.views.reader import Reader
from tidegate.views.table import Column, Section, TableView, joined, section, sections
from tidegate.views.transfers.transfer import job_progress_section, volume_sections

_MOST_NAMES = 20


def restore_source(restore: Restore) -> str:
    """What it brings back: a backup, the newest of a schedule, or one volume backup."""
    spec = restore.spec
    if spec.schedule_name:
        found = f": {restore.status.backup_name}" if restore.status.backup_name else ""
        return f"newest of schedule {spec.schedule_name}{found}"
    return spec.backup_name or spec.backup_url or ""


def _items(restore: Restore) -> str:
    progress = restore.status.progress
    return "" if progress is None else ordinal_of(progress.items_restored, progress.total_items)


def _destination(restore: Restore) -> str:
    return restore.spec.destination or "where it came from"


RESTORES = TableView(
    (Restore,),
    (
        Column("NAME", lambda restore, _: restore.name),
        Column("STATUS", lambda restore, _: phase_cell(restore, restore.status.phase)),
        Column("FROM", lambda restore, _: restore_source(restore)),
        Column("WAITS FOR", lambda restore, _: waiting_reason(restore.status)),
        Column("POSITION", lambda restore, _: str(restore.status.queue_position or ""), right=True, wide=True),
        Column("DONE", share_text, right=True),
        Column("SIZE", size_text, right=True),
        Column("ITEMS", lambda restore, _: _items(restore)),
        Column("ERRORS", lambda restore, _: str(restore.status.errors), right=True),
        Column("WARNINGS", lambda restore, _: str(restore.status.warnings), right=True),
        Column("STARTED", lambda restore, reader: reader.moment(restore.status.start_timestamp)),
        Column("AGE", lambda restore, reader: reader.age(restore.metadata.creation_timestamp)),
        Column("TO", lambda restore, _: _destination(restore), wide=True),
        Column("TOOK", lambda restore, reader: took(restore.status, reader), wide=True),
        Column(
            "MESSAGE", lambda restore, _: restore.status.failure_reason or waiting_message(restore.status), wide=True
        ),
    ),
)


def describe_restore(restore: Restore, transfers: Sequence[Transfer], reader: Reader) -> tuple[Section, ...]:
    """All there is to say about a restore and the volumes it brings back."""
    status = restore.status
    job = restore_job(restore, transfers)
    return sections(
        section("Restore", [*identity_lines(restore, reader), ("Status", shown_phase(restore, status.phase))]),
        waiting_section(status, reader, position=status.queue_position),
        section("Contents", _content_lines(restore)),
        job_progress_section(job, reader),
        times_section(status, reader),
        *volume_sections(job.transfers, reader),
        section("Problems", _problem_lines(restore)),
        conditions_section(status, reader),
        section("Events", [event_line(event, reader) for event in status.events]),
    )


def _content_lines(restore: Restore) -> list[tuple[str, str]]:
    spec = restore.spec
    return [
        ("From", restore_source(restore)),
        ("To", _destination(restore)),
        ("Existing data", "overwritten" if spec.existing_data == "overwrite" else "left alone"),
        ("Namespaces", joined(spec.included_namespaces, empty="all")),
        ("Without", joined(spec.excluded_namespaces)),
        ("Renamed", joined(f"{old} to {new}" for old, new in spec.namespace_mapping.items())),
        ("Volumes", joined(spec.included_volumes, empty="all")),
        ("Volumes first", joined(spec.volume_order)),
        ("Paths", joined(spec.included_paths)),
        ("Force", "yes, also onto what is in use" if spec.force else ""),
        ("Writes to", _few(restore.status.target_volumes or ())),
    ]


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return joined(names[:_MOST_NAMES]) + more


def _problem_lines(restore: Restore) -> list[tuple[str, str]]:
    status = restore.status
    return [
        ("Failure", status.failure_reason or ""),
        *(("Invalid", error) for error in status.validation_errors),
        ("Errors", str(status.errors or "")),
        ("Warnings", str(status.warnings or "")),
    ]

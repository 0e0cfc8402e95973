"""Verifications as a table and as a description."""

from collections.abc import Sequence

from tidegate.model.backups.verification_record import VerificationRecord
from tidegate.model.transfers.transfer import Transfer
from tidegate.model.verification.verification import Verification
from tidegate.views.job import verification_job
from tidegate.views.job_parts import share_text, size_text, times_section, took
from tidegate.views.phases import (
    conditions_section,
    event_line,
    identity_lines,
    phase_cell,
    waiting_message,
    waiting_reason,
    waiting_section,
)
from tidegate.views.quantities import ordinal_of
from tidegate.views.reader import Reader
from tidegate.views.table import Column, Section, TableView, section, sections
from tidegate.views.transfers.transfer import job_progress_section, volume_sections


def _source(verification: Verification) -> str:
    spec, found = verification.spec, verification.status.backup_name
    if spec.schedule_name:
        return f"newest of schedule {spec.schedule_name}{f': {found}' if found else ''}"
    return spec.backup_name or ""


def _volumes(verification: Verification) -> str:
    progress = verification.status.progress
    return "" if progress is None else ordinal_of(progress.items_verified, progress.total_items)


def _bytes(verification: Verification, reader: Reader) -> str:
    progress = verification.status.progress
    return "" if progress is None else reader.size(progress.bytes_verified)


def _check(verification: Verification) -> str:
    return " ".join(verification.spec.check.command) if verification.spec.check else ""


VERIFICATIONS = TableView(
    (Verification,),
    (
        Column("NAME", lambda one, _: one.name),
        Column("STATUS", lambda one, _: phase_cell(one, one.status.phase)),
        Column("BACKUP", lambda one, _: _source(one)),
        Column("WAITS FOR", lambda one, _: waiting_reason(one.status)),
        Column("DONE", share_text, right=True),
        Column("SIZE", size_text, right=True),
        Column("VOLUMES", lambda one, _: _volumes(one)),
        Column("VERIFIED", _bytes, right=True),
        Column("AGE", lambda one, reader: reader.age(one.metadata.creation_timestamp)),
        Column("CHECK", lambda one, _: _check(one), wide=True),
        Column("TOOK", lambda one, reader: took(one.status, reader), wide=True),
        Column("MESSAGE", lambda one, _: one.status.failure_reason or waiting_message(one.status), wide=True),
    ),
)


def describe_verification(
    verification: Verification, transfers: Sequence[Transfer], reader: Reader
) -> tuple[Section, ...]:
    """All there is to say about a verification and the volumes that it restores."""
    status = verification.status
    job = verification_job(verification, transfers)
    return sections(
        section("Verification", [*identity_lines(verification, reader), ("Status", job.phase)]),
        waiting_section(status, reader),
        section(
            "Contents",
            [
                ("Backup", _source(verification)),
                ("Check", _check(verification)),
                ("Restored to", status.scratch or ""),
                ("Will end as", str(status.outcome) if status.outcome and not status.phase.final else ""),
                ("Volumes proven", _volumes(verification)),
                ("Bytes proven", _bytes(verification, reader)),
            ],
        ),
        job_progress_section(job, reader),
        times_section(status, reader),
        *volume_sections(job.transfers, reader),
        section(
            "Problems",
            [("Failure", status.failure_reason or ""), *(("Invalid", error) for error in status.validation_errors)],
        ),
        conditions_section(status, reader),
        section("Events", [event_line(event, reader) for event in status.events]),
    )


def record_section(record: VerificationRecord | None, reader: Reader) -> Section:
    """What a backup tells about whether it restores."""
    if record is None:
        return section("Verification", [("Verified", "never")])
    return section(
        "Verification",
        [
            ("Verified", reader.moment_and_age(record.verified_at) or "never"),
            ("By", record.verified_by or ""),
            ("Volumes", str(record.volumes or "")),
            ("Bytes", reader.size(record.bytes) if record.verified_at else ""),
            ("Checked with", record.checked_with or ""),
            ("Failed", reader.moment_and_age(record.failed_at)),
            ("Failed in", record.failed_by or ""),
            ("Failure", record.failure or ""),
        ],
    )


def verified_cell(record: VerificationRecord | None, reader: Reader) -> str:
    """For a column: how long ago it was proven, or that it was not."""
    if record is None:
        return ""
    if record.failed_at is not None:
        return "failed"
    return f"{reader.age(record.verified_at)} ago"

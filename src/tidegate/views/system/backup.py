"""System backups as a table, as a description and as something to wait for."""

from collections import Counter

from tidegate.model.system.system import (
    SystemBackup,
    SystemBackupPhase,
    SystemBackupVolume,
    VolumeDecision,
    VolumeOutcome,
)
from tidegate.views.job import Job, job_without_transfers
from tidegate.views.job_parts import share_text, times_section, volumes_text
from tidegate.views.phases import (
    conditions_section,
    identity_lines,
    phase_cell,
    shown_phase,
    waiting_message,
    waiting_reason,
    waiting_section,
)
from tidegate.views.quantities import ordinal_of
from tidegate.views.reader import Reader
from tidegate.views.table import Column, Section, TableView, section, sections
from tidegate.views.transfers.transfer import job_progress_section


def volumes_done(system: SystemBackup) -> tuple[int, int]:
    """Of the volumes that it has backed up, how many are done."""
    made = [row for row in system.status.volumes if row.decision is VolumeDecision.CREATED]
    return sum(row.state is VolumeOutcome.COMPLETED for row in made), len(made)


def _policy(system: SystemBackup) -> str:
    """Of one that was found in a store nobody here chose it; its archive knows, and is not opened for a list."""
    return "" if system.status.last_synced_at else str(system.spec.volume_backup_policy)


def _volumes(system: SystemBackup) -> str:
    done, made = volumes_done(system)
    return ordinal_of(done, made) if made else ""


SYSTEM_BACKUPS = TableView(
    (SystemBackup,),
    (
        Column("NAME", lambda system, _: system.name),
        Column("STATUS", lambda system, _: phase_cell(system, system.status.phase)),
        Column("POLICY", lambda system, _: _policy(system)),
        Column("VOLUMES", lambda system, _: _volumes(system)),
        Column("DONE", share_text, right=True),
        Column("WAITS FOR", lambda system, _: waiting_reason(system.status)),
        Column("TARGET", lambda system, _: system.spec.target),
        Column(
            "SIZE",
            lambda system, reader: "" if system.status.size is None else reader.size(system.status.size),
            right=True,
        ),
        Column("TAKEN", lambda system, reader: reader.moment(system.status.created_at)),
        Column("AGE", lambda system, reader: reader.age(system.metadata.creation_timestamp), wide=True),
        Column("VERSION", lambda system, _: system.status.version, wide=True),
        Column("MESSAGE", lambda system, _: system.status.failure_reason or waiting_message(system.status), wide=True),
    ),
)


def describe_system_backup(system: SystemBackup, reader: Reader) -> tuple[Section, ...]:
    """All there is to say about it, and one line for each volume."""
    status = system.status
    creating = status.phase is SystemBackupPhase.CREATING_VOLUME_BACKUPS
    return sections(
        section("System backup", [*identity_lines(system, reader), ("Status", shown_phase(system, status.phase))]),
        waiting_section(status, reader),
        section(
            "Archive",
            [
                ("Policy", _policy(system)),
                ("Target", system.spec.target),
                ("URL", status.url),
                ("Size", "" if status.size is None else reader.size(status.size)),
                ("SHA-256", status.checksum),
                ("Encrypted", status.encryption),
                ("Version", status.version),
                ("Taken", reader.moment_and_age(status.created_at)),
                ("Last synced", reader.moment_and_age(status.last_synced_at)),
            ],
        ),
        job_progress_section(system_backup_job(system), reader),
        times_section(status, reader, deadline=status.deadline),
        section(
            "Volumes", [_volume_line(row, reader.until(status.deadline) if creating else "") for row in status.volumes]
        ),
        section("Problems", [("Failure", status.failure_reason or "")]),
        conditions_section(status, reader),
    )


def _volume_line(row: SystemBackupVolume, left: str) -> tuple[str, str]:
    """The decision and why; then how far its backup is, and how long it may still take."""
    words = [f"{row.decision}: {row.reason}" if row.reason else str(row.decision)]
    if row.backup:
        words.append(f"backup {row.backup}")
    if row.decision is VolumeDecision.CREATED:
        words.append(f"{row.state}: {row.message}" if row.message else str(row.state))
        if left and row.state in {VolumeOutcome.WAITING, VolumeOutcome.IN_PROGRESS}:
            words.append(f"time left {left}")
    return row.volume, ", ".join(words)


def _volumes_of(decision: VolumeDecision, decided: int, done: int) -> str:
    """What was decided for all of them became true of those that are done."""
    short = decision is VolumeDecision.CREATED and done < decided
    return f"{done} of {volumes_text(decided)}" if short else volumes_text(decided)


def system_backup_job(system: SystemBackup) -> Job:
    """For somebody who waits for it."""
    done, made = volumes_done(system)
    rows = system.status.volumes
    counts = Counter(row.decision for row in rows)
    return job_without_transfers(
        system,
        "System backup",
        items=(done, made) if made else None,
        errors=sum(row.state is VolumeOutcome.FAILED for row in rows),
        remark=", ".join(
            f"{_volumes_of(decision, counts[decision], done)} {str(decision).lower()}"
            for decision in VolumeDecision
            if counts[decision]
        ),
    )

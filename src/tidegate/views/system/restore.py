"""System restores as a table, as a plan, as a description and as something to wait for."""

from collections import Counter

from tidegate.model.system.system_restore import (
    DefinitionAction,
    RestoredDefinition,
    RestoredVolume,
    RestoredVolumeState,
    SystemRestore,
)
from tidegate.views.job import Job, job_without_transfers
from tidegate.views.job_parts import share_text, size_text, times_section, took, volumes_text
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


def volumes_back(system: SystemRestore) -> tuple[int, int]:
    """Of the volumes whose data is wanted, how many are back."""
    wanted = [row for row in system.status.volumes if row.state is not RestoredVolumeState.SKIPPED]
    return sum(row.state is RestoredVolumeState.COMPLETED for row in wanted), len(wanted)


def _volumes(system: SystemRestore) -> str:
    back, wanted = volumes_back(system)
    return ordinal_of(back, wanted) if wanted else ""


SYSTEM_RESTORES = TableView(
    (SystemRestore,),
    (
        Column("NAME", lambda system, _: system.name),
        Column("STATUS", lambda system, _: phase_cell(system, system.status.phase)),
        Column("FROM", lambda system, _: system.spec.system_backup),
        Column("VOLUMES", lambda system, _: _volumes(system)),
        Column("DONE", share_text, right=True),
        Column("SIZE", size_text, right=True),
        Column("WAITS FOR", lambda system, _: waiting_reason(system.status)),
        Column("AGE", lambda system, reader: reader.age(system.metadata.creation_timestamp)),
        Column("TOOK", lambda system, reader: took(system.status, reader), wide=True),
        Column("MESSAGE", lambda system, _: system.status.failure_reason or waiting_message(system.status), wide=True),
    ),
)

PLANNED_DEFINITIONS: TableView[RestoredDefinition] = TableView(
    (RestoredDefinition,),
    (
        Column("KIND", lambda row, _: row.kind),
        Column("NAME", lambda row, _: row.name),
        Column("ACTION", lambda row, _: str(row.action)),
        Column("WHY", lambda row, _: row.reason),
    ),
)

PLANNED_VOLUMES: TableView[RestoredVolume] = TableView(
    (RestoredVolume,),
    (
        Column("VOLUME", lambda row, _: row.volume),
        Column("DATA", lambda row, _: _planned_word(row)),
        Column("FROM OR WHY NOT", lambda row, _: row.backup_url or row.reason),
    ),
)


def _planned_word(row: RestoredVolume) -> str:
    words = {RestoredVolumeState.WAITING: "comes back", RestoredVolumeState.FAILED: "missing"}
    return words.get(row.state, "left alone")


_ACTION_WORDS = {
    DefinitionAction.CREATE: "to create",
    DefinitionAction.UPDATE: "to update",
    DefinitionAction.UNCHANGED: "unchanged",
    DefinitionAction.KEEP: "kept as they are here",
}


def plan_sentence(system: SystemRestore) -> str:
    """What would happen, in one line."""
    actions = Counter(row.action for row in system.status.definitions)
    data = Counter(_planned_word(row) for row in system.status.volumes)
    told = [f"{count} definitions {_ACTION_WORDS[action]}" for action, count in actions.items()]
    told += [f"data of {volumes_text(count)} {word}" for word, count in data.items()]
    return f"Nothing was changed. From {system.status.source_url}: {', '.join(told) or 'nothing'}."


def describe_system_restore(system: SystemRestore, reader: Reader) -> tuple[Section, ...]:
    """All there is to say about it: each definition, each volume."""
    status = system.status
    return sections(
        section("System restore", [*identity_lines(system, reader), ("Status", shown_phase(system, status.phase))]),
        waiting_section(status, reader),
        section(
            "Source",
            [
                ("From", system.spec.system_backup),
                ("Archive", status.source_url),
                ("Target", status.target),
                ("Volumes", str(system.spec.volumes)),
            ],
        ),
        job_progress_section(system_restore_job(system), reader),
        times_section(status, reader, deadline=status.deadline),
        section("Definitions", [_definition_line(row) for row in status.definitions]),
        section("Volumes", [_volume_line(row) for row in status.volumes]),
        section("Problems", [("Failure", status.failure_reason or "")]),
        conditions_section(status, reader),
    )


def _definition_line(row: RestoredDefinition) -> tuple[str, str]:
    words = [str(row.action), "done" if row.done else "", row.reason]
    return f"{row.kind} {row.name}", ", ".join(word for word in words if word)


def _volume_line(row: RestoredVolume) -> tuple[str, str]:
    words = [str(row.state), row.reason, f"restore {row.restore}" if row.restore else "", row.backup_url]
    return row.volume, ", ".join(word for word in words if word)


def system_restore_job(system: SystemRestore) -> Job:
    """For somebody who waits for it."""
    back, wanted = volumes_back(system)
    done = sum(row.done for row in system.status.definitions)
    data = f", {ordinal_of(back, wanted)} volumes" if wanted else ""
    return job_without_transfers(
        system,
        "System restore",
        items=(back, wanted) if wanted else None,
        errors=sum(row.state is RestoredVolumeState.FAILED for row in system.status.volumes),
        remark=f"{done} definitions{data}",
    )

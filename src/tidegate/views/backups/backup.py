"""Backups as a table and as a description."""

from collections.abc import Sequence

from tidegate.model.backups.backup import EMPTY_CONDITION, Backup, BackupPhase, OnInterruption
from tidegate.model.backups.item_block import BlockPhase, BlockProgress
from tidegate.model.queue.queue import QueueExplanation
from tidegate.model.transfers.transfer import DATA_REMOVED, Transfer
from tidegate.views.job import backup_job, volume_of
from tidegate.views.job_parts import share_text, size_text
from tidegate.views.phases import (
    conditions_section,
    event_line,
    identity_lines,
    phase_cell,
    waiting_message,
    waiting_reason,
    waiting_section,
)
from tidegate.views.quantities import human_span, ordinal_of
from tidegate.views.queue.queue import ends_first_sentence, expected_start
from tidegate.views.reader import Reader
from tidegate.views.table import Cell, Column, Section, TableView, Tone, joined, label_text, section, sections
from tidegate.views.transfers.transfer import job_progress_section, volume_sections
from tidegate.views.verification.verification import record_section, verified_cell

PINNED = "pinned"
_MOST_OBSTACLES = 10


def _items(backup: Backup) -> str:
    progress = backup.status.progress
    return "" if progress is None else ordinal_of(progress.items_backed_up, progress.total_items)


def _status(backup: Backup) -> Cell:
    """One that completed and holds nothing, or whose data was deleted since, must not look like one that holds all."""
    if backup.holds_nothing and backup.status.phase is BackupPhase.COMPLETED and not backup.deleting:
        return Cell(f"{backup.status.phase}, empty", Tone.WAITING if backup.spec.allow_empty else Tone.BAD)
    if backup.status.condition(DATA_REMOVED) is None or backup.deleting:
        return phase_cell(backup, backup.status.phase)
    return Cell(f"{backup.status.phase}, data removed", Tone.BAD)


def _message(backup: Backup) -> str:
    status = backup.status
    told = status.condition(DATA_REMOVED) or status.condition(EMPTY_CONDITION)
    return status.failure_reason or waiting_message(status) or (told.message if told else "; ".join(status.unmatched))


def _count(number: int, tone: Tone) -> Cell:
    return Cell(str(number), tone if number else Tone.PLAIN)


def _namespaces(backup: Backup) -> str:
    included = joined(backup.spec.included_namespaces, empty="*")
    excluded = joined(backup.spec.excluded_namespaces)
    return f"{included} without {excluded}" if excluded else included


def _selector(backup: Backup) -> str:
    selectors = (backup.spec.label_selector, *backup.spec.or_label_selectors)
    return " or ".join(label_text(selector.match_labels) for selector in selectors if selector is not None)


BACKUPS = TableView(
    (Backup,),
    (
        Column("NAME", lambda backup, _: backup.name),
        Column("STATUS", lambda backup, _: _status(backup)),
        Column("QUEUE", lambda backup, _: str(backup.status.queue_position or ""), right=True),
        Column("WAITS FOR", lambda backup, _: waiting_reason(backup.status)),
        Column("DONE", share_text, right=True),
        Column("SIZE", size_text, right=True),
        Column("ITEMS", lambda backup, _: _items(backup)),
        Column("ERRORS", lambda backup, _: _count(backup.status.errors, Tone.BAD), right=True),
        Column("WARNINGS", lambda backup, _: _count(backup.status.warnings, Tone.WAITING), right=True),
        Column("STARTED", lambda backup, reader: reader.moment(backup.status.start_timestamp)),
        Column("AGE", lambda backup, reader: reader.age(backup.metadata.creation_timestamp)),
        Column("EXPIRES", lambda backup, reader: PINNED if backup.pinned else reader.until(backup.status.expiration)),
        Column("VERIFIED", lambda backup, reader: verified_cell(backup.status.verification, reader), wide=True),
        Column("NAMESPACES", lambda backup, _: _namespaces(backup), wide=True),
        Column("TARGET", lambda backup, _: backup.spec.storage_location, wide=True),
        Column("PRIORITY", lambda backup, _: str(backup.spec.priority), wide=True, right=True),
        Column(
            "TOOK",
            lambda backup, reader: reader.took(backup.status.start_timestamp, backup.status.completion_timestamp),
            wide=True,
        ),
        Column("MESSAGE", lambda backup, _: _message(backup), wide=True),
    ),
)


def describe_backup(
    backup: Backup, transfers: Sequence[Transfer], reader: Reader, *, explanation: QueueExplanation | None = None
) -> tuple[Section, ...]:
    """All there is to say about a backup and the volumes it moves; `explanation` tells more about its wait."""
    status = backup.status
    phase = _status(backup).text
    job = backup_job(backup, transfers)
    return sections(
        section("Backup", [*identity_lines(backup, reader), ("Status", phase)]),
        _waiting(backup, reader, explanation),
        section("Contents", _content_lines(backup)),
        section("Blocks", _block_lines(backup, job.transfers)),
        job_progress_section(job, reader),
        section("Times", _time_lines(backup, reader)),
        *volume_sections(job.transfers, reader),
        *([record_section(status.verification, reader)] if status.phase.final else ()),
        section("Problems", _problem_lines(backup)),
        conditions_section(status, reader),
        section("Events", [event_line(event, reader) for event in status.events]),
    )


def _waiting(backup: Backup, reader: Reader, explanation: QueueExplanation | None) -> Section:
    found = waiting_section(backup.status, reader, position=backup.status.queue_position)
    if explanation is None or explanation.position is None:
        return found
    # The first obstacle is the reason above; the others are in its way too.
    others = [("Also", obstacle.message) for obstacle in explanation.obstacles[1:_MOST_OBSTACLES]]
    ends_first = ("Has to end first", ends_first_sentence(explanation))
    return section(
        found.heading, [*found.lines, *others, ends_first, ("Expected start", expected_start(explanation, reader))]
    )


def queue_sentence(backup: Backup, *, dry_run: bool) -> str:
    """Where a backup stands, or with a dry run would stand, in the queue."""
    place = _place_sentence(backup, dry_run=dry_run)
    return "\n".join((place, *(f"Warning: {sentence}." for sentence in backup.status.unmatched)))


def _place_sentence(backup: Backup, *, dry_run: bool) -> str:
    position, reason = backup.status.queue_position, waiting_reason(backup.status)
    if position is None and not reason:
        return f"Backup {backup.name} {'would start' if dry_run else 'starts'} at once."
    if position is None:
        place = "would wait" if dry_run else "waits"
    else:
        place = f"{'would be' if dry_run else 'is'} number {position} in the queue"
    why = f", because of {reason}" if reason else ""
    message = waiting_message(backup.status)
    return f"Backup {backup.name} {place}{why}{f': {message}' if message else '.'}"


def _content_lines(backup: Backup) -> list[tuple[str, str]]:
    spec = backup.spec
    return [
        ("Namespaces", joined(spec.included_namespaces, empty="all")),
        ("Without", joined(spec.excluded_namespaces)),
        ("Selector", _selector(backup)),
        ("May be empty", "yes" if spec.allow_empty else ""),
        ("Target", spec.storage_location),
        ("Hooks", joined(tuple(hook.name for hook in spec.hooks.resources))),
        ("First", spec.ordered_resources.get("volumes", "")),
        ("Priority", str(spec.priority) if spec.priority else ""),
        ("If interrupted", "queued again" if spec.on_interruption is OnInterruption.REQUEUE else ""),
        ("Kept for", human_span(spec.ttl)),
    ]


def _block_lines(backup: Backup, transfers: Sequence[Transfer]) -> list[tuple[str, str]]:
    """What each block does that is under way, and how many wait for a worker."""
    blocks = backup.status.blocks
    waiting = sum(not block.under_way for block in blocks)
    held = {volume_of(one) for one in transfers if not (one.status.phase.moving or one.status.phase.final)}
    return [
        *((_block_state(block, held), joined(block.volumes)) for block in blocks if block.under_way),
        ("Waiting", f"{waiting} for a worker (item-block-worker-count)" if waiting else ""),
    ]


def _block_state(block: BlockProgress, held: set[str]) -> str:
    """A block whose turn has come moves nothing as long as a gate stops all of its volumes."""
    at_gates = block.phase is BlockPhase.MOVING and held.issuperset(block.volumes)
    return "At the gates" if at_gates else str(block.phase)


def _time_lines(backup: Backup, reader: Reader) -> list[tuple[str, str]]:
    status = backup.status
    return [
        ("Queued", reader.moment_and_age(status.queued_at)),
        ("Started", reader.moment_and_age(status.start_timestamp)),
        ("Cancel asked", reader.moment_and_age(status.cancel_requested_at)),
        ("Ended", reader.moment_and_age(status.completion_timestamp)),
        ("Took", reader.took(status.start_timestamp, status.completion_timestamp)),
        ("Expires", f"never, it is {PINNED}" if backup.pinned else reader.moment_and_age(status.expiration)),
    ]


def _problem_lines(backup: Backup) -> list[tuple[str, str]]:
    status = backup.status
    return [
        ("Failure", status.failure_reason or ""),
        *(("Hook", problem) for problem in (status.hook_status.problems if status.hook_status else ())),
        *(("Deleted", f"{volume} was deleted before its turn came") for volume in status.gone_volumes),
        *(("Not found", sentence) for sentence in status.unmatched if not status.failure_reason),
        *(("Invalid", error) for error in status.validation_errors),
        ("Errors", str(status.errors or "")),
        ("Warnings", str(status.warnings or "")),
    ]

"""Transfers as a table, as a description, and as part of the job that they belong to."""

from collections.abc import Sequence

from tidegate.model.backups.byte_progress import ByteProgress
from tidegate.model.job_progress import transfer_progress
from tidegate.model.transfers.transfer import TRANSFERS, Transfer
from tidegate.views.job import Job, volume_of
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
from tidegate.views.progress import progress_text
from tidegate.views.quantities import human_duration, new_in_store, ordinal_of
from tidegate.views.reader import Reader
from tidegate.views.table import Column, Section, TableView, section, sections


def _url(transfer: Transfer) -> str:
    return "" if transfer.status.result is None else transfer.status.result.url


def _rate(transfer: Transfer, reader: Reader) -> str:
    return reader.rate(transfer_progress(transfer).rate) if transfer.status.phase.moving else ""


def _stalled(transfer: Transfer) -> str:
    """Since when nothing was heard of its mover, and when it is stopped; empty while it makes progress."""
    stalled = transfer.status.condition("Stalled")
    return stalled.message if stalled else ""


def _words(transfer: Transfer) -> str:
    return _stalled(transfer) or transfer.status.message or waiting_message(transfer.status)


def _left(transfer: Transfer) -> str:
    return _left_line(transfer_progress(transfer))[1] if transfer.status.phase.moving else ""


_COLUMNS: tuple[Column[Transfer], ...] = (
    Column("NAME", lambda transfer, _: transfer.name),
    Column("KIND", lambda transfer, _: transfer.kind),
    Column("VOLUME", lambda transfer, _: volume_of(transfer)),
    Column("STATUS", lambda transfer, _: phase_cell(transfer, transfer.status.phase)),
    Column("WAITS FOR", lambda transfer, _: waiting_reason(transfer.status)),
    Column("DONE", lambda transfer, reader: progress_text(transfer_progress(transfer), reader)),
    Column("RATE", _rate, right=True),
    Column("LEFT", lambda transfer, _: _left(transfer), right=True),
    Column("NODE", lambda transfer, _: transfer.status.node or ""),
    Column("AGE", lambda transfer, reader: reader.age(transfer.metadata.creation_timestamp)),
    Column("TARGET", lambda transfer, _: transfer.spec.target, wide=True),
    Column("URL", lambda transfer, _: _url(transfer), wide=True),
    Column("MESSAGE", lambda transfer, _: _words(transfer), wide=True),
)
TRANSFER_TABLE: TableView[Transfer] = TableView(TRANSFERS, _COLUMNS)


def describe_transfer(transfer: Transfer, reader: Reader) -> tuple[Section, ...]:
    """All there is to say about one transfer."""
    spec, status = transfer.spec, transfer.status
    return sections(
        section(transfer.kind, [*identity_lines(transfer, reader), ("Status", shown_phase(transfer, status.phase))]),
        waiting_section(status, reader),
        section(
            "Way",
            [
                ("For", ", ".join(f"{one.kind.lower()} {one.name}" for one in transfer.metadata.owner_references)),
                ("Volume", f"{volume_of(transfer)} ({spec.volume_kind})"),
                ("Path", spec.path),
                ("Target", spec.target),
                ("In the store", f"{spec.store_volume}, backup {spec.store_backup}"),
                ("Node", status.node or ""),
                ("Cancelled", "asked for" if spec.cancel else ""),
            ],
        ),
        section("Progress", _progress_lines(transfer, reader)),
        section("Result", _result_lines(transfer, reader)),
        section(
            "Times",
            [
                ("Accepted", reader.moment_and_age(status.accepted_timestamp)),
                ("Prepared", reader.moment_and_age(status.prepared_timestamp)),
                ("Started", reader.moment_and_age(status.start_timestamp)),
                ("Ended", reader.moment_and_age(status.completion_timestamp)),
                ("Took", reader.took(status.start_timestamp, status.completion_timestamp)),
            ],
        ),
        conditions_section(status, reader),
        section("Events", [event_line(event, reader) for event in status.events]),
    )


def volume_sections(transfers: Sequence[Transfer], reader: Reader) -> tuple[Section, ...]:
    """One section per volume of a job: its phase, why it waits, its bytes, where it is, what went wrong."""
    return tuple(
        section(
            f"Volume {volume_of(transfer)}",
            [
                ("Status", transfer.status.phase),
                ("Waits for", waiting_reason(transfer.status)),
                ("Because", waiting_message(transfer.status)),
                *_progress_lines(transfer, reader),
                ("Stalled", _stalled(transfer)),
                *_result_lines(transfer, reader),
                ("Took", reader.took(transfer.status.start_timestamp, transfer.status.completion_timestamp)),
                ("Node", transfer.status.node or ""),
            ],
        )
        for transfer in transfers
    )


def job_progress_section(job: Job, reader: Reader) -> Section:
    """How far a job is: its items, and the bytes of all its volumes together."""
    progress = job.progress
    lines: list[tuple[str, str]] = []
    if job.items_done is not None and job.items_total is not None:
        lines.append(("Items", ordinal_of(job.items_done, job.items_total)))
    lines.append(("Bytes", progress_text(progress, reader)))
    if progress.rate is not None and not job.final:
        lines += [("Rate", reader.rate(progress.rate)), _left_line(progress)]
    return section("Progress", [*lines, ("Stage", progress.stage)])


def _progress_lines(transfer: Transfer, reader: Reader) -> list[tuple[str, str]]:
    progress = transfer_progress(transfer)
    lines = [("Done", progress_text(progress, reader)), ("Stage", progress.stage)]
    if transfer.status.phase.moving:
        lines += [("Rate", reader.rate(progress.rate)), _left_line(progress)]
    return lines


def _left_line(progress: ByteProgress) -> tuple[str, str]:
    """Left out as long as it would be a guess."""
    return "Left", "" if progress.left is None else human_duration(progress.left)


def _result_lines(transfer: Transfer, reader: Reader) -> list[tuple[str, str]]:
    status = transfer.status
    lines = [("Message", status.message), ("Error", status.error_code or "")]
    if status.result is not None:
        new = ""
        if transfer.direction == "upload":
            new = new_in_store(status.result.new_bytes, status.result.size, exact=reader.exact_bytes)
        lines += [("New in the store", new), ("Snapshot", status.result.snapshot or ""), ("URL", status.result.url)]
        lines += [("Warning", warning) for warning in status.result.warnings]
    return lines

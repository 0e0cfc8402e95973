"""What happened to a backup or a restore and to its transfers, in one row of lines by time."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from tidegate.model.backups.backup import Backup
from tidegate.model.restores.restore import Restore
from tidegate.model.transfers.transfer import Transfer, TransferPhase
from tidegate.model.verification.verification import Verification
from tidegate.views.job import volume_of
from tidegate.views.phases import waiting_condition
from tidegate.views.table import Cell, Column, TableView, Tone

_BAD = frozenset({"Failed", "PartiallyFailed", "FailedValidation", "Warning"})


class LogLine(NamedTuple):
    """One thing that happened."""

    at: datetime
    who: str
    what: str
    message: str = ""

    @property
    def bad(self) -> bool:
        """Whether something went wrong."""
        return self.what in _BAD


JOB_LOG: TableView[LogLine] = TableView(
    (LogLine,),
    (
        Column("TIME", lambda line, reader: reader.moment(line.at)),
        Column("WHO", lambda line, _: line.who),
        Column("WHAT", lambda line, _: Cell(line.what, Tone.BAD if line.bad else Tone.PLAIN)),
        Column("MESSAGE", lambda line, _: line.message),
    ),
)


def job_log(job: Backup | Restore | Verification, transfers: Sequence[Transfer]) -> list[LogLine]:
    """Oldest first; at one instant, the job before its volumes."""
    return sorted([*_of_job(job), *(line for one in transfers for line in _of_transfer(one))], key=lambda line: line.at)


def _of_job(job: Backup | Restore | Verification) -> Iterator[LogLine]:
    who = f"{job.kind.lower()} {job.name}"
    if job.metadata.creation_timestamp is not None:
        yield LogLine(job.metadata.creation_timestamp, who, "Created")
    for event in job.status.events:
        times = f" ({event.count} times)" if event.count > 1 else ""
        yield LogLine(event.last_timestamp, who, event.reason, f"{event.message}{times}")


def _of_transfer(transfer: Transfer) -> Iterator[LogLine]:
    status, who = transfer.status, volume_of(transfer)
    ended = status.completion_timestamp or transfer.metadata.creation_timestamp
    if (waiting := waiting_condition(status)) is not None and waiting.last_transition_time is not None:
        yield LogLine(waiting.last_transition_time, who, "Waiting", f"{waiting.reason}: {waiting.message}")
    if status.accepted_timestamp is not None:
        yield LogLine(status.accepted_timestamp, who, "Accepted", transfer.name)
    if status.start_timestamp is not None:
        yield LogLine(status.start_timestamp, who, "Started", _way(transfer))
    if status.phase.final and ended is not None:
        for warning in status.result.warnings if status.result else ():
            yield LogLine(ended, who, "Warning", warning)
        yield LogLine(ended, who, str(status.phase), status.message)
    elif status.phase is TransferPhase.CANCELING and status.start_timestamp is not None:
        yield LogLine(status.start_timestamp, who, "Canceling", status.message)


def _way(transfer: Transfer) -> str:
    store = f"{transfer.spec.store_backup} in {transfer.spec.target}"
    if transfer.direction == "download":
        return f"from {store} to {transfer.spec.path}"
    return f"from {transfer.spec.path} to {store}"

"""Everything on its way that somebody may wait for the end of, in one picture: backups, restores, proofs, systems."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from tidegate.model.backups.backup import EMPTY_CONDITION, Backup
from tidegate.model.backups.byte_progress import ByteProgress
from tidegate.model.job_progress import progress_of, transfer_progress
from tidegate.model.resource import Condition
from tidegate.model.restores.restore import Restore
from tidegate.model.system.system import SystemBackup
from tidegate.model.system.system_restore import SystemRestore
from tidegate.model.transfers.transfer import Transfer, TransferPhase
from tidegate.model.verification.verification import Verification
from tidegate.views.phases import DELETING, shown_phase, waiting_condition, waiting_reason
from tidegate.views.progress import progress_text, speed_text
from tidegate.views.quantities import human_duration, ordinal_of
from tidegate.views.reader import Reader


@dataclass(frozen=True)
class Job:
    """What a backup and a restore have in common while somebody waits for them."""

    word: str
    """What it is, to begin a sentence with."""
    name: str
    phase: str
    final: bool
    position: int | None
    waiting: Condition | None
    items_done: int | None
    items_total: int | None
    problems: tuple[str, ...]
    warnings: int
    errors: int
    took: timedelta | None
    """How long it ran; None until it ended."""
    transfers: tuple[Transfer, ...]
    progress: ByteProgress = field(default_factory=ByteProgress)
    """Of all its volumes, also those that wait."""
    remark: str = ""
    """What a person should know even though nothing failed."""


def backup_job(backup: Backup, transfers: Sequence[Transfer]) -> Job:
    """A backup as a job."""
    progress = backup.status.progress
    return _job(
        backup,
        transfers,
        position=backup.status.queue_position,
        items=None if progress is None else (progress.items_backed_up, progress.total_items),
    )


def restore_job(restore: Restore, transfers: Sequence[Transfer]) -> Job:
    """A restore as a job."""
    progress = restore.status.progress
    return _job(
        restore,
        transfers,
        position=restore.status.queue_position,
        items=None if progress is None else (progress.items_restored, progress.total_items),
    )


def verification_job(verification: Verification, transfers: Sequence[Transfer]) -> Job:
    """A verification as a job."""
    progress = verification.status.progress
    items = None if progress is None else (progress.items_verified, progress.total_items)
    return _job(verification, transfers, position=None, items=items)


def _job(
    resource: Backup | Restore | Verification,
    transfers: Sequence[Transfer],
    *,
    position: int | None,
    items: tuple[int, int] | None,
) -> Job:
    status, empty = resource.status, resource.status.condition(EMPTY_CONDITION)
    remark = empty.message if empty and not status.failure_reason else ""
    if isinstance(resource, Backup) and not empty:
        remark = "; ".join(resource.status.unmatched)
    job = job_without_transfers(resource, resource.kind, items=items, remark=remark)
    return replace(
        job,
        position=position,
        problems=(*job.problems, *status.validation_errors),
        warnings=status.warnings,
        errors=status.errors,
        transfers=tuple(sorted(transfers, key=volume_of)),
        progress=progress_of(resource, transfers),
    )


def job_without_transfers(
    resource: Backup | Restore | Verification | SystemBackup | SystemRestore,
    word: str,
    *,
    items: tuple[int, int] | None,
    errors: int = 0,
    remark: str = "",
) -> Job:
    """What is the same for everything that somebody waits for, also if others move its bytes."""
    status = resource.status
    phase = shown_phase(resource, status.phase)
    start, end, told = status.start_timestamp, status.completion_timestamp, status.bytes
    return Job(
        word=word,
        name=resource.name,
        phase=phase,
        final=status.phase.final and phase != DELETING,
        position=None,
        waiting=waiting_condition(status),
        items_done=None if items is None else items[0],
        items_total=None if items is None else items[1],
        problems=(status.failure_reason,) if status.failure_reason else (),
        warnings=0,
        errors=errors,
        took=None if start is None or end is None else end - start,
        transfers=(),
        progress=told.as_progress(final=status.phase.final) if told else ByteProgress(),
        remark=remark,
    )


def volume_of(transfer: Transfer) -> str:
    """Whose data it moves, as `namespace/name`; of a volume that Longhorn wrote nobody knows a namespace."""
    namespace, name = transfer.spec.volume_namespace, transfer.spec.volume_name
    return f"{namespace}/{name}" if namespace else name


def headline(job: Job, reader: Reader) -> str:
    """Where it stands in one line: the phase, then why it waits or how far it is."""
    words = [job.phase]
    if job.position is not None:
        words.append(f"number {job.position} in the queue")
    if job.waiting is not None:
        words.append(_wait_text(job.waiting))
    progress = job.progress
    words += [progress.stage, progress_text(progress, reader), speed_text(progress, reader)]
    if job.items_done is not None and job.items_total:
        words.append(f"{ordinal_of(job.items_done, job.items_total)} items")
    words.append(_waiting_volumes(job))
    return ", ".join(word for word in words if word)


def change_key(job: Job) -> tuple[object, ...]:
    """Differs when there is news worth a line in a log: rates and counts of who waits change all the time.

    Bytes count in tenths of the whole; where the whole is not known, each doubling of them is news.
    """
    share = job.progress.percent
    return (
        job.phase,
        job.position,
        "" if job.waiting is None else _wait_text(job.waiting),
        job.items_done,
        job.items_total,
        job.progress.unmeasured,
        job.progress.done.bit_length() if share is None else share // 10,
        tuple(sorted(_waits(job))),
    )


def ending(job: Job, reader: Reader) -> str:
    """The last sentence: how it ended and what came of it."""
    words = [f"{job.word} {job.name}: {job.phase}"]
    if job.took is not None:
        words.append(f"after {human_duration(job.took)}")
    finished = [transfer for transfer in job.transfers if transfer.status.phase is TransferPhase.COMPLETED]
    if job.transfers:
        words.append(f"{ordinal_of(len(finished), len(job.transfers))} volumes")
    if finished:
        words.append(reader.size(sum(transfer_progress(transfer).done for transfer in finished)))
    elif not job.transfers and job.progress.done:
        words.append(reader.size(job.progress.done))
    words += [f"{count} {word}{'s'[: count > 1]}" for count, word in _troubles(job) if count]
    return ", ".join(words) + (f": {job.remark}" if job.remark else "")


def _troubles(job: Job) -> tuple[tuple[int, str], ...]:
    return (job.errors, "error"), (job.warnings, "warning")


def _wait_text(waiting: Condition) -> str:
    return f"{waiting.reason}: {waiting.message}" if waiting.message else f"waits: {waiting.reason}"


def _waiting_volumes(job: Job) -> str:
    reasons = _waits(job).items()
    return ", ".join(f"{count} volume{'s'[: count > 1]} waiting for {reason}" for reason, count in reasons)


def _waits(job: Job) -> Counter[str]:
    return Counter(filter(None, (waiting_reason(transfer.status) for transfer in job.transfers)))


def failed_volumes(job: Job) -> tuple[str, ...]:
    """One sentence per volume that did not make it."""
    return tuple(
        f"{volume_of(transfer)}: {transfer.status.message or transfer.status.phase}"
        for transfer in job.transfers
        if transfer.status.phase in {TransferPhase.FAILED, TransferPhase.CANCELED}
    )

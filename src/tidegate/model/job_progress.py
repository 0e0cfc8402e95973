"""How far transfers are, alone and as the whole of one job: arithmetic on what they say, with no guess in it."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from tidegate.model.backups.backup import Backup
from tidegate.model.backups.byte_progress import ByteProgress, JobBytes
from tidegate.model.restores.restore import Restore
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, Transfer, TransferPhase
from tidegate.model.transfers.transfer_progress import TransferProgress
from tidegate.model.verification.verification import Verification

J = TypeVar("J", Backup, Restore, Verification)


def transfer_progress(transfer: Transfer) -> ByteProgress:
    """How far one transfer is, in bytes of the volume. What it ended with counts more than what it said on the way."""
    status = transfer.status
    if status.phase is TransferPhase.COMPLETED and status.result is not None:
        return ByteProgress(done=status.result.size, total=status.result.size, final=True)
    told = status.progress or TransferProgress()
    work, moved = told.total_bytes, max(0, told.bytes_done)
    if work is not None:
        moved = min(moved, work)
    known = transfer.spec.expected_size if told.size is None else told.size
    size = work if known is None else known
    done, scale = _of_volume(moved, work, size)
    moving = status.phase.moving
    rate = told.bytes_per_second if moving else None
    return ByteProgress(
        done=done,
        total=size,
        rate=None if rate is None else rate * scale,
        stage=told.stage if moving else "",
        final=status.phase.final,
    )


def _of_volume(moved: int, work: int | None, size: int | None) -> tuple[int, float]:
    """Bytes of the volume that are done, and how many of them each moved byte stands for.

    A mover counts its work: whole blocks, twice what it reads back, and of a volume that has hardly changed only what
    it must look at. What need not be looked at is done.
    """
    if size is None:
        return moved, 1.0
    if work is None:
        return min(moved, size), 1.0
    if work <= size:
        return size - (work - moved), 1.0
    return size * moved // work, size / work


def job_progress(
    transfers: Iterable[Transfer], waiting: Sequence[int | None] = (), *, final: bool = False, settled: bool = True
) -> ByteProgress:
    """How far a whole job is: its transfers, and the last known sizes of its volumes that have none yet.

    While it is not `settled` which volumes belong to it, nothing is said of the whole.
    """
    parts = [transfer_progress(transfer) for transfer in transfers]
    parts += [ByteProgress(total=size) for size in waiting]
    rates = [part.rate for part in parts if part.rate is not None]
    ended = [part for part in parts if part.final and part.total is not None]
    return ByteProgress(
        done=sum(part.done for part in parts),
        total=sum(part.done if part.total is None else part.total for part in parts) if parts and settled else None,
        rate=sum(rates) if rates else None,
        stage=", ".join(dict.fromkeys(part.stage for part in parts if part.stage)),
        unmeasured=sum(part.total is None and not part.final for part in parts) if settled else 0,
        lost=sum((part.total or 0) - part.done for part in ended),
        final=final,
    )


def progress_of(job: Backup | Restore | Verification, transfers: Iterable[Transfer]) -> ByteProgress:
    """How far a backup, a restore or a verification is. `transfers` are all of its own, also of earlier attempts."""
    final, settled = job.status.phase.final, job.status.progress is not None
    if not isinstance(job, Backup):
        return job_progress(transfers, final=final, settled=settled)
    attempt = str(job.status.attempt)
    current = [one for one in transfers if one.metadata.labels.get(ATTEMPT_LABEL, attempt) == attempt]
    begun = {f"{one.spec.volume_namespace}/{one.spec.volume_name}" for one in current}
    waiting = [
        block.expected_sizes.get(volume)
        for block in job.status.blocks
        for volume in block.volumes
        if volume not in begun and volume not in job.status.gone_volumes
    ]
    return job_progress(current, waiting, final=final, settled=settled)


def with_bytes(job: J, transfers: Iterable[Transfer]) -> J:
    """The job with how far it is, as it is stored."""
    return job.with_status(bytes=JobBytes.of(progress_of(job, transfers)).at_rest())


def with_bytes_at_end(job: J) -> J:
    """The job, which is over, with what its last step told."""
    told = job.status.bytes
    return job if told is None else job.with_status(bytes=told.at_end())

"""What becomes of verifications: whose turn it is, whether there is room, and what its downloads prove.

One at a time: each wants room for a whole backup, and what is proven an hour later is proven as well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tidegate.decide.jobs.rollup import roll_up
from tidegate.decide.transfers.held_up import transfers_held_up
from tidegate.decide.volumes.selection import check_restorable
from tidegate.errors import Refused
from tidegate.model.backups.backup import Backup
from tidegate.model.backups.verification_record import VerificationRecord
from tidegate.model.job_progress import with_bytes, with_bytes_at_end
from tidegate.model.reasons import Reason
from tidegate.model.transfers.transfer import Transfer, TransferPhase
from tidegate.model.verification.verification import Verification, VerificationPhase, VerificationProgress

# What cannot be removed for so long is left to a person; the verdict is known and must be told.
CLEAN_UP_DEADLINE = timedelta(minutes=10)


@dataclass(frozen=True)
class Turn:
    """Who begins now, if anybody, and what the others wait for."""

    start: str | None
    wait: tuple[tuple[str, str], ...]
    """Names and messages, in the order of their turns."""


def whose_turn(verifications: Iterable[Verification]) -> Turn:
    """The first that was asked for, once nobody is under way. One that is being deleted never begins."""
    found = list(verifications)
    running = next((one.name for one in found if one.status.phase.under_way), None)
    line = sorted((one for one in found if _waits(one)), key=_asked)
    start = line[0].name if line and running is None else None
    ahead = running or start
    rest = [one for one in line if one.name != start]
    return Turn(start, tuple((one.name, f"verification {ahead} comes first") for one in rest))


def check_verifiable(backup: Backup) -> Backup:
    """The backup, if it can be restored as it is; raises Refused with a sentence."""
    if backup.deleting:
        raise Refused(f"backup {backup.name} is being deleted; it cannot be verified any more")
    check_restorable(backup, to_be="verified")
    return backup


def room_needed(uploads: Iterable[Transfer]) -> int:
    """Bytes that the volumes take at most: holes of images, which take nothing, count too."""
    return sum(upload.status.result.size for upload in uploads if upload.status.result)


def room_problem(needed: int, free: int) -> str | None:
    """Why it must not begin, if so."""
    if needed <= free:
        return None
    return (
        f"there is no room to restore it: it needs {needed} bytes and {free} are free; make room, or name another "
        "place with: tidegate setting set verification-scratch-directory"
    )


def after_look(verification: Verification, downloads: Sequence[Transfer], *, now: datetime) -> Verification:
    """How it stands, from how its downloads do: still on its way, to be checked, or to be cleaned up with a verdict."""
    rollup = roll_up(downloads)
    sizes = [d.status.result.size for d in downloads if d.status.phase is TransferPhase.COMPLETED and d.status.result]
    verification = verification.with_status(
        progress=VerificationProgress(total_items=rollup.total, items_verified=rollup.done, bytes_verified=sum(sizes)),
        errors=rollup.failed + rollup.cancelled,
        warnings=rollup.warnings,
    )
    verification = with_bytes(verification, downloads)
    if not rollup.finished:
        return _held_up(verification, downloads, now=now)
    verification = verification.replace(status=verification.status.no_longer_waiting())
    if verification.spec.cancel:
        return ends_as(verification, VerificationPhase.CANCELED, "cancelled on request", now=now)
    if rollup.done < rollup.total:
        return ends_as(verification, VerificationPhase.FAILED, rollup.first_failure or _STOPPED, now=now)
    if verification.spec.check is not None:
        return verification.with_status(phase=VerificationPhase.CHECKING)
    return ends_as(verification, VerificationPhase.COMPLETED, None, now=now)


def _held_up(verification: Verification, downloads: Sequence[Transfer], *, now: datetime) -> Verification:
    held = transfers_held_up(downloads)
    if held is None:
        return verification.replace(status=verification.status.no_longer_waiting())
    return verification.replace(status=verification.status.waiting(held.reason, held.message, since=now))


_STOPPED = "a volume was not restored to its end"


def ends_as(verification: Verification, outcome: VerificationPhase, why: str | None, *, now: datetime) -> Verification:
    """The verdict is stored before its scratch place is touched: after a crash only the cleaning up is repeated."""
    return verification.with_status(
        phase=VerificationPhase.CLEANING_UP, outcome=outcome, failure_reason=why, clean_up_since=now
    )


def cleaned_up(verification: Verification, *, left_over: str | None, now: datetime) -> Verification:
    """The end. What could not be removed is told, and changes no verdict."""
    status = verification.status
    warnings = status.warnings + (1 if left_over else 0)
    why = "; ".join(filter(None, (status.failure_reason, left_over))) or None
    ended = status.replace(
        phase=status.outcome or VerificationPhase.FAILED,
        warnings=warnings,
        failure_reason=why,
        scratch=status.scratch if left_over else None,
        completion_timestamp=now,
    )
    return with_bytes_at_end(verification.replace(status=ended.no_longer_waiting()))


def clean_up_is_over(verification: Verification, *, now: datetime) -> bool:
    """Whether it was tried for long enough."""
    since = verification.status.clean_up_since
    return since is not None and now - since >= CLEAN_UP_DEADLINE


def recorded(
    record: VerificationRecord | None, verification: Verification, *, now: datetime
) -> VerificationRecord | None:
    """What the backup tells from now on. A verification that was called off has proven nothing."""
    status = verification.status
    if status.outcome is VerificationPhase.COMPLETED and status.progress is not None:
        check = verification.spec.check
        return VerificationRecord(
            verified_at=now,
            verified_by=verification.name,
            volumes=status.progress.items_verified,
            bytes=status.progress.bytes_verified,
            checked_with=check.command[0] if check else None,
        )
    if status.outcome is VerificationPhase.FAILED and status.progress is not None:
        base = record or VerificationRecord()
        return base.replace(failed_at=now, failed_by=verification.name, failure=status.failure_reason)
    return record


def is_recorded(record: VerificationRecord | None, verification: Verification) -> bool:
    """Whether the backup has heard of this one. A namesake of earlier times does not count."""
    began = verification.status.start_timestamp
    if record is None or began is None:
        return False
    told = ((record.verified_by, record.verified_at), (record.failed_by, record.failed_at))
    return any(name == verification.name and at is not None and at >= began for name, at in told)


def waiting(verification: Verification, message: str, *, now: datetime) -> Verification:
    """It is not its turn."""
    status = verification.status.waiting(Reason.CONCURRENCY_LIMIT, message, since=now)
    return verification.replace(status=status)


def _waits(verification: Verification) -> bool:
    return verification.status.phase is VerificationPhase.NEW and not verification.deleting


def _asked(verification: Verification) -> tuple[datetime, str]:
    return verification.metadata.creation_timestamp or datetime.max.replace(tzinfo=UTC), verification.name

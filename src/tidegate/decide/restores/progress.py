"""How a restore stands, from how its downloads do."""

from collections.abc import Sequence
from datetime import datetime

from tidegate.decide.jobs.rollup import Rollup, roll_up
from tidegate.decide.transfers.held_up import transfers_held_up
from tidegate.model.job_progress import with_bytes
from tidegate.model.restores.restore import Restore, RestorePhase, RestoreProgress
from tidegate.model.transfers.transfer import Transfer


def refused(restore: Restore, why: tuple[str, ...], *, now: datetime) -> Restore:
    """It cannot be carried out as it is."""
    status = restore.status.no_longer_waiting()
    return restore.replace(
        status=status.replace(phase=RestorePhase.FAILED_VALIDATION, validation_errors=why, completion_timestamp=now)
    )


def after_look(restore: Restore, downloads: Sequence[Transfer], *, now: datetime) -> Restore:
    """The restore with its counts, why nothing of it moves, and its end once all downloads have theirs."""
    rollup = roll_up(downloads)
    total = max(rollup.total, restore.status.progress.total_items if restore.status.progress else 0)
    restore = restore.with_status(
        progress=RestoreProgress(total_items=total, items_restored=rollup.done),
        errors=rollup.failed + rollup.cancelled,
        warnings=rollup.warnings,
    )
    if not rollup.finished:
        return with_bytes(_waiting(restore, downloads, now=now), downloads)
    phase, why = _outcome(restore, rollup)
    status = restore.status.no_longer_waiting()
    status = status.replace(phase=phase, failure_reason=why, completion_timestamp=now)
    return with_bytes(restore.replace(status=status), downloads)


def _outcome(restore: Restore, rollup: Rollup) -> tuple[RestorePhase, str | None]:
    total = restore.status.progress.total_items if restore.status.progress else 0
    if restore.spec.cancel and (rollup.done < total or not total):
        # Also if some are done: whoever called it off must not read that it partly failed.
        return RestorePhase.CANCELED, f"cancelled on request; {rollup.done} of {total} volumes were brought back"
    return RestorePhase(rollup.outcome), rollup.first_failure


def _waiting(restore: Restore, downloads: Sequence[Transfer], *, now: datetime) -> Restore:
    held = transfers_held_up(downloads)
    if held is None:
        return restore.replace(status=restore.status.no_longer_waiting())
    # As its next volume was told. With many that wait its words are seldom renewed; the API tells both afresh.
    return restore.replace(status=restore.status.waiting(held.reason, held.message, since=now))

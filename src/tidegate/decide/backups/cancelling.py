"""How long a cancelled backup waits for its transfers, and what is said of those that do not stop."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tidegate.model.backups.backup import Backup
from tidegate.model.transfers.transfer import Transfer

# A mover that does not stop is killed after seconds; this is for what even that does not end.
CANCEL_DEADLINE = timedelta(minutes=5)
_MOST_NAMED = 5


def called_off_at(backup: Backup) -> datetime | None:
    """When the backup was first told to stop, by cancelling or by deleting it: deleting gives it no more time."""
    moments = (backup.status.cancel_requested_at, backup.metadata.deletion_timestamp)
    return min((moment for moment in moments if moment is not None), default=None)


def time_left_to_stop(requested_at: datetime | None, now: datetime) -> timedelta | None:
    """Until what was called off no longer waits for its transfers; zero once it is over, None if it was not."""
    if requested_at is None:
        return None
    return max(requested_at + CANCEL_DEADLINE - now, timedelta())


def did_not_stop(transfers: Sequence[Transfer]) -> str:
    """The sentence for a backup that ended without them."""
    stopped = [t for t in transfers if t.status.phase.final]
    moving = sorted(f"{t.spec.volume_namespace}/{t.spec.volume_name}" for t in transfers if not t.status.phase.final)
    more = f" and {len(moving) - _MOST_NAMED} more" if len(moving) > _MOST_NAMED else ""
    minutes = int(CANCEL_DEADLINE.total_seconds() // 60)
    return (
        f"cancelled on request; {len(stopped)} of {len(transfers)} transfers had ended after {minutes} minutes, "
        f"these had not: {', '.join(moving[:_MOST_NAMED])}{more}"
    )

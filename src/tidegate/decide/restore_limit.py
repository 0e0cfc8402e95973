"""How many more volume restores may begin now."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tidegate.model.reasons import Reason

RESTORE_PRIORITY_LABEL = "longhorn.io/backup-restore-priority"
IN_PROGRESS = "in-progress"
# What the label said before `in-progress`: a download that must begin anew keeps its place.
ASKED_ANNOTATION = "tidegate.dev/restore-asked"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def asked_label(when: datetime, nth: int) -> str:
    """The label of the `nth` download of a restore that was asked for at `when`: lower goes first."""
    return str((when - _EPOCH) // _MICROSECOND * 1_000 + nth)


@dataclass(frozen=True)
class RestoreSlots:
    """What is left, and what to tell those that get none."""

    free: int
    reason: Reason
    message: str


def restore_slots(*, restoring: int, limit: int) -> RestoreSlots:
    """At most `limit` at a time; 0 pauses all restores, and that is another reason than a full house."""
    if limit == 0:
        return RestoreSlots(0, Reason.RESTORES_DISABLED, "restores are paused: concurrent-backup-restore-limit is 0")
    message = f"{restoring} of {limit} volume restores are running (concurrent-backup-restore-limit)"
    return RestoreSlots(max(0, limit - restoring), Reason.RESTORE_LIMIT, message)

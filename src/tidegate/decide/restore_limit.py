"""How many more volume restores may begin now."""

from dataclasses import dataclass

from tidegate.model.reasons import Reason


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

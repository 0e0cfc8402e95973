"""How long a transfer may stay in each phase, and what is said when it stayed too long.

| phase | at most |
|---|---|
| New | no time of its own: it waits for what is ahead, and each of those has an end |
| New, told to wait for the volume's lock | spec.timeout |
| Accepted | `data-mover-prepare-timeout` |
| Prepared, told to wait for its node's load | as New |
| Prepared, told any other reason | spec.timeout |
| Prepared, told nothing | `data-mover-prepare-timeout` |
| InProgress | spec.timeout, and three times `data-mover-stall-timeout` without a word of its mover |
| Canceling | one hour, then it ends with what is known |
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tidegate.model.duration import format_duration
from tidegate.model.reasons import Reason
from tidegate.model.transfers.transfer import Transfer

PROGRESS_EVERY = timedelta(seconds=1)
"""How often progress is written at most; a transfer that is quicker is written when it ends."""
LOOK_AGAIN = timedelta(seconds=5)
STALLS_BEFORE_STOP = 3
LOCK_AGAIN = timedelta(seconds=15)
"""How long a transfer waits before it tries again to get the volume's lock."""
CANCEL_GRACE = timedelta(hours=1)


@dataclass(frozen=True)
class TransferLimits:
    """What an operator allows."""

    prepare: timedelta
    stall: timedelta


@dataclass(frozen=True)
class Overdue:
    """From `at` on it is too late, with this sentence. Without one it is only looked at again."""

    at: datetime
    message: str


def accepted_overdue(transfer: Transfer, limits: TransferLimits) -> Overdue:
    """Preparing has a time of its own: it begins when the prepare queue lets the transfer in."""
    since = transfer.status.accepted_timestamp or _created(transfer)
    return Overdue(
        since + limits.prepare,
        f"its mover was not ready {format_duration(limits.prepare)} after it was accepted (data-mover-prepare-timeout)",
    )


def prepared_overdue(transfer: Transfer, limits: TransferLimits, *, now: datetime) -> Overdue:
    """Who waits behind others at a busy node is not to blame for it, however long they take (velero#8316, #9453)."""
    since = transfer.status.prepared_timestamp or transfer.status.accepted_timestamp or _created(transfer)
    waiting = transfer.status.condition("Waiting")
    if waiting is None:
        message = f"it was ready, but nobody let it move for {format_duration(limits.prepare)}"
        return Overdue(since + limits.prepare, f"{message} (data-mover-prepare-timeout)")
    if waiting.reason == Reason.NODE_LOAD:
        return Overdue(now + limits.prepare, "")
    since = max(since, waiting.last_transition_time or since)
    timeout = transfer.spec.timeout
    return Overdue(
        since + timeout, f"it was ready, but waited longer than {format_duration(timeout)}: {waiting.message}"
    )


def stall_message(stage: str, since: datetime, limits: TransferLimits) -> str:
    """What a transfer is told that has made no progress since then."""
    words = f" ({stage})" if stage else ""
    end = since + STALLS_BEFORE_STOP * limits.stall
    return (
        f"no progress{words} since {since:%Y-%m-%d %H:%M:%S} UTC; it is stopped at {end:%H:%M:%S} "
        "(data-mover-stall-timeout)"
    )


def _created(transfer: Transfer) -> datetime:
    created = transfer.metadata.creation_timestamp
    assert created is not None  # noqa: S101  # the store gives every resource one
    return created

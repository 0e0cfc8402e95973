"""What is known of the mover of a transfer, for whoever decides what happens next."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from tidegate.model.transfers.mover_job import ErrorReport, ResultReport
from tidegate.model.transfers.transfer_progress import TransferProgress


class MoverState(StrEnum):
    """How far a mover is."""

    STARTING = "starting"
    READY = "ready"
    MOVING = "moving"
    ENDED = "ended"


@dataclass(frozen=True)
class KnownMover:
    """What is known of a transfer's mover."""

    state: MoverState
    heard_at: datetime
    """When it last said anything, or was let go."""
    progress: TransferProgress | None = None
    last_words: ResultReport | ErrorReport | None = None
    from_snapshot: bool = False
    """It said that it reads a snapshot."""
    clears: bool = False
    """It only removes what a dead mover may have left."""

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401  # whatever the fields are
        """A copy with `changes`."""
        return replace(self, **changes)

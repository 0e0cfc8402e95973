"""What can be due next for a transfer, as `steps.py` decides it and the controller does it."""

from dataclasses import dataclass
from datetime import datetime

from tidegate.model.transfers.transfer import TransferPhase
from tidegate.model.transfers.transfer_progress import TransferProgress, TransferResult


@dataclass(frozen=True)
class StartMover:
    """Start a mover that opens what it needs and then waits."""


@dataclass(frozen=True)
class MarkPrepared:
    """Its mover is ready."""

    from_snapshot: bool = False
    """It reads a snapshot, so what is written to the volume from now on does not matter."""


@dataclass(frozen=True)
class LetGo:
    """Its gate let it through: bytes may move."""


@dataclass(frozen=True)
class Note:
    """Write down how far it is, and whether it is stalled (the sentence; empty: it is not)."""

    progress: TransferProgress | None
    stalled: str


@dataclass(frozen=True)
class BeginStop:
    """Go to Canceling, and ask the mover to stop."""

    why: str


@dataclass(frozen=True)
class StopMover:
    """Ask the mover to stop, again if need be, and look at `again`; the phase stays, because nothing was moved."""

    again: datetime


@dataclass(frozen=True)
class ClearLeftovers:
    """There is no mover any more: remove what one may have left unfinished in the store."""


@dataclass(frozen=True)
class ForgetMover:
    """What it ended with may go better next time; look at `again`."""

    again: datetime


@dataclass(frozen=True)
class BeginAnew:
    """Its store is not there any more, or another one is: back to New, to wait for it. Doing it twice is harmless."""

    why: str


@dataclass(frozen=True)
class WaitForLock:
    """Another client has the volume's lock: back to New, without slot or place, until `until`."""

    why: str
    until: datetime


@dataclass(frozen=True)
class TryAgain:
    """It may go through the gates again."""


@dataclass(frozen=True)
class End:
    """It is over."""

    phase: TransferPhase
    message: str = ""
    error_code: str | None = None
    result: TransferResult | None = None


@dataclass(frozen=True)
class Wait:
    """Nothing to do before `until`; without it, before something changes."""

    until: datetime | None = None


Step = (
    StartMover
    | MarkPrepared
    | LetGo
    | Note
    | BeginStop
    | StopMover
    | ClearLeftovers
    | ForgetMover
    | BeginAnew
    | WaitForLock
    | TryAgain
    | End
    | Wait
)

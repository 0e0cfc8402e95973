"""What a mover that was killed left where it restored to, in words: nobody else would tell where the room went."""

from typing import assert_never

from tidegate.model.transfers.mover_job import MOVER_DIED, ErrorReport
from tidegate.model.transfers.transfer import Transfer, TransferPhase
from tidegate.model.volumes.volume_ref import Claim, Device, Directory, Image

_MOVED = frozenset({TransferPhase.IN_PROGRESS, TransferPhase.CANCELING})


def left_behind(transfer: Transfer, words: ErrorReport) -> str:
    """A sentence, or nothing: a mover that ends by itself clears up, and what an upload left is in the store."""
    if words.code != MOVER_DIED or transfer.direction == "upload" or transfer.status.phase not in _MOVED:
        return ""
    match transfer.spec.ref:
        case Device(path):
            return f"{path} is half written"
        case Directory(path) | Image(path):
            folder, _, name = path.rpartition("/")
            left = f"{folder}/.{name}.tidegate-*"
            return f"what it had written may be left in {left}; the next restore to {path} removes it"
        case Claim() | None:  # what is left of a claim that was being filled goes with it
            return ""
        case other:
            assert_never(other)

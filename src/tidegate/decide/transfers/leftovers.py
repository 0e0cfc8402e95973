"""What a mover that was killed left where it restored to, in words: nobody else would tell where the room went."""

from tidegate.model.transfers.mover_job import MOVER_DIED, ErrorReport
from tidegate.model.transfers.transfer import Transfer, TransferPhase
from tidegate.model.volumes.volume_kind import VolumeKind

_MOVED = frozenset({TransferPhase.IN_PROGRESS, TransferPhase.CANCELING})


def left_behind(transfer: Transfer, words: ErrorReport) -> str:
    """A sentence, or nothing: a mover that ends by itself clears up, and what an upload left is in the store."""
    path = transfer.spec.path
    if words.code != MOVER_DIED or transfer.direction == "upload" or transfer.status.phase not in _MOVED or not path:
        return ""
    if transfer.spec.volume_kind is VolumeKind.DEVICE:
        return f"{path} is half written"
    folder, _, name = path.rpartition("/")
    return f"what it had written may be left in {folder}/.{name}.tidegate-*; the next restore to {path} removes it"

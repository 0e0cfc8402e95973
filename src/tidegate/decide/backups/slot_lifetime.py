"""How long a backup keeps its slot and its namespaces, and a block its worker: as long as live data is read.

A file tree is always read live. So is an image or a device, unless a snapshot of it is read: what is written to it
meanwhile does not matter, so the upload may go on while the next backup begins. A snapshot exists once the upload is
prepared.
"""

from collections.abc import Iterable

from tidegate.model.transfers.transfer import DataUpload, Transfer, TransferPhase

_SNAPSHOT_TAKEN = frozenset({TransferPhase.PREPARED, TransferPhase.IN_PROGRESS, TransferPhase.CANCELING})


def needs_live_data(upload: Transfer) -> bool:
    """Whether the application's data must still be left alone for this upload."""
    phase = upload.status.phase
    if phase.final:
        return False
    from_snapshot = isinstance(upload, DataUpload) and upload.status.from_snapshot
    return not (from_snapshot and phase in _SNAPSHOT_TAKEN)


def may_leave_slot(uploads: Iterable[Transfer]) -> bool:
    """Whether a backup with these uploads may go on to WaitingForPluginOperations."""
    return not any(needs_live_data(upload) for upload in uploads)

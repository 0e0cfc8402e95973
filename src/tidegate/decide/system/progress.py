"""How far a system backup or a system restore is in bytes: what its transfers say, and last known sizes until then."""

from collections.abc import Iterable, Mapping

from tidegate.model.backups.backup import Backup
from tidegate.model.backups.byte_progress import JobBytes
from tidegate.model.job_progress import job_progress
from tidegate.model.restores.restore import Restore
from tidegate.model.system.system import SystemBackupVolume, VolumeDecision, VolumeOutcome
from tidegate.model.system.system_restore import RestoredVolume, RestoredVolumeState
from tidegate.model.transfers.transfer import RESTORE_LABEL, Transfer


def bytes_backed_up(
    rows: Iterable[SystemBackupVolume],
    backups: Mapping[str, Backup],
    uploads: Mapping[tuple[str, str], Transfer],
    sizes: Mapping[str, int | None],
) -> JobBytes | None:
    """Of the volumes that a system backup backs up; None if there are none.

    `uploads` are by the uid of the Backup and NAMESPACE/NAME, `sizes` by NAMESPACE/NAME as they were last known.
    """
    begun, waiting = [], []
    for row in rows:
        if row.decision is not VolumeDecision.CREATED:
            continue
        backup = backups.get(row.backup or "")
        upload = None if backup is None else uploads.get((backup.metadata.uid, row.volume))
        if upload is not None:
            begun.append(upload)
        elif row.state is not VolumeOutcome.FAILED:
            waiting.append(sizes.get(row.volume))
    return JobBytes.of(job_progress(begun, waiting)) if begun or waiting else None


def bytes_restored(
    rows: Iterable[RestoredVolume], restores: Mapping[str, Restore], downloads: Iterable[Transfer]
) -> JobBytes | None:
    """Of the volumes whose data a system restore brings back; None if there are none."""
    by_restore = {one.metadata.labels.get(RESTORE_LABEL, ""): one for one in downloads}
    begun, waiting = [], 0
    for row in rows:
        restore = restores.get(row.restore or "")
        download = None if restore is None else by_restore.get(restore.metadata.uid)
        if download is not None:
            begun.append(download)
        elif row.state in {RestoredVolumeState.WAITING, RestoredVolumeState.IN_PROGRESS}:
            waiting += 1
    return JobBytes.of(job_progress(begun, [None] * waiting)) if begun or waiting else None

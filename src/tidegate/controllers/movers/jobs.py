"""What a mover is told for a transfer: pure translation."""

from dataclasses import dataclass

from tidegate.model.transfers.mover_job import DownloadJob, MovingJob, RemoveJob, TargetAccess, UploadJob
from tidegate.model.transfers.transfer import VERIFICATION_LABEL, Transfer, TransferSpec
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.model.volumes.volume_ref import volume_fields


@dataclass(frozen=True)
class MoverMeans:
    """What a mover may use. None: no limit."""

    memory_bytes: int | None = None
    upload_bytes_per_second: int | None = None
    download_bytes_per_second: int | None = None
    keep_out: tuple[KeptPlace, ...] = ()
    """The server's data directory and the stores: only verifications restore to a place in one."""


def moving_job(transfer: Transfer, target: TargetAccess, means: MoverMeans) -> UploadJob | DownloadJob:
    """Move the volume's data, in the transfer's direction."""
    spec, common = transfer.spec, vars(_common(transfer.spec, target, means))
    if transfer.direction == "download":
        return DownloadJob(
            **common,
            existing_data=spec.existing_data,
            includes=spec.includes,
            force=spec.force,
            read_back=spec.read_back,
            keep_out=() if VERIFICATION_LABEL in transfer.metadata.labels else means.keep_out,
        )
    # What is backed up is the state of now or later: a snapshot is taken when the mover prepares, which it does next.
    started = transfer.status.accepted_timestamp or transfer.status.start_timestamp
    assert started is not None  # noqa: S101  # the gate that lets a transfer in writes the time with it
    return UploadJob(
        **common,
        labels=_store_labels(transfer),
        snapshot_name=transfer.name,
        started_at=started,
        excludes=spec.excludes,
    )


def _common(spec: TransferSpec, target: TargetAccess, means: MoverMeans) -> MovingJob:
    assert spec.ref is not None  # noqa: S101  # what goes nowhere is refused before it gets a mover
    return MovingJob(
        target=target,
        store_volume=spec.store_volume,
        store_backup=spec.store_backup,
        **volume_fields(spec.ref),
        memory_bytes=means.memory_bytes,
        upload_bytes_per_second=means.upload_bytes_per_second,
        download_bytes_per_second=means.download_bytes_per_second,
    )


def clearing_job(transfer: Transfer, target: TargetAccess) -> RemoveJob:
    """Remove what a dead upload may have left unfinished; never a finished backup."""
    spec = transfer.spec
    return RemoveJob(
        target=target, store_volume=spec.store_volume, store_backups=(spec.store_backup,), only_unfinished=True
    )


def _store_labels(transfer: Transfer) -> dict[str, str]:
    """By these people find a backup again after a disaster, when nobody remembers ids (longhorn#1539)."""
    definition = {"tidegate.dev/volume-definition": transfer.spec.definition} if transfer.spec.definition else {}
    owners = {f"tidegate.dev/{owner.kind.lower()}": owner.name for owner in transfer.metadata.owner_references}
    return {
        "tidegate.dev/namespace": transfer.spec.volume_namespace,
        "tidegate.dev/volume": transfer.spec.volume_name,
        **definition,
        **owners,
    }

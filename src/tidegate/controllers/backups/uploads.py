"""The uploads that a backup makes: pure, and always under the same names, so that making one twice is harmless."""

from collections.abc import Mapping
from hashlib import sha256

from tidegate.controllers.transfers import transfer as transfers
from tidegate.format.cfgs.paths import store_backup_name, store_volume_name
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Metadata
from tidegate.model.stores.deletion import STORE_VOLUME_LABEL, store_volume_mark
from tidegate.model.transfers.transfer import (
    ATTEMPT_LABEL,
    BACKUP_LABEL,
    VOLUME_LABEL,
    DataUpload,
    PodVolumeBackup,
    Refusal,
    Transfer,
    TransferSpec,
)
from tidegate.model.volumes.volume import Volume

# What another server needs to know the volume by: no annotations, which are nobody's business in a store.
_DEFINITION: Mapping[str, set[str] | bool] = {
    "api_version": True,
    "kind": True,
    "metadata": {"name", "namespace", "labels"},
    "spec": True,
}


def upload_for(backup: Backup, volume: Volume) -> Transfer:
    """The upload of one volume for one backup."""
    kind = PodVolumeBackup if volume.spec.ref.kind.is_tree else DataUpload
    attempt = str(backup.status.attempt)
    store_volume = store_volume_name(volume.namespace, volume.name)
    identity = f"{backup.metadata.uid}/{volume.namespace}/{volume.name}"
    if backup.status.attempt:  # what an interruption ended keeps its name
        identity = f"{identity}/{attempt}"
    return kind(
        metadata=Metadata(
            name=f"{backup.name[:200]}-{sha256(identity.encode()).hexdigest()[:10]}",
            labels={
                BACKUP_LABEL: backup.metadata.uid,
                VOLUME_LABEL: volume.metadata.uid,
                ATTEMPT_LABEL: attempt,
                STORE_VOLUME_LABEL: store_volume_mark(backup.spec.storage_location, store_volume),
            },
            owner_references=(backup.as_owner(),),
            finalizers=(transfers.FINALIZER,),
        ),
        spec=TransferSpec.of(
            volume,
            target=backup.spec.storage_location,
            store_volume=store_volume,
            store_backup=store_backup_name(identity),
        ).replace(
            excludes=volume.spec.excludes,
            expected_size=volume.status.size,
            definition=volume.model_dump_json(include=_DEFINITION, exclude_none=True),
            timeout=backup.spec.item_operation_timeout,
        ),
    )


def refused_upload(backup: Backup, volume: Volume, why: str) -> Transfer:
    """The upload that a failed hook did not let happen: never moved, but seen and counted like any that failed."""
    return upload_for(backup, volume).with_spec(refused=Refusal(message=why, error_code="HookFailed"))

"""What one volume backup in a store says of itself: which volume it is, what kind, and where it was.

The labels were written by whoever can write to the store. So names are taken over only if they are names, and a place
only if it is one; what is not is as if it were not there.
"""

from tidegate.model.names import check_name, check_namespace
from tidegate.model.restores.restore_plan import StoredBackup
from tidegate.model.transfers.transfer import TransferSpec
from tidegate.model.volumes.volume import Volume
from tidegate.model.volumes.volume_kind import VolumeKind

DEFINITION_LABEL = "tidegate.dev/volume-definition"
_NAMESPACE_LABEL = "tidegate.dev/namespace"
_VOLUME_LABEL = "tidegate.dev/volume"


def source_of(stored: StoredBackup, *, target: str, store_volume: str, store_backup: str) -> TransferSpec:
    """What a download reads. A volume that Longhorn wrote has no namespace, no place, and is an image."""
    definition = _definition(stored)
    if definition is not None:
        known = TransferSpec.of(definition, target=target, store_volume=store_volume, store_backup=store_backup)
        return known.replace(expected_size=stored.size, definition=stored.labels.get(DEFINITION_LABEL, ""))
    namespace, name = _names(stored)
    return TransferSpec(
        volume_namespace=namespace,
        volume_name=name or store_volume,
        volume_kind=VolumeKind.DIRECTORY if stored.is_tree else VolumeKind.IMAGE,
        path="",
        target=target,
        store_volume=store_volume,
        store_backup=store_backup,
        expected_size=stored.size,
    )


def _definition(stored: StoredBackup) -> Volume | None:
    text = stored.labels.get(DEFINITION_LABEL)
    if not text:
        return None
    try:
        volume = Volume.model_validate_json(text)
        check_namespace(volume.namespace)
    except ValueError:
        return None
    fits = stored.is_tree == (volume.spec.ref.kind.is_tree)
    return volume if fits else None


def _names(stored: StoredBackup) -> tuple[str, str]:
    namespace, name = stored.labels.get(_NAMESPACE_LABEL, ""), stored.labels.get(_VOLUME_LABEL, "")
    try:
        return check_namespace(namespace), check_name(name)
    except ValueError:
        return "", ""

"""Which volumes a request is about."""

from collections.abc import Iterable

from tidegate.decide.overlap import selects
from tidegate.model.backup import BackupSpec
from tidegate.model.labels import Selector
from tidegate.model.restore import RestoreSpec
from tidegate.model.transfer import Transfer, TransferPhase
from tidegate.model.volume import Volume


def volumes_to_back_up(spec: BackupSpec, volumes: Iterable[Volume]) -> list[Volume]:
    """The volumes in the backup's namespaces that its selectors pick, in a stable order."""
    wanted = [
        volume
        for volume in volumes
        if not volume.deleting
        and selects(volume.namespace, included=spec.included_namespaces, excluded=spec.excluded_namespaces)
        and _labelled(spec, volume)
    ]
    return sorted(wanted, key=lambda volume: (volume.namespace, volume.name))


def _labelled(spec: BackupSpec, volume: Volume) -> bool:
    if not spec.label_choices:
        return True
    return any(Selector.matching(one.match_labels).holds_for(volume.metadata.labels) for one in spec.label_choices)


def uploads_to_restore(spec: RestoreSpec, uploads: Iterable[Transfer]) -> list[Transfer]:
    """The finished uploads of a backup that a restore wants back, in a stable order."""
    wanted = [
        upload
        for upload in uploads
        if upload.status.phase is TransferPhase.COMPLETED
        and selects(upload.spec.volume_namespace, included=spec.included_namespaces, excluded=spec.excluded_namespaces)
        and (not spec.included_volumes or _named(upload, spec.included_volumes))
    ]
    return sorted(wanted, key=lambda upload: (upload.spec.volume_namespace, upload.spec.volume_name))


def _named(upload: Transfer, names: tuple[str, ...]) -> bool:
    full = f"{upload.spec.volume_namespace}/{upload.spec.volume_name}"
    return full in names or upload.spec.volume_name in names

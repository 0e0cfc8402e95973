"""The downloads that a restore makes: pure, and always under the same names, so that making one twice is harmless."""

from hashlib import sha256

from tidegate.controllers.transfers import transfer as transfers
from tidegate.decide.restores.places import Placement
from tidegate.decide.transfers.restore_limit import ASKED_ANNOTATION, RESTORE_PRIORITY_LABEL, asked_label
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import Restore
from tidegate.model.stores.deletion import STORE_VOLUME_LABEL, store_volume_mark
from tidegate.model.transfers.transfer import (
    RESTORE_LABEL,
    DataDownload,
    PodVolumeRestore,
    Refusal,
    Transfer,
    TransferSpec,
)


def download_for(restore: Restore, placement: Placement, nth: int) -> Transfer:
    """The download of one volume, the `nth` of its restore; one with a problem is refused."""
    kind = PodVolumeRestore if placement.kind.is_tree else DataDownload
    source = placement.source
    identity = f"{restore.metadata.uid}/{source.volume_namespace}/{source.volume_name}"
    metadata = Metadata(
        name=f"{restore.name[:200]}-{sha256(identity.encode()).hexdigest()[:10]}",
        labels={
            RESTORE_LABEL: restore.metadata.uid,
            STORE_VOLUME_LABEL: store_volume_mark(source.target, source.store_volume),
        },
        owner_references=(restore.as_owner(),),
        finalizers=(transfers.FINALIZER,),
    )
    spec = _spec(restore, placement)
    if placement.problem:
        refused = Refusal(message=placement.problem, error_code="DestinationUnusable")
        return kind(metadata=metadata, spec=spec.replace(refused=refused))
    asked_at = restore.metadata.creation_timestamp
    assert asked_at is not None  # noqa: S101  # it is stored
    asked = asked_label(asked_at, nth)
    metadata = metadata.replace(
        labels={**metadata.labels, RESTORE_PRIORITY_LABEL: asked}, annotations={ASKED_ANNOTATION: asked}
    )
    return kind(metadata=metadata, spec=spec)


def _spec(restore: Restore, placement: Placement) -> TransferSpec:
    wanted = restore.spec
    chosen = wanted.included_paths if placement.kind.is_tree else ()
    return placement.source.at(placement.to).replace(
        volume_namespace=placement.namespace,
        node=placement.node,
        existing_data=wanted.existing_data,
        # Globs are about a tree; an image in the same backup comes back as a whole.
        includes=chosen,
        excludes=(),
        # How much a few paths are is known only once they are here.
        expected_size=None if chosen else placement.source.expected_size,
        force=wanted.force,
        timeout=wanted.item_operation_timeout,
        cancel=False,
    )

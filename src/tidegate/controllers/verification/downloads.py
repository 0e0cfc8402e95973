"""The downloads that a verification makes: pure, always under the same names, so making one twice is harmless."""

from hashlib import sha256

from tidegate.controllers.transfers import transfer as transfers
from tidegate.decide.transfers.restore_limit import ASKED_ANNOTATION, RESTORE_PRIORITY_LABEL, asked_label
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.resource import Metadata
from tidegate.model.transfers.transfer import VERIFICATION_LABEL, DataDownload, PodVolumeRestore, Transfer, TransferSpec
from tidegate.model.verification.verification import Verification
from tidegate.model.volumes.volume_ref import copy_at


def proving_download(verification: Verification, source: TransferSpec, nth: int) -> Transfer:
    """The download of one volume, the `nth`, into the scratch place; it takes its turn with all other restores."""
    identity = f"{verification.metadata.uid}/{source.volume_namespace}/{source.volume_name}"
    asked_at = verification.metadata.creation_timestamp
    assert asked_at is not None  # noqa: S101  # it is stored
    asked = asked_label(asked_at, nth)
    metadata = Metadata(
        name=f"{verification.name[:200]}-{sha256(identity.encode()).hexdigest()[:10]}",
        labels={VERIFICATION_LABEL: verification.metadata.uid, RESTORE_PRIORITY_LABEL: asked},
        annotations={ASKED_ANNOTATION: asked},
        owner_references=(verification.as_owner(),),
        finalizers=(transfers.FINALIZER,),
    )
    kind = PodVolumeRestore if source.volume_kind.is_tree else DataDownload
    return kind(metadata=metadata, spec=_spec(verification, source))


def _spec(verification: Verification, source: TransferSpec) -> TransferSpec:
    assert verification.status.scratch is not None  # noqa: S101  # stored before the first download is made
    path = f"{verification.status.scratch}/{source.volume_namespace}/{source.volume_name}"
    return source.at(copy_at(path, source.volume_kind)).replace(
        # A server that died may have left there what it had restored; it is ours alone.
        existing_data=ExistingData.OVERWRITE,
        read_back=True,
        includes=(),
        excludes=(),
        force=False,
        timeout=verification.spec.item_operation_timeout,
        cancel=False,
    )

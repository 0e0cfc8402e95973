"""Namespaces and the volumes in them: what there is to protect."""

from datetime import datetime
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from tidegate.model.names import check_name, check_namespace
from tidegate.model.resource import Resource, Spec, Status
from tidegate.model.volumes.protection import ProtectionState, VolumeProtection
from tidegate.model.volumes.volume_kind import VolumeKind as VolumeKind  # noqa: PLC0414  # many know it from here
from tidegate.model.volumes.volume_ref import Claim, VolumeRef, volume_ref


class NamespaceSpec(Spec):
    """Nothing yet: a namespace is its name and its labels."""


class NamespaceStatus(Status):
    """Derived when it is shown, never stored."""

    protection: dict[ProtectionState, int] | None = None
    """How many of its volumes are in each state that any of them is in."""


class Namespace(Resource):
    """A group of volumes that belong to one application; what overlap is judged by."""

    plural: ClassVar[str] = "namespaces"

    kind: Literal["Namespace"] = "Namespace"
    spec: NamespaceSpec = Field(default_factory=NamespaceSpec)
    status: NamespaceStatus = Field(default_factory=NamespaceStatus)


class VolumeSpec(Spec):
    """Exactly one of directory, image and device, which are absolute paths on the node, and claim."""

    directory: str | None = None
    image: str | None = None
    device: str | None = None
    claim: str | None = None
    """NAMESPACE/NAME of a PersistentVolumeClaim: on a Kubernetes cluster only."""
    node: str | None = None
    """Where the path is. Absent: the node that the server runs on."""
    excludes: tuple[str, ...] = ()
    """Globs of paths below the directory that backups leave out: `*.tmp` at any depth, `cache/**` from the top."""

    @model_validator(mode="after")
    def _exactly_one_source(self) -> Self:
        if len(self._given) != 1:
            raise ValueError("give exactly one of directory, image, device and claim")
        ref = self.ref
        if isinstance(ref, Claim):
            check_namespace(ref.namespace)
            check_name(ref.name)
        # A relative path would mean another thing to the server than to the person who typed it.
        elif not ref.path.startswith("/") or "\0" in ref.path:
            raise ValueError(f"{ref.kind} must be an absolute path, not {ref.path!r}")
        if self.excludes and not ref.kind.is_tree:
            raise ValueError(f"excludes are for a directory; an {ref.kind} is backed up as a whole")
        return self

    @property
    def _given(self) -> dict[VolumeKind, str]:
        return {kind: address for kind in VolumeKind if (address := getattr(self, kind)) is not None}

    @property
    def ref(self) -> VolumeRef:
        """Where the volume is."""
        ((kind, address),) = self._given.items()
        return volume_ref(kind, address)


class VolumeStatus(Status):
    """What backups know of the volume."""

    last_backup: str | None = None
    """Name of the newest Backup that completed for this volume.

    Absent beside a `lastBackupUrl`: a store holds a backup that this server has no record of.
    """
    last_backup_at: datetime | None = None
    last_backup_url: str | None = None
    """Where the newest backup of this volume is in its store; Longhorn understands it too. Absent: there is none."""
    size: int | None = None
    """Bytes at that time."""
    last_failed_backup: str | None = None
    """Name of the Backup that failed for this volume, or left something of it out, after the last good one."""
    last_failed_at: datetime | None = None
    last_failure: str | None = None
    """Why."""
    last_backup_doubt: str | None = None
    """Why the newest backup cannot be relied on: its store holds it no longer, or it did not restore."""
    protection: VolumeProtection | None = None
    """Derived when it is shown, never stored: it changes with the time."""


class Volume(Resource):
    """The unit of protection."""

    plural: ClassVar[str] = "volumes"
    namespaced: ClassVar[bool] = True

    kind: Literal["Volume"] = "Volume"
    spec: VolumeSpec
    status: VolumeStatus = Field(default_factory=VolumeStatus)

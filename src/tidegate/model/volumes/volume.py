"""Namespaces and the volumes in them: what there is to protect."""

from datetime import datetime
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from tidegate.model.resource import Resource, Spec, Status
from tidegate.model.volumes.protection import ProtectionState, VolumeProtection
from tidegate.model.volumes.volume_kind import VolumeKind as VolumeKind  # noqa: PLC0414  # many know it from here


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
    """Exactly one of directory, image and device: an absolute path on the node."""

    directory: str | None = None
    image: str | None = None
    device: str | None = None
    node: str | None = None
    """Where the path is. Absent: the node that the server runs on."""
    excludes: tuple[str, ...] = ()
    """Globs of paths below the directory that backups leave out: `*.tmp` at any depth, `cache/**` from the top."""

    @model_validator(mode="after")
    def _exactly_one_source(self) -> Self:
        given = {kind: path for kind in VolumeKind if (path := getattr(self, kind)) is not None}
        if len(given) != 1:
            raise ValueError("give exactly one of directory, image and device")
        ((kind, path),) = given.items()
        # A relative path would mean another thing to the server than to the person who typed it.
        if not path.startswith("/") or "\0" in path:
            raise ValueError(f"{kind} must be an absolute path, not {path!r}")
        if self.excludes and kind != VolumeKind.DIRECTORY:
            raise ValueError(f"excludes are for a directory; an {kind} is backed up as a whole")
        return self

    @property
    def source_kind(self) -> VolumeKind:
        """Which of the three it is."""
        return next(kind for kind in VolumeKind if getattr(self, kind) is not None)

    @property
    def path(self) -> str:
        """The path, whichever kind it is."""
        return str(getattr(self, self.source_kind))


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

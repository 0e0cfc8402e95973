"""Where a volume is: in a directory, an image file or a device of one machine, or in a claim of a Kubernetes cluster.

Specs, transfers and the jobs of movers store it as two fields, a kind and an address. `volume_ref` reads them and
`volume_fields` writes them; everything else works on the sum and matches it exhaustively.
"""

from dataclasses import dataclass
from typing import ClassVar, TypedDict, assert_never

from tidegate.model.volumes.volume_kind import VolumeKind


@dataclass(frozen=True)
class Directory:
    """A file tree on a machine."""

    kind: ClassVar = VolumeKind.DIRECTORY
    path: str

    @property
    def address(self) -> str:
        """The path."""
        return self.path


@dataclass(frozen=True)
class Image:
    """A disk image in a file on a machine."""

    kind: ClassVar = VolumeKind.IMAGE
    path: str

    @property
    def address(self) -> str:
        """The path."""
        return self.path


@dataclass(frozen=True)
class Device:
    """A block device of a machine."""

    kind: ClassVar = VolumeKind.DEVICE
    path: str

    @property
    def address(self) -> str:
        """The path."""
        return self.path


@dataclass(frozen=True)
class Claim:
    """A PersistentVolumeClaim of a Kubernetes cluster."""

    kind: ClassVar = VolumeKind.CLAIM
    namespace: str
    name: str

    @property
    def address(self) -> str:
        """`NAMESPACE/NAME`."""
        return f"{self.namespace}/{self.name}"

    @property
    def not_here(self) -> str:
        """Why one machine alone can neither read it nor write to it."""
        return f"claim {self.address} exists on a Kubernetes cluster only; name a directory, an image or a device"


LocalVolume = Directory | Image | Device
VolumeRef = LocalVolume | Claim


class VolumeFields(TypedDict):
    """How a transfer and the job of a mover store where a volume is."""

    volume_kind: VolumeKind
    path: str


def volume_fields(ref: VolumeRef) -> VolumeFields:
    """Return the stored form."""
    return {"volume_kind": ref.kind, "path": ref.address}


def volume_ref(kind: VolumeKind, address: str) -> VolumeRef:
    """Return the volume of a stored form; raise ValueError for a claim that is not NAMESPACE/NAME."""
    match kind:
        case VolumeKind.DIRECTORY:
            return Directory(address)
        case VolumeKind.IMAGE:
            return Image(address)
        case VolumeKind.DEVICE:
            return Device(address)
        case VolumeKind.CLAIM:
            return _claim(address)
        case _:
            assert_never(kind)


def copy_at(path: str, kind: VolumeKind) -> Directory | Image:
    """Return what holds a copy of a volume of this kind: of a device a file, as no device is at a place made for it."""
    return Directory(path) if kind.is_tree else Image(path)


def _claim(address: str) -> Claim:
    namespace, separator, name = address.partition("/")
    if not separator:
        raise ValueError(f"claim must be NAMESPACE/NAME, not {address!r}")
    return Claim(namespace, name)

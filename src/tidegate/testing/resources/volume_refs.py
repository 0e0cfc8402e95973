"""One volume of each kind, for tests that prove that none is forgotten."""

from tidegate.model.volumes.volume import Volume, VolumeSpec
from tidegate.model.volumes.volume_ref import Claim, Device, Directory, Image, VolumeRef
from tidegate.testing.resources.builders import a_volume

ONE_OF_EACH: tuple[VolumeRef, ...] = (
    Directory("/srv/files"),
    Image("/srv/disk.img"),
    Device("/dev/sdz"),
    Claim("shop", "data"),
)


def a_volume_at(ref: VolumeRef, namespace: str = "shop", name: str = "db") -> Volume:
    """A volume that is there."""
    return a_volume(namespace, name).replace(spec=VolumeSpec.model_validate({ref.kind: ref.address}))

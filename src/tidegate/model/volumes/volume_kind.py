"""The word by which the kind of a volume is stored and shown."""

from enum import StrEnum
from typing import assert_never


class VolumeKind(StrEnum):
    """Where the bytes of a volume live; one for each member of `VolumeRef`."""

    DIRECTORY = "directory"
    IMAGE = "image"
    DEVICE = "device"
    CLAIM = "claim"

    @property
    def is_tree(self) -> bool:
        """Whether it holds files; else it is one run of bytes."""
        match self:
            # A claim is mounted as a file system unless it asks for something else.
            case VolumeKind.DIRECTORY | VolumeKind.CLAIM:
                return True
            case VolumeKind.IMAGE | VolumeKind.DEVICE:
                return False
            case _:
                assert_never(self)

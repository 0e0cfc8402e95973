"""What a volume is made of."""

from enum import StrEnum


class VolumeKind(StrEnum):
    """Where the bytes of a volume live on one machine."""

    DIRECTORY = "directory"
    IMAGE = "image"
    DEVICE = "device"

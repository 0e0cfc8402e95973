"""How safe a volume is: one word, and the sentence that says why."""

from enum import StrEnum

from tidegate.model.frozen import Model


class ProtectionState(StrEnum):
    """From safe to lost, in the words that every surface shows."""

    PROTECTED = "Protected"
    """There is a good backup, young enough for each schedule that covers the volume."""
    NO_SCHEDULE = "NoSchedule"
    """There is a good backup, and nothing that makes the next one."""
    FAILED_LAST = "FailedLast"
    """There is a good backup, young enough, and the one after it failed or left something out; or it proved bad."""
    LATE = "Late"
    """There is a good backup, older than a schedule that covers the volume allows."""
    NEVER = "Never"
    """There is no good backup."""


class VolumeProtection(Model):
    """What is known of one volume at the moment at which it is asked for."""

    state: ProtectionState
    message: str
    schedules: tuple[str, ...] = ()
    """Those that cover it and make backups."""


class ProtectedVolume(VolumeProtection):
    """The same, with the volume that it is about."""

    volume: str
    """NAMESPACE/NAME."""


class Protection(Model):
    """All volumes, by name."""

    counts: dict[ProtectionState, int]
    """How many volumes are in each state; states without any are there too."""
    volumes: tuple[ProtectedVolume, ...]

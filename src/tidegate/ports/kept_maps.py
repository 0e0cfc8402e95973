"""What a machine remembers of its own uploads, so that a volume nobody wrote to need not be read again."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class KeptMap:
    """A volume that gave `proof` (VolumeSource.proof) held exactly what this backup holds."""

    backup: str
    created_time: str
    """As in the backup's cfg: a backup that was removed and made anew under the same name is another one."""
    proof: str


class KeptMaps(Protocol):
    """A memory that may be lost at any time and is never needed: whoever finds nothing reads everything."""

    def find(self, target: str, volume: str) -> KeptMap | None:
        """What was kept last for this volume in this store; None if nothing, or nothing whole. Never raises."""
        ...

    def keep(self, target: str, volume: str, kept: KeptMap) -> None:
        """Remember it instead of what was kept before. Best effort; never raises."""
        ...

"""Looks at volumes and at the places that volumes are restored to."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.model.restores.restore_plan import Place
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.model.volumes.volume_ref import VolumeRef


class VolumeProbe(Protocol):
    """Answers what is there now, so that a mistake shows when it is made, not in a log later. It changes nothing."""

    async def measure(self, volume: VolumeRef) -> int:
        """Return the bytes that the volume has now; raise SourceUnreadable if it cannot be backed up."""
        ...

    async def look_at(self, volume: VolumeRef, *, keep_out: Sequence[KeptPlace] = ()) -> Place:
        """Return what is there now. Never raise: what cannot be seen is unreadable.

        The server's data directory, and `keep_out` beside it, is in the way of what touches it. A volume that cannot be
        on this platform says so as what is in its way.
        """
        ...

    async def users_of(self, volumes: Sequence[VolumeRef]) -> Mapping[VolumeRef, str]:
        """Return who has something there open now, as far as the system shows it. Never raise."""
        ...

    async def changed_since(self, volume: VolumeRef, moment: datetime) -> bool:
        """Return whether the volume may have changed since: True also if that cannot be seen, or not in time."""
        ...

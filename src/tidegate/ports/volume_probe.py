"""Looks at volumes and at the places that volumes are restored to."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.model.restores.restore_plan import Place
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.model.volumes.volume import VolumeSpec


class VolumeProbe(Protocol):
    """Answers what is there now, so that a mistake shows when it is made, not in a log later. It changes nothing."""

    async def measure(self, volume: VolumeSpec) -> int:
        """Return the bytes that the volume has now; raise SourceUnreadable if it cannot be backed up."""
        ...

    async def look_at(self, path: str, *, keep_out: Sequence[KeptPlace] = ()) -> Place:
        """Return what is there now. Never raise: what cannot be seen is unreadable.

        The server's data directory, and `keep_out` beside it, is in the way of what touches it.
        """
        ...

    async def users_of(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return who has something there open now, by path, as far as the system shows it. Never raise."""
        ...

    async def changed_since(self, volume: VolumeSpec, moment: datetime) -> bool:
        """Return whether the volume may have changed since: True also if that cannot be seen, or not in time."""
        ...

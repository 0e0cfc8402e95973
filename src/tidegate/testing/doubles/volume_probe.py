"""Volumes that are there, in use or changed, as the test says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tidegate.errors import SourceUnreadable
from tidegate.model.restores.restore_plan import Place, PlaceState
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.model.volumes.volume import VolumeSpec
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.volumes.kept_places import touched

_STATES = {
    VolumeKind.DIRECTORY: {PlaceState.EMPTY, PlaceState.DIRECTORY},
    VolumeKind.IMAGE: {PlaceState.FILE},
    VolumeKind.DEVICE: {PlaceState.DEVICE},
}


@dataclass
class FakeVolumeProbe:
    """Keeps the promise of VolumeProbe without a disk: every volume is there, and every place is free to restore to."""

    missing: set[str] = field(default_factory=set)
    """Paths of volumes that are not there."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes by path; others have 4096."""
    places: dict[str, Place] = field(default_factory=dict)
    """What a look at these paths finds."""
    users: dict[str, str] = field(default_factory=dict)
    """Who uses what, by path."""
    changed: dict[str, datetime] = field(default_factory=dict)
    """When the volumes at these paths were last written to; others never were."""

    async def measure(self, volume: VolumeSpec) -> int:
        """See VolumeProbe."""
        if volume.path in self.missing:
            raise SourceUnreadable(f"{volume.path} does not exist")
        place = self.places.get(volume.path)
        if place is not None and place.state not in _STATES[volume.source_kind]:
            raise SourceUnreadable(f"{volume.path} is not of kind {volume.source_kind}")
        return self.sizes.get(volume.path, 4096)

    async def look_at(self, path: str, *, keep_out: Sequence[KeptPlace] = ()) -> Place:
        """See VolumeProbe."""
        kept = touched(path, keep_out)
        place = self.places.get(path, Place())
        return place.replace(in_the_way=f"it {kept.sentence}") if kept else place

    async def users_of(self, paths: Sequence[str]) -> Mapping[str, str]:
        """See VolumeProbe."""
        return {path: self.users[path] for path in paths if path in self.users}

    async def changed_since(self, volume: VolumeSpec, moment: datetime) -> bool:
        """See VolumeProbe."""
        if volume.source_kind is VolumeKind.DEVICE or volume.path in self.missing:
            return True
        last = self.changed.get(volume.path)
        return last is not None and last >= moment
